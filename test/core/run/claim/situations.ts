/** Requests, attempts and views for tables of cases, written as short texts. */

import { randomBytes } from "node:crypto";
import { toMonotonicTime } from "../../../../src/core/base/clock.ts";
import { silentLog } from "../../../../src/core/base/log.ts";
import { MemoryStore } from "../../../../src/core/etcd/memory/memory-store.ts";
import { Session } from "../../../../src/core/etcd/session/session.ts";
import type { Drain } from "../../../../src/core/protocol/drain.ts";
import { DRAIN_ALL, type DrainScope } from "../../../../src/core/protocol/keys.ts";
import type { QueueEntry, Ticket } from "../../../../src/core/protocol/ticket.ts";
import type { ClaimAttempt } from "../../../../src/core/run/attempt.ts";
import type { ClaimView, ResourceQueueView } from "../../../../src/core/run/claim-view.ts";
import type { ClaimPorts, ClaimRequest } from "../../../../src/core/run/request.ts";
import { ManualClock } from "../../etcd/manual-clock.ts";
import { createQueueEntry, keys } from "../../protocol/samples.ts";

export const RUN = "0wn0wn0wn0wn0wn0";
export const HOST = "web1.example.com";
/** Wall clock of all cases, ms. A ticket in grace ends at 900 (`over`) or 1100 (`grace`). */
export const WALL = 1_000;
export const LOCK_KEY = keys.lock("a", RUN);
export const DB_KEY = keys.resource("db", RUN);

/** Ports over an etcd of their own. A stored total is a number. */
export function createPorts(clock = new ManualClock(), store = MemoryStore.create(clock)) {
  const random = { generateBytes: (n: number) => randomBytes(n), generateFraction: () => 0.5 };
  const evaluateTotal = (text: string) => (text === "" ? undefined : Number(text));
  const ports = { store, keys, clock, random, log: silentLog, evaluateTotal, describeHost: () => "{}" };
  return ports satisfies ClaimPorts;
}

const db = { resource: "db", count: 2, total: 4 };
const now = { queues: false };
const queueing = { queues: true };

/** What is asked for: lock a, two of four units of db, or both; at once, or in a queue. */
export const REQUESTS = {
  lock: createRequest({ locks: ["a"], waitLimits: now }),
  "lock, queue": createRequest({ locks: ["a"], waitLimits: queueing }),
  "lock, group": createRequest({ locks: ["a"], waitLimits: now, group: "web" }),
  shared: createRequest({ locks: ["a"], isShared: true, waitLimits: now }),
  "shared, queue": createRequest({ locks: ["a"], isShared: true, waitLimits: queueing }),
  locks: createRequest({ locks: ["a", "b"], waitLimits: now }),
  "locks, queue": createRequest({ locks: ["a", "b"], waitLimits: queueing }),
  "locks, lease": createRequest({ locks: ["a", "b"], leases: [db], waitLimits: queueing }),
  "shared, both": createRequest({ locks: ["a"], isShared: true, leases: [db], waitLimits: now }),
  lease: createRequest({ leases: [db], waitLimits: queueing }),
  both: createRequest({ locks: ["a"], leases: [db], waitLimits: now }),
  "both, queue": createRequest({ locks: ["a"], leases: [db], waitLimits: queueing }),
} as const;
export type RequestName = keyof typeof REQUESTS;

export function createRequest(more: Partial<ClaimRequest>): ClaimRequest {
  return {
    locks: [],
    leases: [],
    waitLimits: now,
    history: true,
    ttl: 30,
    terminationTimeout: 2_000,
    connectTimeout: 1_000,
    identity: { host: HOST, pid: 1, user: "op", command: "job" },
    ...more,
  };
}

/** An attempt with a session in the etcd of the ports. */
export async function createAttempt(ports: ClaimPorts, request: ClaimRequest): Promise<ClaimAttempt> {
  const session = await Session.open(ports, request.ttl, toMonotonicTime(1_000));
  session.stopRenewing();
  return {
    ports,
    request,
    run: RUN,
    session,
    number: undefined,
    enqueuedAt: 0,
    lockKeys: request.locks.map((lock) => keys.lock(lock, RUN)),
    resourceKeys: request.leases.map(({ resource }) => keys.resource(resource, RUN)),
  };
}

