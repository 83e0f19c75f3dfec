/** Changes of a site: guarded transactions apply what was shown, or nothing. */
import { describe, expect } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import { parseGroupMembers, parseGroupSource } from "../../../src/core/fleet/groups.ts";
import { parseResourceConfig } from "../../../src/core/fleet/resources.ts";
import { parseAuditRecord } from "../../../src/core/protocol/audit.ts";
import { type Definition, parseDefinition } from "../../../src/schedule/definition.ts";
import { MAX_CHANGES, readAuditSince } from "../../../src/site/operate/operator-action.ts";
import {
  applySite,
  formatOwnedCounts,
  formatSiteCounts,
  listDeletedOfOthers,
  listKeptOfOthers,
  planSite,
  type SiteChanges,
  type SitePlan,
  type SiteTerms,
  type SiteUpdate,
} from "../../../src/site/operate/site.ts";
import { readAllStoredSchedules } from "../../../src/site/operate/stored-schedules.ts";
import { type Fate, OperatorFixture, test } from "./operator-fixture.ts";

const groups = (members: Record<string, readonly string[] | undefined>): SiteChanges => ({
  groups: new Map(Object.entries(members).map(([name, list]) => [name, list && { members: list }])),
});
const manyGroups = (count: number, word = "g") =>
  groups(Object.fromEntries(Array.from({ length: count }, (_, index) => [`${word}${index}`, ["web1"]])));
const JOB: Definition = { cron: "0 3 * * *", timezone: "UTC", command: ["true"] };
const manyJobs = (count: number, more: Partial<Definition> = {}, word = "j"): SiteChanges => ({
  schedules: new Map(
    Array.from({ length: count }, (_, index) => [`${word}${index}`, { ...JOB, ...more }] as const),
  ),
});

function toStored<T extends object>(text: string, modRevision: bigint, parse: (text: string) => T) {
  const source = parseGroupSource(text);
  return { modRevision, ...parse(text), ...(source !== undefined && { source }) };
}

/** What an operator would change now. */
async function plan({ ports }: OperatorFixture, document: SiteChanges, terms: Partial<SiteTerms> = {}) {
  const { kvs, revision } = await ports.store.readRange({
    ...keys.groups(),
    rangeEnd: keys.resourceConfigs().rangeEnd,
  });
  const read = <T extends object>(kind: string, parse: (text: string) => T) =>
    new Map(
      kvs.flatMap(({ key, value, modRevision }) => {
        const parsed = keys.parse(key);
        return parsed.kind === kind
          ? [[(parsed as { name: string }).name, toStored(value, modRevision, parse)]]
          : [];
      }),
    );
  const stored = {
    ...(await readAllStoredSchedules(ports)),
    groups: read("group", parseGroupMembers),
    resources: read("resourceConfig", parseResourceConfig),
    revision,
  };
  return planSite(stored, document, { prunes: false, ...terms }, ports.clock.getWallTime());
}

/** What applies a document as it is shown now. */
async function prepare(
  operator: OperatorFixture,
  document: SiteChanges,
  terms: Partial<SiteTerms> = {},
): Promise<SiteUpdate> {
  return {
    action: "apply",
    target: "site",
    reason: undefined,
    shown: await plan(operator, document, terms),
    replan: () => plan(operator, document, terms),
    formatOutcome: () => "changed",
  };
}

async function does(operator: OperatorFixture, document: SiteChanges, terms: Partial<SiteTerms> = {}) {
  const end = await operator.advanceUntilSettled(
    applySite(operator.ports, await prepare(operator, document, terms)),
  );
  expect(end.kind).toBe("done");
}

async function readDefinitions({ store }: OperatorFixture): Promise<Map<string, Definition>> {
  const { kvs } = await store.readRange(keys.schedules());
  return new Map(
    kvs.flatMap(({ key, value }) => {
      const [parsed, definition] = [keys.parse(key), parseDefinition(value)];
      return parsed.kind === "schedule" && "value" in definition ? [[parsed.name, definition.value]] : [];
    }),
  );
}

