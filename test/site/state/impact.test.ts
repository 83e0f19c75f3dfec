/** Runs affected by a change of the configuration, as tables of snapshots. */
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createDrainKey,
  createGroupKey,
  createHostKey,
  createKeyValue,
  createResourceKey,
  createSnapshot,
  createTicketKey,
  held,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import {
  formatAffectedCount,
  formatAffectedRuns,
  formatConfigChanges,
} from "../../../src/cli/views/impact.ts";
import {
  applyConfigChanges,
  type ConfigChange,
  computeConfigChanges,
  normalizeMembers,
} from "../../../src/core/fleet/configuration.ts";
import type { ResourceConfig } from "../../../src/core/fleet/resources.ts";
import type { Ticket } from "../../../src/core/protocol/ticket.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { buildConfiguration, listMalformedConfig } from "../../../src/site/state/configuration.ts";
import { computeConfigImpact } from "../../../src/site/state/impact.ts";
import type { Snapshot } from "../../../src/site/state/snapshot.ts";

const claim = (what: string, letter: string, ticket: Partial<Ticket>) =>
  createTicketKey(what, letter, 1, ticket);
const resource = (name: string, total: string) => createResourceKey(name, { total });
const host = (letter: string, cpu: number, macros = {}) =>
  createHostKey(`${letter}.example.com`, { cpu, memMb: 1000, macros, seenAt: 1 });
const snapshotOf = (...kvs: readonly KeyValue[]) => createSnapshot(kvs);

function groupChange(snapshot: Snapshot, name: string, ...members: string[]) {
  const before = buildConfiguration(snapshot);
  const groups = new Map([...before.groups, [name, normalizeMembers(members)]]);
  return computeConfigChanges(before, { ...before, groups });
}

function deleted(snapshot: Snapshot, kind: ConfigChange["kind"], name: string) {
  const { groups, resources } = buildConfiguration(snapshot);
  const without = { groups: new Map(groups), resources: new Map(resources) };
  (kind === "group" ? without.groups : without.resources).delete(name);
  return computeConfigChanges({ groups, resources }, without);
}

function resourceChange(snapshot: Snapshot, name: string, config: ResourceConfig) {
  const before = buildConfiguration(snapshot);
  return computeConfigChanges(before, {
    ...before,
    resources: new Map([...before.resources, [name, config]]),
  });
}

const fates = (snapshot: Snapshot, changes: readonly ConfigChange[]) =>
  computeConfigImpact(snapshot, changes, NOW).affected.map(
    ({ claim, fate, exit }) => `${claim.run[0]} ${fate} ${exit}`,
  );
const notes = (snapshot: Snapshot, changes: readonly ConfigChange[]) =>
  computeConfigImpact(snapshot, changes, NOW).notes;

const [A, B, C] = ["a.example.com", "b.example.com", "c.example.com"];

