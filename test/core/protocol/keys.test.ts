import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytes, keys, meaning, runId, toKey, usableName } from "../../../fixtures/protocol/samples.ts";
import { generateRunId } from "../../../src/core/base/ids.ts";
import { isInRange } from "../../../src/core/etcd/memory/memory-store-core.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";

const RUN = "0123456789abcdef";

describe("a key", () => {
  test.each([
    [keys.lock("a/b", RUN), `/signalbox/locks/a%2Fb/${RUN}`],
    [keys.resource("web1.example.com_cpu", RUN), `/signalbox/resources/web1.example.com_cpu/${RUN}`],
    [keys.resourceConfig("db"), "/signalbox/config/resources/db"],
    [keys.group("web"), "/signalbox/config/groups/web"],
    [keys.calendar("de/holidays"), "/signalbox/config/calendars/de%2Fholidays"],
    [keys.drain("host", "web1.example.com"), "/signalbox/drains/host/web1.example.com"],
    [keys.drain("all", "all"), "/signalbox/drains/all/all"],
    [keys.host("web1.example.com"), "/signalbox/hosts/web1.example.com"],
    [keys.history("a b"), "/signalbox/history/a%20b"],
    [keys.audit("0001"), "/signalbox/audit/0001"],
  ])("%s is where the protocol has it", (key, expected) => {
    expect(key).toBe(expected);
  });

  test("means what it was built from", () => {
    fc.assert(
      fc.property(meaning, (what) => {
        expect(keys.parse(toKey(what))).toEqual(what);
      }),
      { numRuns: 500 },
    );
  });

  test("of a schedule on a host names both, also if the host looks like an instant", () => {
    for (const [name, host] of [
      ["a/b", "web1.example.com"],
      ["a", "1234"],
      ["1234", "ä/%2F"],
    ] as const) {
      expect(keys.parse(keys.due(name, host))).toEqual({ kind: "due", name, host });
      expect(keys.parse(keys.outcomes(name, host))).toEqual({ kind: "outcomes", name, host });
      const running = { kind: "running", name, host, scheduled: 5 };
      expect(keys.parse(keys.runningOnHost(name, host, 5))).toEqual(running);
    }
    expect(keys.parse(keys.running("a", 1234))).toEqual({ kind: "running", name: "a", scheduled: 1234 });
    for (const key of [
      "due/a/",
      "due/a/b/c",
      "outcomes/a//",
      "running/a/b/",
      "running/a/b/x",
      "running/a/b/1/2",
    ])
      expect(keys.parse(keys.prefix + key), key).toEqual({ kind: "unknown" });
  });

  test("all of a schedule are in its ranges, and those of no other schedule", () => {
    const isOwn = (key: string) => keys.listScheduleRanges("a").some((range) => isInRange(key, range));
    const build = (id: string) => [
      keys.schedule(id),
      keys.due(id),
      keys.due(id, "h"),
      keys.outcomes(id),
      keys.outcomes(id, "h"),
      keys.running(id),
      keys.running(id, 5),
      keys.runningOnHost(id, "h", 5),
    ];
    expect(build("a").filter((key) => !isOwn(key))).toEqual([]);
    for (const other of ["a-b", "a.b", "a0", "A", "b", "a b"]) expect(build(other).filter(isOwn)).toEqual([]);
  });

  test("of a run has the id that runs give themselves", () => {
    const run = generateRunId({
      generateBytes: (n) => Uint8Array.from({ length: n }, (_, i) => 37 * i),
      generateFraction: () => 0,
    });
    expect(keys.parse(keys.lock("a", run))).toEqual({ kind: "lock", name: "a", run });
  });

  test("means something only as we would write it, and parsing never throws", () => {
    const folders = [
      "locks",
      "resources",
      "config/resources",
      "config/groups",
      "config/calendars",
      "drains",
      "hosts",
      "history",
      "audit",
    ];
    const piece = fc.constantFrom(
      ...folders,
      "/",
      "/",
      "a",
      "%2F",
      "%2f",
      "lock",
      "all",
      "cell",
      RUN,
      "",
      "\0",
      "ÿ",
    );
    const key = fc.oneof(
      bytes,
      bytes.map((path) => `/signalbox/${path}`),
      fc.array(piece, { maxLength: 7 }).map((pieces) => `/signalbox/${pieces.join("")}`),
    );
    fc.assert(
      fc.property(key, (text) => {
        const what = keys.parse(text);
        if (what.kind !== "unknown") expect(toKey(what)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ["", "nothing"],
    ["/signalbox/", "the prefix alone"],
    ["/signalbox", "half the prefix"],
    [`signalbox/locks/a/${RUN}`, "another prefix"],
    [`/signalbox2/locks/a/${RUN}`, "a longer prefix"],
    ["/signalbox/locks/a", "no run"],
    ["/signalbox/locks/a/", "an empty run"],
    ["/signalbox/locks/a/0123456789A", "a run in capitals"],
    ["/signalbox/locks/a/0123456789a", "a short run"],
    [`/signalbox/locks/a/${RUN}-1`, "more than a run"],
    [`/signalbox/locks/a/${RUN.repeat(3)}`, "a long run"],
    [`/signalbox/locks/a/${RUN}/`, "something behind the run"],
    [`/signalbox/locks/a/b/${RUN}`, "a name of two segments"],
    [`/signalbox/locks//${RUN}`, "an empty name"],
    [`/signalbox/locks/a%2fb/${RUN}`, "a name that we would write otherwise"],
    [`/signalbox/lock/a/${RUN}`, "no room of ours"],
    ["/signalbox/config/resources/", "configuration of nothing"],
    ["/signalbox/config/a", "configuration of no kind"],
    ["/signalbox/drains/cell/a", "a scope that is none"],
    ["/signalbox/drains/host/", "a drain of nothing"],
    ["/signalbox/drains/host/a/b", "a drain of two segments"],
    ["/signalbox/hosts/a/b", "a host of two segments"],
  ])("%j is unknown: %s", (key) => {
    expect(keys.parse(key)).toEqual({ kind: "unknown" });
  });
});

describe("ranges", () => {
  /** Names that begin alike, or sort beside a slash. */
  const alike = fc.constantFrom(
    "a",
    "a/",
    "a.b",
    "a/b",
    "a0",
    "a-",
    "a%",
    "a%2F",
    "a ",
    "A",
    "aa",
    "a:",
    "é",
    "a\u00e9",
  );
  const ticket = fc.record({
    kind: fc.constantFrom("lock" as const, "resource" as const),
    name: fc.oneof(alike, usableName),
    run: runId,
  });

  test("the range of a queue holds its tickets and nothing else", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(ticket, ticket, meaning)), ticket, (all, { kind, name }) => {
        const range = keys.getQueueRange(kind, name);
        const within = all.filter((what) => isInRange(toKey(what), range));
        expect(within).toEqual(all.filter((what) => what.kind === kind && what.name === name));
      }),
      { numRuns: 500 },
    );
  });

  test("a key is in a queue exactly when it is in that queue's range, also if it was put by hand", () => {
    const piece = fc.constantFrom(
      "locks/",
      "resources/",
      "a",
      "a.b",
      "%2F",
      "%2f",
      "/",
      "/",
      "by-hand",
      "\n",
      RUN,
    );
    const key = fc.array(piece, { maxLength: 6 }).map((pieces) => `/signalbox/${pieces.join("")}`);
    fc.assert(
      fc.property(fc.oneof(key, meaning.map(toKey), bytes), fc.oneof(alike, usableName), (text, other) => {
        const at = keys.parseQueueKey(text);
        if (at !== undefined) expect(isInRange(text, keys.getQueueRange(at.kind, at.name))).toBe(true);
        for (const name of ["a", "a.b", "/", "a/", other])
          for (const kind of ["lock", "resource"] as const)
            if (isInRange(text, keys.getQueueRange(kind, name))) expect(at).toEqual({ kind, name });
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ["locks", ["lock"]],
    ["resources", ["resource"]],
    ["resourceConfigs", ["resourceConfig"]],
    ["groups", ["group"]],
    ["calendars", ["calendar"]],
    ["schemas", ["schema"]],
    ["drains", ["drain"]],
    ["hosts", ["host", "agentSession", "agentReport"]],
  ] as const)("the range of all %s holds every one, and nothing else", (range, kinds) => {
    fc.assert(
      fc.property(fc.array(meaning), (all) => {
        const within = all.filter((what) => isInRange(toKey(what), keys[range]()));
        expect(within).toEqual(all.filter(({ kind }) => kinds.some((one) => one === kind)));
      }),
    );
  });

  test("everything means all keys under the prefix, and none of a similar prefix", () => {
    const others = [
      "/",
      "/s/",
      "/signal/",
      "/signalbux/",
      "/signalbox-2/",
      "/signalbox0/",
      "/signalboxes/",
    ].map(createKeys);
    fc.assert(
      fc.property(meaning, usableName, runId, (what, name, run) => {
        expect(isInRange(toKey(what), keys.getFullRange())).toBe(true);
        for (const other of others) {
          const key = other.lock(name, run);
          expect(isInRange(key, keys.getFullRange())).toBe(false);
          expect(keys.parse(key)).toEqual({ kind: "unknown" });
          expect(keys.parseQueueKey(key)).toBeUndefined();
        }
      }),
    );
  });
});