describe("changes", () => {
  test.each<Fate[]>([["lost"], ["refused", "lost"], ["lost", "lost", "fine"]])(
    "are made once when answers are %s, %s, %s, also those of many",
    async (...fates) => {
      for (const count of [1, 200]) {
        const operator = new OperatorFixture();
        await does(operator, manyGroups(80, "before"));
        const update = await prepare(operator, manyGroups(count));
        operator.store.fates.push(...fates.filter(Boolean));
        expect((await operator.advanceUntilSettled(applySite(operator.ports, update))).kind).toBe("done");
        const { kvs } = await operator.store.readRange(keys.groups());
        expect(kvs).toHaveLength(80 + count);
        for (const { createRevision, modRevision } of kvs) expect(modRevision).toBe(createRevision);
        expect((await operator.store.readRange(keys.audits())).count).toBe(2);
      }
    },
  );

  test(`of the configuration are ${MAX_CHANGES} at most, in one transaction, and it holds them`, async ({
    operator,
  }) => {
    await does(operator, manyGroups(MAX_CHANGES));
    expect((await operator.store.readRange(keys.groups())).count).toBe(MAX_CHANGES);
    await expect(
      applySite(operator.ports, await prepare(operator, manyGroups(MAX_CHANGES + 1, "h"))),
    ).rejects.toThrow(/exceed the limits of one transaction.*in parts/);
    const heavy = await prepare(operator, groups({ web: ["x".repeat(1_500_000)] }));
    await expect(applySite(operator.ports, heavy)).rejects.toThrow(/1500\d{3} bytes exceed the limits/);
  });
});

describe("changes are refused", () => {
  const meddling: [what: string, meddle: (operator: OperatorFixture) => Promise<unknown>][] = [
    ["a group changed", (operator) => operator.put(keys.group("before1"), '["other"]')],
    ["a group was written again as it was", (operator) => operator.put(keys.group("before1"), '["web1"]')],
    ["a group came", (operator) => operator.put(keys.group("new"), "[]")],
    ["a resource came", (operator) => operator.put(keys.resourceConfig("new"), "1")],
    ["a group was deleted by somebody", (operator) => does(operator, groups({ before1: undefined }))],
  ];

  describe.each([10, 58, 61, 500])("of a configuration of %d", (count) => {
    test.each(meddling)("when %s", async (_, meddle) => {
      const operator = new OperatorFixture();
      await does(operator, manyGroups(count, "before"));
      const update = await prepare(operator, groups({ web: [] }));
      await meddle(operator);
      expect((await applySite(operator.ports, update)).kind).toBe("changed");
      expect((await operator.store.readRange({ key: keys.group("web") })).count).toBe(0);
    });
  });

  test("when a group was deleted by hand, where there are few", async ({ operator }) => {
    await does(operator, manyGroups(60, "before"));
    const update = await prepare(operator, groups({ web: [] }));
    await operator.delete(keys.group("before1"));
    expect((await applySite(operator.ports, update)).kind).toBe("changed");
  });

  test("of one group only when that group moved", async ({ operator }) => {
    await does(operator, groups({ web: [], db: [] }));
    const update = await prepare(operator, groups({ web: ["a"] }), { isSingle: true });
    await operator.put(keys.group("db"), '["other"]');
    expect((await applySite(operator.ports, update)).kind).toBe("done");
    expect((await applySite(operator.ports, update)).kind).toBe("changed");
  });

  test.each([
    ["changed", (operator: OperatorFixture) => does(operator, manyJobs(1, { note: "other" }))],
    [
      "written again as it was",
      (operator: OperatorFixture) => operator.put(keys.schedule("j0"), JSON.stringify(JOB)),
    ],
    ["deleted", (operator: OperatorFixture) => does(operator, { schedules: new Map([["j0", undefined]]) })],
  ])("of a schedule that was %s", async (_, meddle) => {
    const operator = new OperatorFixture();
    await does(operator, manyJobs(3));
    const update = await prepare(operator, manyJobs(3, { note: "mine" }));
    await meddle(operator);
    const before = await readDefinitions(operator);
    expect((await applySite(operator.ports, update)).kind).toBe("changed");
    expect(await readDefinitions(operator)).toEqual(before);
  });

  test("if something came that would be deleted and was not shown", async ({ operator }) => {
    const terms = { owner: "site:a", prunes: true };
    await does(operator, manyJobs(2), terms);
    const update = await prepare(operator, manyJobs(1), terms);
    await operator.put(keys.schedule("new"), JSON.stringify({ ...JOB, source: "site:a" }));
    expect((await applySite(operator.ports, update)).kind).toBe("done"); // its guards are on what was shown
    expect([...(await readDefinitions(operator)).keys()]).toEqual(["j0", "new"]);
    await does(operator, manyJobs(1), terms);
    expect([...(await readDefinitions(operator)).keys()]).toEqual(["j0"]);
  });

  test("not if workers have only moved states meanwhile", async ({ operator }) => {
    await does(operator, manyJobs(200));
    const update = await prepare(operator, manyJobs(200, { cron: "0 4 * * *" }));
    await operator.put(keys.due("j1"), JSON.stringify({ v: 1, next: 10, runAt: 10, open: [] }));
    expect((await operator.advanceUntilSettled(applySite(operator.ports, update))).kind).toBe("done");
    for (const { cron } of (await readDefinitions(operator)).values()) expect(cron).toBe("0 4 * * *");
  });
});

