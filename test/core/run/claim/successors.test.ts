import { describe, expect, test } from "vitest";
import { ManualClock } from "../../../../fixtures/manual-clock.ts";
import { find, put, remove } from "../../../../fixtures/protocol/claim-fixture.ts";
import { CountingStore } from "../../../../fixtures/protocol/counting-store.ts";
import { keys } from "../../../../fixtures/protocol/samples.ts";
import { createPorts, REQUESTS } from "../../../../fixtures/protocol/situations.ts";
import { NEVER, toMonotonicTime } from "../../../../src/core/base/clock.ts";
import { MemoryStore } from "../../../../src/core/etcd/memory/memory-store.ts";
import { Session } from "../../../../src/core/etcd/session/session.ts";
import { parsePastRuns } from "../../../../src/core/protocol/history.ts";
import { serializeTicket, type Ticket, toQueue } from "../../../../src/core/protocol/ticket.ts";
import { type AcquireResult, Acquisition } from "../../../../src/core/run/acquire.ts";
import { type ClaimAttempt, createClaimAttempt } from "../../../../src/core/run/attempt.ts";
import { finishClaim } from "../../../../src/core/run/finish.ts";
import type { ClaimPorts, ClaimRequest, ClaimSession } from "../../../../src/core/run/request.ts";
import { Successors } from "../../../../src/core/run/successors.ts";

const UNLIMITED = { connect: NEVER, wait: NEVER };

describe("runs of one process that wait for one lock", () => {
  test("each is granted by the release of the run directly ahead, in order, also in a long queue", async () => {
    const { runs, store } = await startQueue(20);
    for (const run of runs) {
      await run.acquired;
      expect(await listHolders(store)).toEqual([run.attempt.run]);
      store.writes = 0;
      await free(run);
      expect(store.writes, "one write frees the lock, appends to the history, and grants").toBe(1);
    }
    expect(await listHolders(store)).toEqual([]);
  });

  test("a run that has left is not granted", async () => {
    const { runs, store } = await startQueue(3);
    const [first, second, third] = runs as [QueuedRun, QueuedRun, QueuedRun];
    second.stop.abort(new Error("left"));
    await expect(second.acquired).rejects.toThrow("left");
    remove(store.etcd, second.attempt.lockKeys[0] ?? "");
    await free(first);
    await third.acquired;
    expect(await listHolders(store)).toEqual([third.attempt.run]);
  });

  test("a reset request of the successor wins over the grant", async () => {
    const { runs, store } = await startQueue(2);
    const [first, second] = runs as [QueuedRun, QueuedRun];
    const key = second.attempt.lockKeys[0] ?? "";
    const ticket = find(store.etcd, key)?.ticket as Ticket;
    const freed = free(first);
    const reset = { ...ticket, reset: { by: "op", at: 0 } };
    put(store.etcd, key, serializeTicket(reset), second.attempt.session.id);
    await freed;
    expect((await second.acquired).kind).toBe("refused");
    expect(await listHolders(store)).toEqual([]);
  });

  test("a claim of many locks and leases is freed with its history before one of many locks", async () => {
    const nameAll = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, at) => `${prefix}${at}`);
    const leases = nameAll("r", 20).map((resource) => ({ resource, count: 1, total: 1 }));
    const first = { ...REQUESTS["lock, queue"], locks: ["a", ...nameAll("first", 15)], leases };
    const second = { ...REQUESTS["lock, queue"], locks: ["a", ...nameAll("second", 15)] };
    const { runs, store } = await startQueue(2, [first, second]);
    const [before, behind] = runs as [QueuedRun, QueuedRun];
    await free(before);
    await behind.acquired;
    expect(await listHolders(store)).toEqual([behind.attempt.run]);
    const { kvs } = await store.readRange({ key: keys.history("first0") });
    expect(parsePastRuns(kvs[0]?.value).map(({ run }) => run)).toEqual([before.attempt.run]);
  });

  test("an offer is made for the ticket ahead only as it was read, and on one session", () => {
    const successors = new Successors();
    const buildGrant = () => {
      throw new Error("not offered");
    };
    const entry = successors.add({ ahead: { key: "a", createRevision: 5n }, session: 1n, buildGrant });
    expect(successors.offer({ key: "a", createRevision: 6n }, 1n)).toBeUndefined();
    expect(successors.offer({ key: "a", createRevision: 5n }, 2n)).toBeUndefined();
    expect(() => successors.offer({ key: "a", createRevision: 5n }, 1n)).toThrow("not offered");
    entry.leave();
    expect(successors.offer({ key: "a", createRevision: 5n }, 1n)).toBeUndefined();
  });
});

interface QueuedRun {
  attempt: ClaimAttempt;
  acquired: Promise<AcquireResult>;
  stop: AbortController;
}

/** Counts how often a run has begun to wait. */
class CountingSuccessors extends Successors {
  waits = 0;
  override add(...args: Parameters<Successors["add"]>) {
    this.waits += 1;
    return super.add(...args);
  }
}

/**
 * Starts runs one after the other on one session: the first holds lock a, and the others wait.
 * @param requests  of the first runs; the others want lock a
 */
async function startQueue(count: number, requests: readonly ClaimRequest[] = []) {
  const clock = new ManualClock();
  const store = new CountingStore(MemoryStore.create(clock).etcd);
  const successors = new CountingSuccessors();
  const { describeHost: _, ...ports } = { ...createPorts(clock, store), successors };
  const session = await openSharedSession(ports);
  const runs: QueuedRun[] = [];
  for (let at = 0; at < count; at += 1) {
    const attempt = createClaimAttempt(ports, requests[at] ?? REQUESTS["lock, queue"], session, {
      run: `run${1000 + at}`,
    });
    const stop = new AbortController();
    const acquired = new Acquisition(attempt, UNLIMITED, stop.signal).run();
    acquired.catch(() => {}); // some are left
    runs.push({ attempt, acquired, stop });
    if (at === 0) await acquired;
    while (successors.waits < at) await new Promise((resolve) => setImmediate(resolve));
  }
  return { runs, store };
}

/** A session that no run ends. */
async function openSharedSession(ports: ClaimPorts): Promise<ClaimSession> {
  const session = await Session.open(ports, 30, toMonotonicTime(1_000));
  session.stopRenewing();
  return Object.assign(session, { keepAlive: () => {}, end: async () => {} });
}

async function free({ acquired }: QueuedRun) {
  const result = await acquired;
  if (result.kind !== "granted") throw new Error("not granted");
  await finishClaim(result.grant, { exit: 0, reason: undefined });
}

async function listHolders(store: MemoryStore) {
  const { kvs } = await store.readRange(keys.getQueueRange("lock", "a"));
  return toQueue(kvs).flatMap(({ run, ticket }) => (ticket?.state === "held" ? [run] : []));
}
