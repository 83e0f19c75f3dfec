import { canonicalizeHost } from "../../core/base/text.ts";
import { computeQueueTally, findHostResource } from "../../site/state/shares.ts";
import { findNamedQueue, type Snapshot } from "../../site/state/snapshot.ts";

/** Says which processes of a host have different macros, and what follows. @param name  a resource whose total they dispute */
export function formatMacroDispute(snapshot: Snapshot, name: string): string {
  const { host = "", formula = "" } = findHostResource(snapshot, name) ?? {};
  const queue = findNamedQueue(snapshot, "resource", name);
  const { run, ticket } = (queue && computeQueueTally(queue).last) ?? {};
  const isHere = (other: { host: string } | undefined) => canonicalizeHost(other?.host ?? "") === host;
  const isTask = [...snapshot.executions.values()].flat().some(({ value }) => value?.run === run);
  const hasWorker = [...snapshot.workers.values()].some(({ value }) => isHere(value));
  const hasAgent = [...snapshot.agentSessions.values()].some(isHere);
  const who = isTask || hasWorker ? "run and worker" : hasAgent ? "run and agent" : "two processes";
  return `${who} of this host have different macros: the last ticket states ${ticket?.total}, the host record gives ${formula}`;
}
