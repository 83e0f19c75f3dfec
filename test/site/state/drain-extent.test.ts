/** Runs in the scope of a drain, as tables of snapshots. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createGroupKey,
  createKeyValue,
  createSnapshot,
  createTicketKey,
  held,
  NOW,
  toRunId,
  waiting,
} from "../../../fixtures/state/sample-snapshots.ts";
import { formatClaimOwners, formatDrainExtent } from "../../../src/cli/views/drain-extent.ts";
import {
  describeDrainChanges,
  formatDrainWithEnd,
  formatInstantSeconds,
} from "../../../src/cli/views/drain-lines.ts";
import {
  type DrainTarget,
  isDrainApplicable,
  isEveryQueueStopped,
} from "../../../src/core/protocol/drain.ts";
import { DRAIN_SCOPES, type DrainScope } from "../../../src/core/protocol/keys.ts";
import { TICKET_STATES } from "../../../src/core/protocol/ticket.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import {
  computeDrainExtent,
  findDrainsOfTarget,
  findOtherDrains,
} from "../../../src/site/state/drain-extent.ts";
import type { Snapshot } from "../../../src/site/state/snapshot.ts";

const snapshotOf = (...kvs: readonly KeyValue[]) => createSnapshot(kvs);

const target = (words: string): DrainTarget => {
  const [scope = "all", name = "all"] = words.split(" ");
  return { scope: scope as DrainScope, name };
};

/** Letters of the runs in scope: those that hold, and those that wait with what becomes of them. */
function hit(snapshot: Snapshot, words: string) {
  const { holders, waiters } = computeDrainExtent(snapshot, target(words), NOW);
  return {
    holds: holders.map(({ run }) => run[0]).join(""),
    waits: waiters.map(({ claim, fate }) => `${claim.run[0]} ${fate}`),
  };
}

const GROUPS = [
  createGroupKey("all", "web", "D.example.com."),
  createGroupKey("web", "a.example.com", "B.Example.Com"),
];

describe("a drain is about", () => {
  const snapshot = snapshotOf(
    ...GROUPS,
    createTicketKey("lock x", "a", 1, held),
    createTicketKey("resource db", "a", 2, held),
    createTicketKey("lock x", "b", 3, waiting),
    createTicketKey("lock y", "c", 4, { state: "admitted" }),
    createTicketKey("resource db", "c", 5, waiting),
    createTicketKey("lock z", "d", 6, { state: "grace", until: NOW + 9 }),
    createTicketKey("resource mem", "e", 7, held),
    createTicketKey("resource db", "f", 8, waiting),
  );

  it.each([
    ["lock x", "a", ["b stays"]],
    ["lock y", "", ["c leaves"]],
    ["host A.example.com.", "a", []],
    ["group all", "a", ["b leaves"]],
    ["group none", "", []],
    ["all", "ae", ["b stays", "c depends", "f depends"]],
  ])("$0: $1, $2", (words, holds, waits) => {
    expect(hit(snapshot, words)).toEqual({ holds, waits });
  });

  it("hosts, as their groups spell them", () => {
    expect(computeDrainExtent(snapshot, target("group all"), NOW).hosts).toEqual([
      "D.example.com.",
      "a.example.com",
      "B.Example.Com",
    ]);
    expect(computeDrainExtent(snapshot, target("host A"), NOW).hosts).toEqual(["A"]);
    expect(computeDrainExtent(snapshot, target("lock x"), NOW).hosts).toEqual([]);
  });

  it("tickets that cannot be read, where their key says that they are in it", () => {
    const strange = snapshotOf(
      createKeyValue(keys.lock("x", toRunId("a")), "{"),
      createKeyValue(keys.lock("y", "byhand"), "?"),
      createKeyValue(keys.lock("w", "byhand"), "?"),
    );
    expect(hit(strange, "lock x").holds).toBe("a");
    expect(hit(strange, "lock y").holds).toBe("b");
    expect(hit(strange, "lock w").holds).toBe("b");
    expect(hit(strange, "all").holds).toBe("ab");
    expect(hit(strange, "host a.example.com").holds).toBe("");
  });

  it("waiters that another drain makes leave, while that one lasts", () => {
    const waiter = createTicketKey("lock x", "b", 3, waiting);
    const until = (at: number) => createKeyValue(keys.drain("host", "b.example.com"), `{"until":${at}}`);
    expect(hit(snapshotOf(waiter, until(NOW + 1)), "lock x").waits).toEqual(["b leaves"]);
    expect(hit(snapshotOf(waiter, until(NOW)), "lock x").waits).toEqual(["b stays"]);
  });
});

describe("drains", () => {
  const snapshot = snapshotOf(
    ...GROUPS,
    createKeyValue(keys.drain("all", "all"), '{"by":"ann"}'),
    createKeyValue(`${keys.drains().key}all/by-hand`),
    createKeyValue(keys.drain("host", "WEB9.example.com")),
    createKeyValue(keys.drain("host", "a.example.com")),
    createKeyValue(keys.drain("group", "all")),
    createKeyValue(keys.drain("lock", "x")),
    createKeyValue(keys.drain("resource", "x")),
    createKeyValue(keys.drain("lock", "old"), `{"until":${NOW}}`),
  );
  const spelled = (drains: readonly { key: string }[]) =>
    drains.map(({ key }) => key.slice(keys.drains().key.length)).sort();

  it.each([
    ["all", ["all/all", "all/by-hand"]],
    ["host web9.example.com", ["host/WEB9.example.com"]],
    ["lock x", ["lock/x"]],
    ["lock old", ["lock/old"]],
    ["group web", []],
  ])("of $0 are $1", (words, own) => {
    expect(spelled(findDrainsOfTarget(snapshot, target(words)))).toEqual(own);
  });

  it.each([
    ["all", []],
    ["lock x", ["all/all", "all/by-hand"]],
    ["host a.example.com", ["all/all", "all/by-hand", "group/all"]],
    ["group web", ["all/all", "all/by-hand", "group/all", "host/a.example.com"]],
    ["resource db", ["all/all", "all/by-hand"]],
  ])("that still stop $0 are $1", (words, others) => {
    expect(spelled(findOtherDrains(snapshot, target(words), NOW))).toEqual(others);
  });
});

