import { addMs } from "../base/clock.ts";
import { quoteText } from "../base/text.ts";
import { retryUnavailable } from "../etcd/store.ts";
import { type ConditionReading, describeUnmet } from "../fleet/conditions.ts";
import { type Queue, toQueue } from "../protocol/ticket.ts";
import { listKeyValues, type Op } from "../protocol/txn.ts";
import { describeDrain, describeQueueEntry } from "./decide.ts";
import {
  buildInputReads,
  type ClaimEligibility,
  computeEligibility,
  parseClaimInputs,
} from "./eligibility.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";

/** The leases that a run would get now, and the obstacles. */
export interface ClaimPreview {
  revision: bigint;
  /** The conditions on this host as it is now. */
  conditions: readonly ConditionReading[];
  leases: readonly {
    resource: string;
    count: number;
    total: number;
    /** Units that are neither held nor waited for. */
    free: number;
  }[];
  /** `granted` at once, `waits` in a queue, or `refused`. */
  verdict: "granted" | "waits" | "refused";
  obstacles: readonly string[];
}

/** Reads the state of a claim without writing. @throws ConfigError when the claim can never be granted, StoreError */
export async function previewClaim(ports: ClaimPorts, request: ClaimRequest): Promise<ClaimPreview> {
  const inputReads = buildInputReads(ports.keys, request);
  const names = [
    ...request.locks.map((name) => ({ kind: "lock" as const, name })),
    ...request.leases.map(({ resource }) => ({ kind: "resource" as const, name: resource })),
  ];
  const queues = names.map(
    ({ kind, name }): Op => ({ op: "range", ...ports.keys.getQueueRange(kind, name) }),
  );
  const txn = { compare: [], success: [...inputReads, ...queues], failure: [] };
  const until = addMs(ports.clock.now(), request.connectTimeout);
  const answer = await retryUnavailable(ports, until, (call) => ports.store.commitTxn(txn, call));
  const read = answer.results.slice(inputReads.length).map((result) => toQueue(listKeyValues(result)));
  const lockQueues = read.splice(0, request.locks.length);
  const inputs = parseClaimInputs(ports.keys, answer.revision, answer.results.slice(0, inputReads.length));
  const eligibility = computeEligibility(ports, request, inputs, ports.clock.getWallTime());
  const conditions = request.conditions?.read() ?? [];
  return {
    revision: answer.revision,
    conditions,
    ...buildPreview({ request, eligibility, conditions }, lockQueues, read),
  };
}

/** The inputs of the preview besides the queues. */
interface PreviewInputs extends Pick<ClaimPreview, "conditions"> {
  request: ClaimRequest;
  eligibility: ClaimEligibility;
}

function buildPreview(
  { request, eligibility, conditions }: PreviewInputs,
  lockQueues: readonly Queue[],
  queues: readonly Queue[],
): Omit<ClaimPreview, "revision" | "conditions"> {
  if (eligibility.kind === "outside") {
    const why = `host ${quoteText(request.identity.host)} is not in group ${quoteText(eligibility.group)}`;
    return { leases: [], verdict: "refused", obstacles: [why] };
  }
  const drains = eligibility.kind === "drained" ? eligibility.drains.map(describeDrain) : [];
  const locks = lockQueues.flatMap((queue, index) => {
    const head = queue.find(({ ticket }) => !(request.isShared && ticket?.shared));
    return head === undefined
      ? []
      : [`lock ${quoteText(request.locks[index] ?? "")} is ${describeQueueEntry(head)}`];
  });
  const leases = computeLeases(eligibility, queues);
  const short = leases.filter(({ count, free }) => count > free).map(describeShortage);
  const unmet = conditions.filter(({ holds }) => !holds).map(describeUnmet);
  const stops = [...unmet, ...drains, ...locks];
  const verdict = stops.length === 0 ? (short.length === 0 ? "granted" : "waits") : "refused";
  return {
    leases,
    verdict: verdict === "refused" && request.waitLimits.queues ? "waits" : verdict,
    obstacles: [...stops, ...short],
  };
}

/** Subtracts the units of every ticket in the queue: those that wait come first too. */
function computeLeases(eligibility: ClaimEligibility, queues: readonly Queue[]): ClaimPreview["leases"] {
  if (eligibility.kind !== "open") return [];
  return eligibility.totals.map(({ lease, total }, index) => {
    const taken = (queues[index] ?? []).reduce((sum, { ticket }) => sum + (ticket?.count ?? total), 0);
    return { resource: lease.resource, count: lease.count, total, free: Math.max(0, total - taken) };
  });
}

function describeShortage({ resource, count, total, free }: ClaimPreview["leases"][number]): string {
  return `resource ${quoteText(resource)}: ${count} asked for, ${free} of ${total} neither held nor waited for`;
}
