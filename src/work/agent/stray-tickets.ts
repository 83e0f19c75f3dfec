import { deleteEntries, guardOwned } from "../../protocol/guards.ts";
import type { Keys } from "../../protocol/keys.ts";
import { type QueueEntry, toQueueEntry } from "../../protocol/ticket.ts";
import type { Op, Txn } from "../../protocol/txn.ts";
import type { SharedSession } from "./shared-session.ts";

/** Tickets in one transaction: with guards, fewer than etcd's 128 operations. */
const CHUNK = 30;

/**
 * Removes the tickets of a session that belong to no run of this agent. A late copy of a claim can put one after its run
 * has left, and after a takeover there are those of runs that nobody has reported. A run whose tickets are about to be
 * removed is never resumed afterwards.
 * @returns whether none is left
 */
export async function removeStrayTickets(shared: SharedSession): Promise<boolean> {
  const { ports, session } = shared;
  const keys = await ports.store.listSessionKeys(session.id, session.signal);
  const isOfStray = (key: string) => {
    const run = findRun(shared, key);
    return run !== undefined && !shared.hasRun(run);
  };
  const strays = keys.filter(isOfStray);
  if (strays.length === 0) return true;
  if (ports.clock.now() < shared.sweepFrom) return false;
  let isDone = true;
  for (let at = 0; at < strays.length; at += CHUNK) {
    // A run may have been resumed since. The check and the refusal to resume it are one step.
    const chunk = strays.slice(at, at + CHUNK).filter(isOfStray);
    for (const key of chunk) shared.condemn(findRun(shared, key) ?? "");
    const removable = await filterEnded(shared, chunk);
    isDone &&= removable.length === chunk.length;
    await removeTickets(shared, removable);
  }
  return isDone;
}

function findRun({ ports }: SharedSession, key: string): string | undefined {
  const parsed = ports.keys.parse(key);
  return parsed.kind === "lock" || parsed.kind === "resource" ? parsed.run : undefined;
}

/** After a takeover, a command of the run may live although no guardian has reported it: it is killed first. */
async function filterEnded(shared: SharedSession, keys: readonly string[]): Promise<string[]> {
  if (!shared.isTakenOver) return [...keys];
  const ended: string[] = [];
  for (const key of keys) {
    if (await shared.ports.killRun(findRun(shared, key) ?? "")) ended.push(key);
  }
  return ended;
}

async function removeTickets(shared: SharedSession, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const { store, session, ports } = shared;
  const reads = keys.map((key): Op => ({ op: "range", key }));
  const { results } = await store.commitTxn({ compare: [], success: reads, failure: [] }, session.signal);
  const found = results.flatMap((result) => (result.op === "range" ? result.kvs.map(toQueueEntry) : []));
  const own = found.filter((entry) => entry.session === session.id);
  if (own.length === 0) return;
  ports.log.warn("removing tickets of runs that nobody has reported", {
    runs: own.map(({ run }) => run).join(","),
  });
  const success = own.map((entry): Op => ({ op: "txn", txn: buildRemoval(ports.keys, entry) }));
  await store.commitTxn({ compare: [], success, failure: [] }, session.signal);
}

function buildRemoval(keys: Keys, entry: QueueEntry): Txn {
  return { compare: guardOwned([entry]), success: deleteEntries(keys, [entry]), failure: [] };
}
