import { describe, expect, test } from "vitest";
import { keys } from "../../../../fixtures/protocol/samples.ts";
import {
  createDrainKey,
  createGroupKey,
  createHostKey,
  createKeyValue,
  createSnapshot,
  NOW,
} from "../../../../fixtures/state/sample-snapshots.ts";
import { findStaleHosts, judgeHosts } from "../../../../src/cli/views/checks/hosts.ts";
import type { KeyValue } from "../../../../src/core/protocol/txn.ts";

const HOUR = 3_600_000;

/** Parses groups and hosts, such as `g has a.x b.x, a.x seen 60s ago, host b.x drained`. */
const parseSite = (text: string) =>
  text
    .split(", ")
    .filter(Boolean)
    .map((part) => {
      const [, group, members] = /^(\S+) has ?(.*)$/.exec(part) ?? [];
      if (group !== undefined) return createGroupKey(group, ...(members ?? "").split(" ").filter(Boolean));
      const [, host, seconds] = /^(\S+) seen (\d+)s ago$/.exec(part) ?? [];
      if (host !== undefined) return createHostKey(host, { seenAt: NOW - Number(seconds) * 1_000 });
      const [, scope, name = ""] = /^(group|host) (\S+) drained$/.exec(part) ?? [];
      if (scope === undefined) throw new Error(`neither group, host nor drain: ${part}`);
      return createDrainKey(scope as "group" | "host", name);
    });

const sight = (kvs: readonly KeyValue[], running: string[] = []) => ({
  snapshot: createSnapshot(kvs),
  running: new Set(running),
  within: HOUR,
  wall: NOW,
});
const told = (kvs: readonly KeyValue[], running: string[] = [], wanted: string[] = []) =>
  judgeHosts(sight(kvs, running), wanted).map(({ check, level, detail }) => `${level} ${check}: ${detail}`);

describe("groups and their hosts", () => {
  const ACTIVE = "ok group g: 1 of 1 host is active";
  test.each([
    ["nothing is configured", "", [], ["ok groups: none configured"]],
    ["seen lately", "g has a.x, a.x seen 60s ago", [], [ACTIVE]],
    ["seen as lately as hosts say that they are there", "g has a.x, a.x seen 3899s ago", [], [ACTIVE]],
    [
      "not lately",
      "g has a.x, a.x seen 7200s ago",
      [],
      ["failure group g: none of its 1 host was seen within 1h: a.x (2h ago)"],
    ],
    ["not lately, but a run of it lives", "g has A.x, a.x seen 7200s ago", ["a.x"], [ACTIVE]],
    ["never, but a run of it lives", "g has a.x", ["a.x"], [ACTIVE]],
    [
      "one of two",
      "g has a.x b.x, a.x seen 0s ago, b.x seen 18000s ago",
      [],
      ["ok group g: 1 of 2 hosts is active", "warning group g: not seen within 1h: b.x (5h ago)"],
    ],
    [
      "a short name",
      "g has a b.x, a.x seen 0s ago, b.x seen 0s ago",
      [],
      [
        "ok group g: 1 of 2 hosts is active",
        'warning group g: neither a group nor a host that was ever seen: a (did you mean "a.x"?)',
      ],
    ],
    [
      "through a group",
      "g has h, h has a.x, a.x seen 0s ago",
      [],
      [ACTIVE, "ok group h: 1 of 1 host is active"],
    ],
    ["empty", "g has", [], ["failure group g: it has no hosts: nothing can run in it"]],
    [
      "all that are there are drained",
      "g has a.x b.x, a.x seen 0s ago, b.x seen 18000s ago, group g drained",
      [],
      ["warning group g: 1 of 2 hosts is active, and all of them are drained: nothing starts"],
    ],
    [
      "a drained one may be away",
      "g has a.x b.x, a.x seen 0s ago, b.x seen 18000s ago, host b.x drained",
      [],
      ["ok group g: 1 of 2 hosts is active"],
    ],
    [
      "a circle",
      "g has h a.x, h has g, a.x seen 0s ago",
      [],
      [
        ACTIVE,
        "ok group h: 1 of 1 host is active",
        expect.stringMatching(/^hint groups: groups contain each other in a circle/),
      ],
    ],
  ])("%s", (_, site, running, found) => {
    expect(told(parseSite(site), running)).toEqual(found);
  });

  test("one that is malformed", () => {
    expect(told([createKeyValue(keys.group("g"), "{")])).toEqual([
      expect.stringMatching(/^failure group g: it cannot be read/),
    ]);
  });

  test("only those that are asked for, also ones that are not there", () => {
    const kvs = parseSite("g has a.x, h has, a.x seen 0s ago");
    expect(told(kvs, [], ["g"])).toEqual([ACTIVE]);
    expect(told(kvs, [], ["k"])).toEqual([expect.stringMatching(/^failure group k: there is no group "k"/)]);
  });

  test("runs are looked for only of hosts that were not seen in time", () => {
    const kvs = parseSite("g has A.x b.x, h has c.x, b.x seen 0s ago");
    expect([...findStaleHosts(sight(kvs), [])].sort()).toEqual(["a.x", "c.x"]);
    expect([...findStaleHosts(sight(kvs), ["g", "nope"])]).toEqual(["a.x"]);
  });
});

test("the groups are read as often for many groups as for one", () => {
  const countReadings = (names: readonly string[]) => {
    const whole = sight(
      names.flatMap((name) => [createGroupKey(name, "a.x"), createHostKey("a.x", { seenAt: NOW })]),
    );
    const groups = whole.snapshot.groups;
    let readings = 0;
    const counted = Object.assign(new Map(groups), {
      [Symbol.iterator]: () => {
        readings += 1;
        return groups.entries();
      },
    });
    expect(judgeHosts({ ...whole, snapshot: { ...whole.snapshot, groups: counted } }, [])).toHaveLength(
      names.length,
    );
    return readings;
  };
  expect(countReadings(["g", "h", "i"])).toBe(countReadings(["g"]));
});
