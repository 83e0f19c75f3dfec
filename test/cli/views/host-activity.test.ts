import fc from "fast-check";
import { expect, it } from "vitest";
import { createRunningKey, createWorkerKey } from "../../../fixtures/schedule/schedule-keys.ts";
import {
  createSnapshot,
  createTicketKey,
  held,
  NOW,
  toRunId,
} from "../../../fixtures/state/sample-snapshots.ts";
import {
  computeHostActivity,
  type HostSigns,
  judgeHostState,
  NO_ACTIVITY,
} from "../../../src/cli/views/hosts.ts";
import type { QueueEntry, TicketState } from "../../../src/core/protocol/ticket.ts";
import { buildClaims, findClaimHost, isHolder } from "../../../src/site/state/claims.ts";
import type { Snapshot } from "../../../src/site/state/snapshot.ts";

const HOSTS = ["web1.example.com", "WEB1.example.com.", "db"];

/** Runs with up to three tickets each, some of which cannot be read, some without a session. */
const snapshots: fc.Arbitrary<Snapshot> = fc
  .array(
    fc.record({
      run: fc.constantFrom("r1", "r2", "r3", "r4", "r5"),
      queue: fc.constantFrom("lock a", "lock b", "resource db", "resource cpu"),
      state: fc.constantFrom<TicketState>("waiting", "admitted", "held", "grace"),
      isReadable: fc.boolean(),
      session: fc.constantFrom(0n, 7n),
    }),
    { maxLength: 12 },
  )
  .map((tickets) => {
    const snapshot = createSnapshot(
      tickets.map(({ queue, run, state }, at) => {
        const host = HOSTS[Number(run.slice(1)) % HOSTS.length] as string; // a run is on one host
        return createTicketKey(queue, run, at + 1, { state, host, enqueuedAt: NOW - at });
      }),
    );
    const queues = [...snapshot.queues].map(([id, queue]): [string, typeof queue] => {
      const entries = queue.entries.map((entry): QueueEntry => {
        const { isReadable = true, session = 0n } = tickets[Number(entry.createRevision) - 1] ?? {};
        return { ...entry, ticket: isReadable ? entry.ticket : undefined, session };
      });
      return [id, { ...queue, entries }];
    });
    return { ...snapshot, queues: new Map(queues) };
  });

it("the runs of a host are the claims whose first readable ticket names it", () => {
  fc.assert(
    fc.property(snapshots, (snapshot) => {
      const activities = computeHostActivity(snapshot);
      const claims = [...buildClaims(snapshot).values()];
      for (const host of ["web1.example.com", "db"]) {
        const own = claims.filter((claim) => findClaimHost(claim) === host);
        const { held, waiting, isPresent } = activities.get(host) ?? NO_ACTIVITY;
        expect({ held, waiting, isPresent }).toEqual({
          held: own.filter(isHolder).length,
          waiting: own.filter((claim) => !isHolder(claim)).length,
          isPresent: own.some(({ entries }) => entries.some(({ entry }) => entry.session !== 0n)),
        });
      }
    }),
  );
});

it("a worker shows that its host is alive, and its tasks are runs; one with leases counts once", () => {
  const snapshot = createSnapshot([
    createWorkerKey("w1", { host: "Web1.example.com" }),
    createRunningKey("plain", { host: "web1.example.com", run: toRunId("p") }),
    createRunningKey("leased", { host: "web1.example.com", run: toRunId("l") }),
    createTicketKey("resource db", "l", 1, { ...held, host: "web1.example.com" }),
  ]);
  expect(computeHostActivity(snapshot).get("web1.example.com")).toMatchObject({ held: 2, isPresent: true });
});

it("takes the latest of all that a host has written as its last sign of life", () => {
  const snapshot = createSnapshot([
    createTicketKey("lock a held", "r", 1, { grantedAt: NOW - 5_000, host: "WEB1.example.com" }),
    createTicketKey("lock b", "s", 2, { enqueuedAt: NOW - 9_000, host: "web1.example.com" }),
  ]);
  expect(computeHostActivity(snapshot).get("web1.example.com")).toMatchObject({ writtenAt: NOW - 5_000 });
});

const DAY = 86_400_000;
const signs: HostSigns = { record: undefined, held: 0, waiting: 0, isPresent: false, writtenAt: NOW - 1 };

it.each([
  ["busy", { held: 1, waiting: 3 }],
  ["waiting", { waiting: 1 }],
  ["idle", {}],
  ["idle", { writtenAt: NOW - DAY }],
  ["silent", { writtenAt: NOW - DAY - 1 }],
  ["unknown", { writtenAt: undefined }],
  ["busy", { writtenAt: undefined, held: 1 }],
])("the state of a host is %s: %j", (state, change) => {
  expect(judgeHostState({ ...signs, ...change }, NOW)).toBe(state);
});