describe("a site that is too large for one transaction", () => {
  test("is applied in as few as possible, in any number of tries", async ({ operator }) => {
    const update = await prepare(operator, { ...manyJobs(2_500), ...groups({ web: ["a"] }) });
    const left: number[] = [];
    const stop = new AbortController();
    const interrupted = applySite(operator.ports, {
      ...update,
      signal: stop.signal,
      onPart: ({ schedules, config }) => {
        left.push(schedules.length + config.length);
        stop.abort(new Error("killed"));
      },
    });
    await expect(interrupted).rejects.toThrow("killed");
    expect(left).toEqual([701]); // 1 group and 1,799 schedules with 2 keys each
    const rest = await prepare(operator, { ...manyJobs(2_500), ...groups({ web: ["a"] }) });
    expect([rest.shown.config.length, rest.shown.schedules.length]).toEqual([0, 701]);
    expect((await applySite(operator.ports, rest)).kind).toBe("done");
    expect((await readDefinitions(operator)).size).toBe(2_500);
    expect((await operator.store.readRange(keys.audits())).count).toBe(2);
  });

  test("stops if the rest has changed", async ({ operator }) => {
    await does(operator, manyJobs(1, {}, "z"));
    const document = {
      schedules: new Map([...(manyJobs(2_500).schedules ?? []), ["z0", { ...JOB, note: "x" }] as const]),
    };
    const meddled: Promise<unknown>[] = [];
    const end = await applySite(operator.ports, {
      ...(await prepare(operator, document)),
      onPart: () =>
        meddled.push(operator.put(keys.schedule("z0"), JSON.stringify({ ...JOB, note: "other" }))),
    });
    expect(end.kind).toBe("changed");
    expect(meddled).toHaveLength(1);
    const definitions = await readDefinitions(operator);
    expect(definitions.get("z0")?.note).toBe("other");
    expect(definitions.size).toBe(1_801);
  });

  test("is applied in small parts where others write all the time", async ({ operator }) => {
    await does(operator, manyJobs(300));
    const update = await prepare(operator, manyJobs(300, { cron: "0 4 * * *" }));
    const { store } = operator;
    const commit = store.commitTxn.bind(store);
    let parts = 0;
    store.commitTxn = async (txn, signal) => {
      parts += 1;
      await commit({
        compare: [],
        success: [{ op: "put", key: keys.due("other"), value: "{}" }],
        failure: [],
      });
      return await commit(txn, signal);
    };
    expect((await operator.advanceUntilSettled(applySite(operator.ports, update))).kind).toBe("done");
    expect(parts).toBeGreaterThan(5);
    for (const { cron } of (await readDefinitions(operator)).values()) expect(cron).toBe("0 4 * * *");
  });

  test("has its chains whole in one part", async ({ operator }) => {
    const chain = new Map([
      ...(manyJobs(2_000).schedules ?? []),
      ["z1", { ...JOB, cron: "@manual", after: ["j1999"] }] as const,
      ["a0", { ...JOB, cron: "@manual", after: ["z1"] }] as const,
    ]);
    const update = await prepare(operator, { schedules: chain });
    const states: (string | undefined)[][] = [];
    const read = async () => {
      const found = await Promise.all(
        ["j1999", "z1", "a0"].map(
          async (id) => (await operator.store.readRange({ key: keys.due(id) })).kvs[0]?.value,
        ),
      );
      states.push(found.map((text) => text && JSON.parse(text).successors?.join()));
    };
    const reads: Promise<void>[] = [];
    await applySite(operator.ports, { ...update, onPart: () => reads.push(read()) });
    await Promise.all(reads);
    expect(states).toEqual([["z1", "a0", undefined]]);
  });
});

test("an edit that takes a pause away skips what the pause has prevented", async ({ operator }) => {
  const pause = { by: "ann", at: 0 };
  await does(operator, manyJobs(1, { pause }));
  const now = operator.ports.clock.getWallTime();
  await operator.put(keys.due("j0"), JSON.stringify({ v: 1, next: now - 10, runAt: now - 10, open: [] }));
  await does(operator, manyJobs(1));
  expect((await readDefinitions(operator)).get("j0")?.pause, "an apply keeps it").toEqual(pause);
  await does(operator, manyJobs(1), { prunes: true, isEdit: true });
  expect((await readDefinitions(operator)).get("j0")?.pause).toBeUndefined();
  const { kvs } = await operator.store.readRange({ key: keys.due("j0") });
  expect(JSON.parse(kvs[0]?.value ?? "").next).toBeGreaterThan(now);
});