describe("a change of groups", () => {
  const snapshot = snapshotOf(
    createGroupKey("web", A, B),
    createGroupKey("all", "web", C),
    claim("lock x", "a", { ...held, group: "web" }),
    claim("resource db", "a", { ...held, group: "web" }),
    claim("lock x", "b", { group: "all" }),
    claim("lock y", "c", { ...held, group: "all" }),
    claim("lock z", "d", held), // no group at all
    claim("lock w", "a2", { ...held, host: A }),
    claim("lock v", "g", { state: "grace", host: A, group: "web" }),
    claim("lock u", "o", { ...held, group: "other" }), // was not in it before either
  );

  it.each([
    ["taking out a host ends what runs there", [B], ["a ended 125"]],
    ["writing a host otherwise hits nobody", [`${A.toUpperCase()}.`, B], []],
    ["nesting keeps those who are in it still", [A, B, "all"], []],
  ])("%s", (_, members, hits) => {
    expect(fates(snapshot, groupChange(snapshot, "web", ...members))).toEqual(hits);
  });

  it("deletion: what runs is ended, what waits is told that there is no such group", () => {
    const hits = fates(snapshot, deleted(snapshot, "group", "web"));
    expect(hits).toEqual(["a ended 125", "b leaves 75"]);
    expect(fates(snapshot, deleted(snapshot, "group", "all"))).toEqual(["c ended 125", "b leaves 78"]);
    expect(notes(snapshot, deleted(snapshot, "group", "web"))).toContain(
      'group "all" still contains "web", which now counts as a host',
    );
  });

  it("a group that takes the name of a host takes its members away", () => {
    const changes = groupChange(snapshot, C, "z.example.com");
    expect(fates(snapshot, changes)).toEqual(["c ended 125"]);
    expect(notes(snapshot, changes)).toEqual(
      expect.arrayContaining([
        expect.stringContaining(`group "${C}" is named like a host`),
        `member "${C}" of group "all" was a host; from now on it is the group`,
      ]),
    );
  });

  it("notes circles, empty groups and strangers, but only those that it brings about", () => {
    const circle = applyConfigChanges(
      buildConfiguration(snapshot),
      groupChange(snapshot, "web", A, B, "all"),
    );
    expect(notes(snapshot, groupChange(snapshot, "web", A, B, "all"))).toEqual([
      expect.stringContaining("groups contain each other in a circle"),
    ]);
    expect(circle.groups.get("web")).toContain("all");
    const known = snapshotOf(createGroupKey("old"), createGroupKey("web", A), host("a", 2));
    expect(notes(known, groupChange(known, "web", A, "b", "a"))).toEqual([
      `"a" is neither a group nor a host that was ever seen; did you mean "${A}"?`,
      '"b" is neither a group nor a host that was ever seen',
    ]);
    expect(notes(known, groupChange(known, "web", `${A},${B}`))).toEqual([
      `"${A},${B}" is neither a group nor a host that was ever seen; write members as separate words`,
    ]);
    expect(notes(known, groupChange(known, "web"))).toEqual([expect.stringContaining('"web" is empty')]);
  });

  it("tells of drains that come to apply, and of those that stop nobody any more", () => {
    const drain = createDrainKey("group", "web", { by: "ann@ops" });
    const drained = snapshotOf(createGroupKey("web", A, B), drain, claim("lock x", "c", { group: "web" }));
    const waiting = claim("lock y", "c", {});
    expect(notes(drained, groupChange(drained, "web", A))).toEqual([
      `group "web" is drained by ann@ops; it no longer applies to ${B}`,
    ]);
    expect(notes(drained, deleted(drained, "group", "web"))).toEqual([
      'group "web" is drained by ann@ops; without the group, the drain stops nothing',
    ]);
    const entering = snapshotOf(createGroupKey("web", A, B), drain, waiting);
    const changes = groupChange(entering, "web", A, B, C);
    expect(fates(entering, changes)).toEqual(["c perhaps 75"]);
    expect(notes(entering, changes)).toContain(
      `group "web" is drained by ann@ops; nothing starts any more on ${C}`,
    );
    const ended = createDrainKey("group", "web", { until: NOW - 1 });
    const over = snapshotOf(createGroupKey("web", A, B), ended, waiting);
    expect(fates(over, groupChange(over, "web", A, B, C))).toEqual([]);
  });
});