it("is the same, however claims and drains are mixed, as what each run asks itself", () => {
  const letters = [..."abcdefgh"];
  const claim = fc.record({
    lock: fc.option(fc.constantFrom("x", "y")),
    resources: fc.uniqueArray(fc.constantFrom("db", "mem")),
    state: fc.constantFrom(...TICKET_STATES),
  });
  const any = fc.record({
    scope: fc.constantFrom(...DRAIN_SCOPES),
    name: fc.constantFrom("x", "db", "web", "a.example.com"),
  });
  fc.assert(
    fc.property(
      fc.array(claim, { maxLength: 8 }),
      any,
      fc.array(any, { maxLength: 3 }),
      (claims, drain, more) => {
        const kvs = claims.flatMap(({ lock, resources, state }, index) => {
          const letter = letters[index] ?? "z";
          const all = [
            ...(lock === null ? [] : [`lock ${lock}`]),
            ...resources.map((name) => `resource ${name}`),
          ];
          return all.map((what) => createTicketKey(what, letter, index + 1, { state }));
        });
        const standing = more.map(({ scope, name }) => createKeyValue(keys.drain(scope, name)));
        const snapshot = snapshotOf(...GROUPS, ...kvs, ...standing);
        const { holders, waiters } = computeDrainExtent(snapshot, drain, NOW);
        for (const [index, { lock, resources, state }] of claims.entries()) {
          const run = (letters[index] ?? "z").repeat(16);
          if (lock === null && resources.length === 0) continue;
          const groups = index === 0 || index === 1 ? ["web", "all"] : index === 3 ? ["all"] : [];
          const stands = { locks: lock === null ? [] : [lock], resources };
          const reach = { ...stands, host: `${letters[index]}.example.com`, groups };
          const isIn = isDrainApplicable(drain, reach);
          expect(holders.some((one) => one.run === run)).toBe(isIn && state === "held");
          const waiter = waiters.find((one) => one.claim.run === run);
          expect(waiter !== undefined).toBe(isIn && (state === "waiting" || state === "admitted"));
          const mayStay = [drain, ...more.filter((one) => isDrainApplicable(one, reach))].every((one) =>
            isEveryQueueStopped(one, stands),
          );
          if (waiter !== undefined) expect(waiter.fate !== "leaves").toBe(mayStay);
        }
      },
    ),
  );
});

describe("in words", () => {
  it("a drain's extent has one line a run, a few of many, and says what becomes of it", () => {
    const crowd = Array.from({ length: 12 }, (_, index) =>
      createTicketKey("lock x", letterOf(index), index + 1, index === 0 ? held : waiting),
    );
    const snapshot = snapshotOf(...crowd);
    const lines = formatDrainExtent(
      computeDrainExtent(snapshot, target("lock x"), NOW),
      target("lock x"),
      NOW,
    );
    expect(lines[0]).toMatch(/^holds a\.example\.com:4711 \(invoices\.sh\), holds lock x, for .*; goes on$/);
    expect(lines[1]).toMatch(/^waits b\.example\.com:4711 .*; keeps its place$/);
    expect(lines.at(-1)).toBe("waits and 3 more");
    const { waiters } = computeDrainExtent(snapshot, target("lock x"), NOW);
    expect(formatClaimOwners(waiters.map(({ claim }) => claim))).toMatch(
      /^b.example.com:4711, .* and 6 more$/,
    );
  });

  it("a drain is shown with its end, also if the stored end is absurd", () => {
    const drain = { key: "k", scope: "all", name: "all", by: "ann", at: 1, modRevision: 1n } as const;
    expect(formatDrainWithEnd(drain)).toBe("everything is drained by ann");
    expect(formatDrainWithEnd({ ...drain, why: "fire", until: NOW })).toBe(
      "everything is drained by ann: fire (until 2023-11-14T22:15:00Z)",
    );
    expect(formatInstantSeconds(1e300)).toBe("some time");
  });

  it("changes of drains are told one by one", () => {
    const drain = { key: "k", scope: "lock", name: "x", by: "ann", at: 1, modRevision: 1n } as const;
    const renewed = { ...drain, by: "bob", modRevision: 2n };
    expect(describeDrainChanges([], [])).toEqual([]);
    expect(describeDrainChanges([drain], [drain])).toEqual([]);
    expect(describeDrainChanges([drain], [])).toEqual(["lifted: lock x is drained by ann"]);
    expect(describeDrainChanges([], [drain])).toEqual(["new: lock x is drained by ann"]);
    expect(describeDrainChanges([drain], [renewed])).toEqual(["changed: lock x is drained by bob"]);
  });
});

function letterOf(index: number) {
  return String.fromCharCode(97 + index);
}
