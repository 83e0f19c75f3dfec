import { quoted } from "../../base/text.ts";
import { persist } from "../../etcd/persist.ts";
import { type Queue, queueOf } from "../../protocol/ticket.ts";
import type { Op } from "../../protocol/txn.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";
import { type Outlook, outlook, situationFrom, situationReads } from "./situation.ts";
import { describeDrain, describePlace } from "./wake.ts";

/** What a run would claim now, and what stands in its way. */
export interface Preview {
  revision: bigint;
  leases: readonly { resource: string; count: number; total: number; free: number }[];
  /** `granted` at once, `waits` in a queue, or `refused`. */
  verdict: "granted" | "waits" | "refused";
  obstacles: readonly string[];
}

/** Reads, and writes nothing. @throws ConfigError where the claim could never be granted, StoreError */
export async function preview(ports: ClaimPorts, request: ClaimRequest): Promise<Preview> {
  const situation = situationReads(ports.keys, request);
  const names = [
    ...(request.lock === undefined ? [] : [{ kind: "lock" as const, name: request.lock }]),
    ...request.leases.map(({ resource }) => ({ kind: "resource" as const, name: resource })),
  ];
  const queues = names.map(({ kind, name }): Op => ({ op: "range", ...ports.keys.queue(kind, name) }));
  const txn = { compare: [], success: [...situation, ...queues], failure: [] };
  const until = ports.clock.now() + request.connectTimeout;
  const answer = await persist(ports, until, (call) => ports.store.txn(txn, call));
  const read = answer.results
    .slice(situation.length)
    .map((one) => queueOf(one.op === "range" ? one.kvs : []));
  const lockQueue = request.lock === undefined ? [] : (read.shift() ?? []);
  const facts = situationFrom(ports.keys, answer.revision, answer.results.slice(0, situation.length));
  const prospect = outlook(ports, request, facts, ports.clock.wall());
  return { revision: answer.revision, ...judged(request, prospect, lockQueue, read) };
}

function judged(
  request: ClaimRequest,
  prospect: Outlook,
  lockQueue: Queue,
  queues: readonly Queue[],
): Omit<Preview, "revision"> {
  if (prospect.kind === "outside") {
    const why = `host ${quoted(request.identity.host)} is not in group ${quoted(prospect.group)}`;
    return { leases: [], verdict: "refused", obstacles: [why] };
  }
  const [head] = lockQueue;
  const drains = prospect.kind === "drained" ? prospect.drains.map(describeDrain) : [];
  const lock = head === undefined ? [] : [`lock ${quoted(request.lock ?? "")} is ${describePlace(head)}`];
  const leases = leasesOf(prospect, queues);
  const short = leases.filter(({ count, free }) => count > free).map(describeShortage);
  const stops = [...drains, ...lock];
  const verdict = stops.length === 0 ? (short.length === 0 ? "granted" : "waits") : "refused";
  return {
    leases,
    verdict: verdict === "refused" && request.patience.queues ? "waits" : verdict,
    obstacles: [...stops, ...short],
  };
}

/** Those in the queue come first, whether they hold yet or not. */
function leasesOf(prospect: Outlook, queues: readonly Queue[]): Preview["leases"] {
  if (prospect.kind !== "open") return [];
  return prospect.totals.map(({ lease, total }, index) => {
    const taken = (queues[index] ?? []).reduce((sum, { ticket }) => sum + (ticket?.count ?? total), 0);
    return { resource: lease.resource, count: lease.count, total, free: Math.max(0, total - taken) };
  });
}

function describeShortage({ resource, count, total, free }: Preview["leases"][number]): string {
  return `resource ${quoted(resource)}: ${count} asked for, ${free} of ${total} free`;
}