describe("a change of totals", () => {
  const configured = snapshotOf(
    resource("db", "10"),
    claim("resource db", "a", { ...held, count: 4, total: 10, isStated: true }),
    claim("resource db", "b", { count: 8, total: 10 }),
    claim("resource db", "c", { count: 2, total: 10, isStated: true }),
    claim("resource db", "d", { count: 2, total: 10 }),
  );
  const stated = snapshotOf(
    claim("resource db", "b", { count: 8, total: 10, isStated: true }),
    claim("resource db", "c", { count: 2, total: 12, isStated: true }),
  );

  it.each([
    ["who asks for more leaves, and who states another", "6", ["b leaves 78", "c leaves 78"]],
    ["the same in other words", "5 + 5", []],
  ])("that is configured: $0", (_, to, hits) => {
    expect(fates(configured, resourceChange(configured, "db", { total: to }))).toEqual(hits);
  });

  it.each([
    ["another than runs state", "14", ["b leaves 78", "c leaves 78"]],
    ["the one that some state", "10", ["c leaves 78"]],
  ])("where none was: $0", (_, to, hits) => {
    expect(fates(stated, resourceChange(stated, "db", { total: to }))).toEqual(hits);
  });

  it("a changed note or order affects no run, nor does a name without a total", () => {
    expect(fates(configured, resourceChange(configured, "db", { total: "10", order: 3, note: "x" }))).toEqual(
      [],
    );
    expect(fates(stated, resourceChange(stated, "db", { order: 3 }))).toEqual([]);
  });

  it("that is taken away hits those who state none themselves", () => {
    const hits = fates(configured, deleted(configured, "resource", "db"));
    expect(hits).toEqual(["b leaves 78", "d leaves 78"]);
  });

  it("below what is held grants nothing until enough is back", () => {
    expect(notes(configured, resourceChange(configured, "db", { total: "3" }))).toEqual([
      '4 units of "db" are held, but the total is 3: nothing is granted until enough are free',
    ]);
  });

  it("with macros means another number on each host, and an unknown one where a host was never seen", () => {
    const snapshot = snapshotOf(
      host("a", 2),
      host("b", 8),
      resource("FQDN_cpu", "CPU * 2"),
      claim(`resource ${A}_cpu`, "a", { count: 3, total: 4 }),
      claim(`resource ${B}_cpu`, "b", { count: 3, total: 16 }),
      claim(`resource ${C}_cpu`, "c", { count: 3, total: 4 }),
    );
    const hits = fates(snapshot, resourceChange(snapshot, "FQDN_cpu", { total: "CPU" }));
    expect(hits).toEqual(["a leaves 78", "c perhaps 78"]);
    const constant = resourceChange(snapshot, "FQDN_cpu", { total: "2" });
    expect(fates(snapshot, constant)).toEqual(["a leaves 78", "b leaves 78", "c leaves 78"]);
    const own = resourceChange(snapshot, `${A}_cpu`, { total: "3" });
    expect(fates(snapshot, own), "its own configuration comes first").toEqual([]);
    const less = resourceChange(snapshot, `${A}_cpu`, { total: "2" });
    expect(fates(snapshot, less), "its own configuration comes first").toEqual(["a leaves 78"]);
  });
});

describe("what is told", () => {
  it("names who is hit and why, counts them, and shortens long lists", () => {
    const many = Array.from({ length: 20 }, (_, index) =>
      claim(`lock l${index}`, "abcdefghjkmnpqrstvwxyz"[index] ?? "", { ...held, host: A, group: "web" }),
    );
    const snapshot = snapshotOf(
      createGroupKey("web", A),
      ...many,
      claim("lock l0", "z", { host: A, group: "web" }),
    );
    const { affected } = computeConfigImpact(snapshot, deleted(snapshot, "group", "web"), NOW);
    expect(formatAffectedCount(affected)).toBe("ends 20 running commands, evicts 1 waiting run");
    const lines = formatAffectedRuns(affected, NOW);
    expect(lines[0]).toBe(
      'ends      a.example.com:4711 (invoices.sh), holds lock l0, for 1m: group "web" is gone',
    );
    expect(lines).toHaveLength(10);
    expect(lines[8]).toBe("ends      and 12 more");
    expect(lines[9]).toMatch(/^evicts {4}a\.example\.com:4711/);
    expect(formatAffectedCount([])).toBe("");
  });

  it("of what has moved covers what was changed and changed back", () => {
    const then = snapshotOf(createGroupKey("web", A), resource("db", "10"));
    const again = snapshotOf(createKeyValue(keys.group("web"), JSON.stringify([A]), 5), resource("db", "11"));
    expect(formatConfigChanges(then, again, () => true)).toEqual([
      "~ resource db: total 10 -> 11",
      "group web was written again",
    ]);
    expect(formatConfigChanges(then, again, (kind) => kind === "resource")).toHaveLength(1);
    expect(formatConfigChanges(then, then, () => true)).toEqual([]);
  });

  it("of a configuration leaves out what cannot be read, and says so", () => {
    const snapshot = snapshotOf(
      createKeyValue(keys.group("web"), "{"),
      createKeyValue(keys.resourceConfig("db"), "[]"),
    );
    expect(buildConfiguration(snapshot)).toEqual({ groups: new Map(), resources: new Map() });
    expect(listMalformedConfig(snapshot).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "group web",
      "resource db",
    ]);
  });
});