describe("a schedule on every host", () => {
  const HOSTS = ["web1", "web2"];
  const everyHost = (count: number, more: Partial<Definition> = {}) =>
    manyJobs(count, { on: "every-host", ...more });

  /** Writes the state of a schedule on each host. @param next  the next occurrence there, ms since the epoch */
  async function putStates(operator: OperatorFixture, id: string, next: number) {
    for (const host of HOSTS)
      await operator.put(keys.due(id, host), JSON.stringify({ v: 1, next, runAt: next, open: [] }));
  }

  /** The next occurrences on the hosts, ISO 8601. */
  async function readNext({ store }: OperatorFixture, id: string) {
    const { kvs } = await store.readRange(keys.getHostStateRanges(id).dues);
    return kvs.map(({ value }) => new Date(JSON.parse(value).next).toISOString().slice(5, 16));
  }

  test("changes with the states of its hosts, also if the site needs several transactions", async ({
    operator,
  }) => {
    const count = MAX_CHANGES / 3;
    await does(operator, everyHost(count));
    const now = operator.ports.clock.getWallTime();
    const ids = Array.from({ length: count }, (_, index) => `j${index}`);
    for (const id of ids) await putStates(operator, id, now + 1_000);
    // One more, so that the limit of a transaction falls between a schedule and its hosts.
    const odd = manyJobs(1, {}, "a").schedules ?? [];
    const wanted = everyHost(count, { cron: "0 5 6 7 *" }).schedules ?? [];
    const update = await prepare(operator, { schedules: new Map([...odd, ...wanted]) });
    expect(update.shown.schedules).toHaveLength(1 + 3 * count);
    const parts: number[] = [];
    const onPart = ({ schedules }: SitePlan) => parts.push(schedules.length);
    await operator.advanceUntilSettled(applySite(operator.ports, { ...update, onPart }));
    expect(parts, "a schedule and its hosts go together").toEqual(parts.filter((left) => left % 3 === 0));
    expect(parts).not.toEqual([]);
    for (const id of ids) expect(await readNext(operator, id)).toEqual(["07-06T05:00", "07-06T05:00"]);
  });

  test("moves on its hosts with a calendar", async ({ operator }) => {
    const off = (days: string[]): SiteChanges => ({ calendars: new Map([["off", { days }]]) });
    const definition = { cron: "0 3 25 12 *", except: ["off"], ifExcluded: "next" } as const;
    await does(operator, { ...off([]), ...everyHost(1, definition) });
    const year = new Date(operator.ports.clock.getWallTime()).getUTCFullYear();
    await putStates(operator, "j0", Date.UTC(year, 11, 25, 3));
    const { shown } = await prepare(operator, off(["12-25"]));
    expect(formatSiteCounts(shown), "its own state and those of two hosts").toBe(
      "1 calendar set, 1 schedule changed",
    );
    await does(operator, off(["12-25"]));
    expect(await readNext(operator, "j0")).toEqual(["12-26T03:00", "12-26T03:00"]);
  });

  test("skips on its hosts what a pause has prevented, when an edit takes it away", async ({ operator }) => {
    await does(operator, everyHost(1, { cron: "0 5 6 7 *", pause: { by: "ann", at: 0 } }));
    await putStates(operator, "j0", operator.ports.clock.getWallTime() - 10);
    await does(operator, everyHost(1, { cron: "0 5 6 7 *" }), { prunes: true, isEdit: true });
    expect(await readNext(operator, "j0")).toEqual(["07-06T05:00", "07-06T05:00"]);
  });

  test("forgets its hosts when it is to run on one host, and when it is deleted", async ({ operator }) => {
    for (const document of [manyJobs(1), { schedules: new Map([["j0", undefined]]) }]) {
      await does(operator, everyHost(1));
      await putStates(operator, "j0", operator.ports.clock.getWallTime() + 1_000);
      await does(operator, document, { isEdit: true });
      expect(await readNext(operator, "j0")).toEqual([]);
    }
  });
});