/** A case as text; see the functions below. Everything may be left out. */
export interface Situation {
  /** Own tickets: `a:waiting@5 db:held@6`. State `broken` cannot be parsed, `reset` waits and was reset. */
  own?: string;
  /** Others in the lock's queue: `held`, `over` (a grace that has passed), `grace`, `waiting`; `+held` shares the lock. */
  ahead?: string;
  /** The same of the queue of lock b, for requests of both locks. */
  aheadOfB?: string;
  /** Whether there are others before these. */
  hasMoreAhead?: boolean;
  /** How much of db's queue was read, and its entries: `head held:3 *`; `*` is the own one. */
  queue?: string;
  /** `lock:a host:web1.example.com all ended`; `ended` is a drain of all that is over. */
  drains?: string;
  /** Members of group web. */
  members?: string;
}

export function createView(situation: Situation): ClaimView {
  const own = new Map(
    splitWords(situation.own)
      .map(createOwnEntry)
      .map((entry) => [entry.key, entry]),
  );
  const buildLockQueue = (lock: string, ahead: string | undefined) => {
    const key = keys.lock(lock, RUN);
    const others = splitWords(ahead).map((state, at) => createOther(keys.lock(lock, nameRun(at)), state, at));
    const queue = [...others, ...listOf(own.get(key))];
    return [key, { queue, hasMoreAhead: situation.hasMoreAhead ?? false, isAheadKnown: true }] as const;
  };
  const { aheadOfB } = situation;
  return {
    revision: 50n,
    own,
    removals: new Map(),
    host: undefined,
    inputs: {
      revision: 50n,
      config: new Map(),
      newerSchemas: [],
      drains: splitWords(situation.drains).map(createDrain),
      groups: new Map(situation.members === undefined ? [] : [["web", splitWords(situation.members)]]),
    },
    lockQueues: new Map([
      buildLockQueue("a", situation.ahead),
      ...(aheadOfB === undefined ? [] : [buildLockQueue("b", aheadOfB)]),
    ]),
    resourceQueues: new Map(situation.queue === undefined ? [] : [["db", createQueue(situation.queue, own)]]),
  };
}

function createOwnEntry(word: string): QueueEntry {
  const [, name = "", state = "", at = "5"] = /^(\w+):(\+?\w+)(?:@(\d+))?$/.exec(word) ?? [];
  const isLock = name.length === 1;
  const key = isLock ? keys.lock(name, RUN) : keys.resource(name, RUN);
  const units = isLock ? { count: 1, total: 1 } : { count: 2, total: 4 };
  return createEntry(key, RUN, Number(at), state, units);
}

function createOther(key: string, state: string, at: number, count = 1): QueueEntry {
  return createEntry(key, nameRun(at), at + 1, state, { count, total: 4 });
}

function createEntry(
  key: string,
  run: string,
  at: number,
  state: string,
  units: Partial<Ticket>,
): QueueEntry {
  const ticket = state === "broken" ? undefined : { ...units, ...toTicketState(state) };
  return { ...createQueueEntry(run, at, ticket), key, modRevision: BigInt(at + 10) };
}

function toTicketState(state: string): Partial<Ticket> {
  if (state.startsWith("+")) return { shared: true, ...toTicketState(state.slice(1)) };
  if (state === "over") return { state: "grace", until: 900 };
  if (state === "grace") return { state: "grace", until: 1_100 };
  if (state === "reset") return { state: "waiting", reset: { by: "op", at: 1 } };
  return { state: state as Ticket["state"] };
}

function createQueue(text: string, own: ReadonlyMap<string, QueueEntry>): ResourceQueueView {
  const [reach, ...words] = text.split(" ");
  const queue = words.flatMap((word, at): QueueEntry[] => {
    if (word === "*") return listOf(own.get(DB_KEY));
    const [state = "", count] = word.split(":");
    return [createOther(keys.resource("db", nameRun(at)), state, at, Number(count))];
  });
  return { reach: reach as ResourceQueueView["reach"], queue, ahead: queue[words.indexOf("*") - 1] };
}

function createDrain(word: string): Drain {
  const [scope = "", name = DRAIN_ALL] = word === "ended" ? ["all"] : word.split(":");
  const end = word === "ended" ? { until: WALL } : {};
  const target = { scope: scope as DrainScope, name };
  return { ...target, key: keys.drain(target.scope, name), by: "op", at: 1, modRevision: 3n, ...end };
}

const listOf = <T>(item: T | undefined) => (item === undefined ? [] : [item]);
const nameRun = (at: number) => `${at}`.padStart(16, "0");
const splitWords = (text = "") => text.split(" ").filter((word) => word !== "");
