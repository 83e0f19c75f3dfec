/** The counts of runs and hosts follow the changes of queues. */

import { array, assert, constantFrom, property, record } from "fast-check";
import { expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createKeyValue,
  createSnapshot,
  createTicketKey,
  held,
  toRunId,
} from "../../../fixtures/state/sample-snapshots.ts";
import { SnapshotFollower } from "../../../fixtures/state/snapshot-follower.ts";
import { isHolding } from "../../../src/core/protocol/admission.ts";
import type { QueueEntry } from "../../../src/core/protocol/ticket.ts";
import { countRuns, followClaims, groupClaimsByHost } from "../../../src/site/state/claims.ts";
import type { Snapshot } from "../../../src/site/state/snapshot.ts";

/** Finds the runs and hosts of a snapshot in one pass, without knowledge of another snapshot. */
function countAnew({ queues }: Snapshot) {
  const all = [...queues.values()].flatMap(({ entries }) => entries);
  const byRun = Map.groupBy(all, ({ run }) => run);
  const runs = [...byRun.values()].filter((own) => own.some((one) => one.ticket));
  const getQueue = ({ key }: QueueEntry) =>
    [...queues.values()].find(({ entries }) => entries.some((one) => one.key === key));
  const claims = [...byRun].map(([run, own]) => {
    const inOrder = own.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    return [run, { run, entries: inOrder.map((entry) => ({ queue: getQueue(entry), entry })) }] as const;
  });
  return {
    claims: new Map(claims),
    held: runs.filter((own) => own.every(isHolding)).length,
    waiting: runs.filter((own) => !own.every(isHolding)).length,
    hosts: [...new Set(all.flatMap(({ ticket }) => ticket?.host ?? []))].sort(),
  };
}

it("finds and counts claims as a pass over all entries does, whatever changes, and whichever snapshot was counted before", () => {
  const change = record({
    does: constantFrom("put", "hold", "break", "delete", "count", "count another"),
    queue: constantFrom("lock x", "lock y", "resource db"),
    run: constantFrom("a", "b", "c"),
    host: constantFrom("web1", "web2"),
  });
  const other = createSnapshot([createTicketKey("lock x", "a", 1, { ...held, host: "other" })]);
  assert(
    property(array(change, { maxLength: 30 }), (changes) => {
      const follower = new SnapshotFollower();
      const check = (snapshot: Snapshot) => {
        const found = {
          claims: new Map(
            [...followClaims(snapshot)].map(([id, { run, entries }]) => [id, { run, entries }]),
          ),
          ...countRuns(snapshot),
          hosts: [...groupClaimsByHost(snapshot).keys()].sort(),
        };
        expect(found).toEqual(countAnew(snapshot));
      };
      for (const { does, queue, run, host } of changes) {
        const kv = createTicketKey(queue, run, 1, { ...(does === "hold" && held), host });
        if (does === "put" || does === "hold") follower.put(kv);
        else if (does === "break") follower.put(createKeyValue(kv.key, "{"));
        else if (does === "delete") follower.delete(kv.key);
        else check(does === "count" ? follower.snapshot : other);
      }
      check(follower.snapshot);
    }),
  );
});

it("a claim stays the same until one of its queues changes", () => {
  const follower = new SnapshotFollower(
    createTicketKey("lock x", "a", 1, held),
    createTicketKey("lock y", "b", 2, held),
    createTicketKey("resource db", "b", 2, held),
  );
  const [a, b] = ["a", "b"].map((id) => followClaims(follower.snapshot).get(toRunId(id)));
  follower.put(createTicketKey("resource db", "c", 3));
  const after = followClaims(follower.snapshot);
  expect(after.get(toRunId("a"))).toBe(a);
  expect(after.get(toRunId("b"))).not.toBe(b);
  expect(after.get(toRunId("b"))?.entries.map(({ queue }) => queue.entries.length)).toEqual([1, 2]);
});

it("gives the same snapshot until something changes", () => {
  const follower = new SnapshotFollower(createTicketKey("lock x", "a", 1, held));
  const { snapshot } = follower;
  expect(follower.snapshot).toBe(snapshot);
  follower.delete(keys.lock("x", toRunId("a")));
  expect(follower.snapshot).not.toBe(snapshot);
  expect(follower.snapshot.queues.size).toBe(0);
});
