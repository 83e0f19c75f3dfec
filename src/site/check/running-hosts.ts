import { canonicalizeHost } from "../../core/base/text.ts";
import { toQueueEntry } from "../../core/protocol/ticket.ts";
import type { KeyValue } from "../../core/protocol/txn.ts";
import type { ObserverPorts } from "../observe/ports.ts";
import { readPages } from "../observe/read.ts";
import { readSessionLiveness } from "../observe/runner-liveness.ts";

/** Sessions to check for one host: one live session is enough, and the newest are the most likely to be alive. */
const MAX_SESSIONS_PER_HOST = 3;

/**
 * Finds the hosts that have a run with a live session. Tickets in grace do not count: they have no runner.
 * @param hosts  canonical names
 */
export async function findRunningHosts(
  ports: ObserverPorts,
  hosts: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Set<string>> {
  if (hosts.size === 0) return new Set();
  const sessions = new Map<string, bigint[]>();
  for (const room of [ports.keys.locks(), ports.keys.resources()]) {
    for await (const page of readPages(ports, room, { signal })) collectSessions(page.kvs, hosts, sessions);
  }
  const found = await readSessionLiveness(ports, [...sessions.values()].flat(), signal);
  const isAlive = (id: bigint) => (found.get(id)?.left ?? 0) > 0;
  return new Set([...sessions].flatMap(([host, ids]) => (ids.some(isAlive) ? [host] : [])));
}

function collectSessions(
  kvs: readonly KeyValue[],
  hosts: ReadonlySet<string>,
  sessions: Map<string, bigint[]>,
): void {
  for (const { ticket, session } of kvs.map(toQueueEntry)) {
    if (ticket === undefined || ticket.state === "grace" || session === 0n) continue;
    const host = canonicalizeHost(ticket.host);
    if (!hosts.has(host)) continue;
    const known = sessions.get(host) ?? [];
    if (!known.includes(session)) sessions.set(host, [session, ...known].slice(0, MAX_SESSIONS_PER_HOST));
  }
}
