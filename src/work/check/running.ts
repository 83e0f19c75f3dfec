import { placeOf } from "../../protocol/ticket.ts";
import type { KeyRange, KeyValue } from "../../protocol/txn.ts";
import type { ObserverPorts } from "../observe/ports.ts";
import { pulses } from "../observe/pulse.ts";
import { pages } from "../observe/read.ts";

/** Sessions that are asked for one host: any that is alive will do, and the newest are the likeliest. */
const MOST = 3;

/**
 * Which of some hosts have a run whose session is alive. A place in grace has no runner any more.
 * @param hosts  by the names that `nameOf` makes of tickets' hosts
 */
export async function runningHosts(
  ports: ObserverPorts,
  hosts: ReadonlySet<string>,
  nameOf: (host: string) => string,
  signal: AbortSignal,
): Promise<Set<string>> {
  if (hosts.size === 0) return new Set();
  const sessions = new Map<string, bigint[]>();
  const rooms: readonly Required<KeyRange>[] = [ports.keys.locks(), ports.keys.resources()];
  for (const room of rooms) {
    for await (const page of pages(ports, room, { signal })) note(page.kvs, hosts, nameOf, sessions);
  }
  const found = await pulses(ports, [...sessions.values()].flat(), signal);
  const isAlive = (id: bigint) => (found.get(id)?.left ?? 0) > 0;
  return new Set([...sessions].flatMap(([host, ids]) => (ids.some(isAlive) ? [host] : [])));
}

function note(
  kvs: readonly KeyValue[],
  hosts: ReadonlySet<string>,
  nameOf: (host: string) => string,
  sessions: Map<string, bigint[]>,
): void {
  for (const { ticket, session } of kvs.map(placeOf)) {
    if (ticket === undefined || ticket.state === "grace" || session === 0n) continue;
    const host = nameOf(ticket.host);
    if (!hosts.has(host)) continue;
    const known = sessions.get(host) ?? [];
    if (!known.includes(session)) sessions.set(host, [session, ...known].slice(0, MOST));
  }
}
