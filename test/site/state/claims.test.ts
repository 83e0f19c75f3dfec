/** The counts of runs and hosts follow the changes of queues. */

import { array, assert, constantFrom, integer, property, record } from "fast-check";
import { expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import { createRunningKey } from "../../../fixtures/schedule/schedule-keys.ts";
import {
  createKeyValue,
  createSnapshot,
  createTicketKey,
  held,
  NOW,
  toRunId,
} from "../../../fixtures/state/sample-snapshots.ts";
import { SnapshotFollower } from "../../../fixtures/state/snapshot-follower.ts";
import type { WallTime } from "../../../src/core/base/clock.ts";
import { isHolding } from "../../../src/core/protocol/admission.ts";
import type { QueueEntry } from "../../../src/core/protocol/ticket.ts";
import {
  type Claim,
  countRuns,
  followClaims,
  getHeldSince,
  groupClaimsByHost,
  groupRuns,
} from "../../../src/site/state/claims.ts";
import type { Snapshot } from "../../../src/site/state/snapshot.ts";

/** Finds the runs and hosts of a snapshot in one pass, without knowledge of another snapshot. */
function countAnew({ queues }: Snapshot, until: WallTime) {
  const all = [...queues.values()].flatMap(({ entries }) => entries);
  const byRun = Map.groupBy(all, ({ run }) => run);
  const runs = [...byRun.values()].filter((own) => own.some((one) => one.ticket));
  const getQueue = ({ key }: QueueEntry) =>
    [...queues.values()].find(({ entries }) => entries.some((one) => one.key === key));
  const claims = [...byRun].map(([run, own]) => {
    const inOrder = own.toSorted(compareByKey);
    return [run, { run, entries: inOrder.map((entry) => ({ queue: getQueue(entry), entry })) }] as const;
  });
  return {
    claims: new Map(claims),
    held: runs.filter((own) => own.every(isHolding)).length,
    waiting: runs.filter((own) => !own.every(isHolding)).length,
    hosts: sortByHost(
      Array.from(new Set(all.flatMap(({ ticket }) => ticket?.host ?? [])), (host) => {
        const own = runs.filter(
          (run) => run.toSorted(compareByKey).find((one) => one.ticket)?.ticket?.host === host,
        );
        return {
          host,
          runs: runs.filter((run) => run.some((one) => one.ticket?.host === host)).length,
          held: own.filter((run) => run.every(isHolding)).length,
          waiting: own.filter((run) => !run.every(isHolding)).length,
          attached: own.filter((run) => run.some(({ session }) => session !== 0n)).length,
          last: Math.max(...all.flatMap(({ ticket }) => (ticket?.host === host ? getHeldSince(ticket) : []))),
          enqueued: all.filter(
            ({ ticket }) =>
              ticket?.host === host && ticket.enqueuedAt > findStart(until) && ticket.enqueuedAt <= until,
          ).length,
        };
      }),
    ),
  };
}

/** The tickets of most checks begin at one instant. */
const findStart = (until: WallTime) => NOW - (until === NOW - 20 ? 60 : 40);
const compareByKey = (a: QueueEntry, b: QueueEntry) => (a.key < b.key ? -1 : 1);
const sortByHost = <T extends { host: string }>(hosts: T[]) =>
  hosts.sort((a, b) => (a.host < b.host ? -1 : 1));

it("finds and counts claims as a pass over all entries does, whatever changes, and whichever snapshot was counted before", () => {
  const change = record({
    does: constantFrom("put", "hold", "break", "delete", "count", "count another"),
    queue: constantFrom("lock x", "lock y", "resource db"),
    run: constantFrom("a", "b", "c"),
    host: constantFrom("web1", "web2"),
    at: integer({ min: 1, max: 5 }),
    session: constantFrom(0n, 7n),
  });
  const compareRuns = (a: Claim, b: Claim) => (a.run < b.run ? -1 : 1);
  const other = createSnapshot([createTicketKey("lock x", "a", 1, { ...held, host: "other" })]);
  assert(
    property(array(change, { maxLength: 30 }), (changes) => {
      const follower = new SnapshotFollower();
      const check = (snapshot: Snapshot, until = NOW) => {
        const found = {
          claims: new Map(
            [...followClaims(snapshot)].map(([id, { run, entries }]) => [id, { run, entries }]),
          ),
          ...countRuns(snapshot),
          hosts: sortByHost(
            Array.from(groupClaimsByHost(snapshot), ([host, own]) => {
              const { held, waiting, attached } = own;
              const enqueued = own.countEnqueued(findStart(until), until);
              return {
                host,
                runs: own.listClaims().length,
                held,
                waiting,
                attached,
                last: own.findLastInstant(),
                enqueued,
              };
            }),
          ),
        };
        expect(found).toEqual(countAnew(snapshot, until));
        const groups = groupRuns(snapshot);
        const kept = groups.slice(0, -1);
        expect(
          groupRuns(snapshot)
            .slice(0, -1)
            .map((own, at) => own === kept[at]),
        ).toEqual(kept.map(() => true));
        expect(groups.flat().toSorted(compareRuns)).toEqual(
          [...followClaims(snapshot).values()].toSorted(compareRuns),
        );
      };
      for (const { does, queue, run, host, at, session } of changes) {
        const state = does === "hold" && { ...held, grantedAt: NOW - at };
        const ticket = { host, enqueuedAt: NOW - 10 * at, ...state };
        const kv = { ...createTicketKey(queue, run, 1, ticket), session };
        if (does === "put" || does === "hold") follower.put(kv);
        else if (does === "break") follower.put(createKeyValue(kv.key, "{"));
        else if (does === "delete") follower.delete(kv.key);
        else check(does === "count" ? follower.snapshot : other, NOW - 10 * at);
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

it("a list of runs stays the same until one of its claims changes, also through another queue", () => {
  const follower = new SnapshotFollower(
    createTicketKey("lock x", "a", 1, held),
    createTicketKey("lock y", "b", 2, held),
    createTicketKey("resource db", "b", 2, held),
  );
  const [x, y] = groupRuns(follower.snapshot);
  follower.put(createTicketKey("resource db", "c", 3));
  const after = groupRuns(follower.snapshot);
  expect(after[0]).toBe(x);
  expect(after[1]).not.toBe(y);
  expect(after.map((own) => own.map(({ run }) => run))).toEqual(
    [["a"], ["b"], ["c"], []].map((own) => own.map(toRunId)),
  );
});

it("a run with a task and tickets is one run, and a task without tickets is one more", () => {
  const { snapshot } = new SnapshotFollower(
    createTicketKey("lock x", "a", 1, held),
    createRunningKey("leased", { run: toRunId("a") }),
    createRunningKey("plain", { run: toRunId("b") }),
  );
  expect(
    groupRuns(snapshot).map((own) => own.map(({ run, entries, task }) => [run, entries.length, task?.id])),
  ).toEqual([[[toRunId("a"), 1, "leased"]], [[toRunId("b"), 0, "plain"]]]);
});

it("gives the same snapshot until something changes", () => {
  const follower = new SnapshotFollower(createTicketKey("lock x", "a", 1, held));
  const { snapshot } = follower;
  expect(follower.snapshot).toBe(snapshot);
  follower.delete(keys.lock("x", toRunId("a")));
  expect(follower.snapshot).not.toBe(snapshot);
  expect(follower.snapshot.queues.size).toBe(0);
});
