/** Sample queues, few or many. */

import { readFileSync } from "node:fs";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { grantOnce } from "../../../src/core/etcd/session/session.ts";
import { serializeTicket, type Ticket } from "../../../src/core/protocol/ticket.ts";
import { ticketWith } from "../../core/protocol/samples.ts";

export const TERMINAL = { terminal: { columns: 80, rows: 24 } };

/** A lock that is held and waited for, units of a resource that are waited for. @param more  options of the holder */
export async function startSampleQueues({ jobs }: TestNamespace, ...more: string[]): Promise<void> {
  const hold = ["until", "/nonexistent"];
  await jobs.startHolder({ name: "one", options: ["--lock", "x", "--lease", "db=2:3", ...more] });
  await Promise.all([
    jobs.startWaiter({ name: "two", options: "--lock x --wait", hold }),
    jobs.startWaiter({ name: "three", options: "--no-lock --lease db=2:3", hold }),
  ]);
}

/** The last of a chain of processes: the program behind `script` and its shell. */
export function findInnermostProcess(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  return child === undefined ? pid : findInnermostProcess(Number(child));
}

/** Holds a lock without a run, on no session. */
export async function holdLock(
  namespace: TestNamespace,
  lock: string,
  ticket: Partial<Ticket> = {},
): Promise<void> {
  const run = lock.replaceAll(/\W/g, "").padEnd(16, "0").slice(0, 16);
  const value = serializeTicket(ticketWith({ run, state: "held", ...ticket }));
  await namespace.put(namespace.keys.lock(lock, run), value);
}

/** Puts a ticket without a run, on a session that lives on. @returns its key */
export async function queueTicket(
  { keys, store }: TestNamespace,
  lock: string,
  ticket: Partial<Ticket> & Pick<Ticket, "run">,
): Promise<string> {
  const session = BigInt(Math.floor(Math.random() * 2 ** 52));
  await grantOnce(store, session, 600);
  const key = keys.lock(lock, ticket.run);
  const put = { op: "put", key, value: serializeTicket(ticketWith(ticket)), session } as const;
  await store.commitTxn({ compare: [], success: [put], failure: [] });
  return key;
}

/** Tickets of many runs, written by hand. */
export async function putTickets(
  namespace: TestNamespace,
  locks: number,
  waiters: number,
  label = "",
): Promise<void> {
  const puts = Array.from({ length: locks * (1 + waiters) }, (_, index) => {
    const run = index.toString(36).padStart(16, "0");
    const state = index % (1 + waiters) === 0 ? "held" : "waiting";
    const key = namespace.keys.lock(`lock ${Math.floor(index / (1 + waiters))}`, run);
    return {
      op: "put" as const,
      key,
      value: serializeTicket(ticketWith({ run, state, ...(label && { label }) })),
    };
  });
  const batches = Array.from({ length: Math.ceil(puts.length / 120) }, (_, at) =>
    puts.slice(at * 120, (at + 1) * 120),
  );
  const work = async () => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift())
      await namespace.write(...batch);
  };
  await Promise.all(Array.from({ length: 8 }, work));
}
