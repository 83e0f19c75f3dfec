import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "../../src/core/etcd/store.ts";
import { createKeys } from "../../src/core/protocol/keys.ts";
import { serializeTicket } from "../../src/core/protocol/ticket.ts";
import type { Op } from "../../src/core/protocol/txn.ts";

const keys = createKeys("/signalbox/");
/** Maximum number of transactions per second. A higher load uses larger transactions. */
const TRANSACTIONS = 100;
const SESSION = 78n;
/** Time to live of the session, s. */
const TTL = 3_600;
/** How often it is renewed, ms. */
const RENEW_EVERY = 600_000;

export interface ConsoleLoad {
  /** Time at which each revision was written: `performance.now()`, ms. */
  writtenAt: Map<bigint, number>;
  /** Number of events written so far. */
  events: number;
  stop(): Promise<void>;
}

/** Adds and removes waiters in the queues of the first `locks` locks until it is stopped. @param perSecond  changes per second */
export async function startLoad(store: Store, locks: number, perSecond: number): Promise<ConsoleLoad> {
  await store.grant(SESSION, TTL);
  const renewing = setInterval(() => void store.renew(SESSION), RENEW_EVERY);
  const size = Math.ceil(perSecond / TRANSACTIONS);
  const every = (1000 * size) / perSecond;
  const load = { writtenAt: new Map<bigint, number>(), events: 0 };
  let isOver = false;
  const flow = (async () => {
    const start = performance.now();
    const onTheirWay = new Set<Promise<void>>();
    for (let turn = 0; !isOver; turn += 1) {
      const success = Array.from({ length: size }, (_, index) => createChange(turn * size + index, locks));
      const done = store.commitTxn({ compare: [], success, failure: [] }).then(({ revision }) => {
        load.writtenAt.set(revision, performance.now());
        load.events += size;
      });
      onTheirWay.add(done);
      void done.then(() => onTheirWay.delete(done));
      await pause(Math.max(0, start + (turn + 1) * every - performance.now()));
    }
    await Promise.all(onTheirWay);
    clearInterval(renewing);
    await store.revoke(SESSION);
  })();
  return Object.assign(load, {
    stop: async () => {
      isOver = true;
      await flow;
    },
  });
}

/** Creates change number `number`. Even rounds over all locks add a waiter to each; odd rounds remove it. */
function createChange(number: number, locks: number): Op {
  const lock = (number * 7919) % locks;
  const turn = Math.floor(number / locks);
  const round = Math.floor(turn / 2);
  const run = `z${round.toString(36).padStart(5, "0")}${lock.toString(36).padStart(10, "0")}`;
  const key = keys.lock(`lock-${lock}`, run);
  if (turn % 2 === 1) return { op: "delete", key };
  const value = serializeTicket({
    run,
    host: "web1.example.com",
    pid: 4242,
    user: "ops",
    count: 1,
    total: 1,
    command: "invoices.sh",
    enqueuedAt: Date.now(),
    state: "waiting" as const,
  });
  return { op: "put", key, session: SESSION, value };
}