describe("an owner", () => {
  test("changes and deletes only what is its own, and takes over the rest if told to", async ({
    operator,
  }) => {
    const own = (names: string[]): SiteChanges => ({
      groups: new Map(names.map((name) => [name, { members: [name] }])),
      resources: new Map(names.map((name) => [name, { isWhole: true, config: { total: "1" } }])),
      calendars: new Map(names.map((name) => [name, { days: ["12-25"] }])),
      schedules: new Map(names.map((name) => [name, JOB])),
    });
    const listNames = async () => {
      const { kvs } = await operator.store.readRange(keys.getFullRange());
      const wanted = ["group", "resourceConfig", "calendar", "schedule"];
      return kvs.flatMap(({ key, value }) => {
        const parsed = keys.parse(key);
        const { source = null } = Object(JSON.parse(value)) as { source?: string };
        return wanted.includes(parsed.kind)
          ? [`${parsed.kind} ${(parsed as { name: string }).name} ${source}`]
          : [];
      });
    };
    await does(operator, own(["hand"]));
    await does(operator, own(["a", "b"]), { owner: "site:one", prunes: true });
    await does(operator, own(["c"]), { owner: "site:two", prunes: true });
    await does(operator, own(["a"]), { owner: "site:one", prunes: true });
    const kinds = ["calendar", "group", "resourceConfig", "schedule"];
    expect(await listNames()).toEqual(
      kinds.flatMap((kind) => [`${kind} a site:one`, `${kind} c site:two`, `${kind} hand null`]),
    );
    await expect(plan(operator, own(["c", "hand"]), { owner: "site:one" })).rejects.toThrow(
      /group "c" exists already, imported from "site:two"; group "hand" exists already, and was not imported; resource "c".*--adopt/,
    );
    await does(operator, own(["a", "hand"]), { owner: "site:one", adopts: true, prunes: true });
    expect((await listNames()).filter((line) => line.includes("hand"))).toEqual(
      kinds.map((kind) => `${kind} hand site:one`),
    );
    await does(operator, own(["hand"])); // who names no owner leaves it
    expect(await listNames()).toContain("group hand site:one");
    await does(operator, groups({ a: ["x"] }), { isSingle: true });
    expect(await listNames()).toContain("group a site:one");
    const owned = await listNames();
    await does(operator, groups({ mine: ["x"], yours: ["x"] }));
    await operator.put(keys.schedule("broken"), "{}");
    const nothing = { ...own([]), groups: new Map([["mine", { members: ["x"] }]]) };
    await does(operator, nothing, { prunes: true });
    expect(await listNames(), "only what nobody owns").toEqual(
      [...owned, "group mine null", "schedule broken null"].sort(),
    );
    await does(operator, own([]), { prunes: "all" });
    expect(await listNames()).toEqual([]);
  });

  test("is counted with what would be deleted, and with what stays", async ({ operator }) => {
    await does(operator, { ...manyJobs(2), ...groups({ web: ["x"] }) }, { owner: "site:a" });
    await does(operator, groups({ db: ["y"] }), { owner: "site:b" });
    const document = { ...manyJobs(0), ...groups({}) };
    const kept = await plan(operator, document, { prunes: true });
    expect(formatOwnedCounts(listKeptOfOthers(kept.stored, document, { prunes: true }))).toBe(
      "1 group of site:b, 1 group of site:a, 2 schedules of site:a",
    );
    expect(listDeletedOfOthers(kept)).toEqual([]);
    const all = await plan(operator, document, { prunes: "all" });
    expect(formatOwnedCounts(listDeletedOfOthers(all))).toBe(
      "1 group of site:b, 1 group of site:a, 2 schedules of site:a",
    );
    const own = await plan(operator, document, { prunes: true, owner: "site:b" });
    expect(listDeletedOfOthers(own, "site:b")).toEqual([]);
  });
});

test("who configured: is told by the audit, newest first, and nothing of other actions or before", async ({
  operator,
}) => {
  await does(operator, groups({ a: [] }));
  const { revision } = await operator.store.readRange(keys.groups());
  for (const name of ["b", "c"]) {
    await operator.clock.advance(1_000);
    await applySite(operator.ports, {
      ...(await prepare(operator, groups({ [name]: [] }))),
      target: `group ${name}`,
    });
  }
  const found = await readAuditSince(operator.ports, revision);
  expect(found.map(({ target, sudoUser }) => [target, sudoUser])).toEqual([
    ["group c", "ann"],
    ["group b", "ann"],
  ]);
  const { kvs } = await operator.store.readRange(keys.audits());
  expect(parseAuditRecord("x", kvs[0]?.value ?? "")).toMatchObject({
    action: "apply",
    outcome: "changed",
  });
});
