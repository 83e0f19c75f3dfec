import { type MemberMetrics, readMemberMetrics } from "../etcd/member-metrics.ts";
import type { StoreOptions } from "../etcd/options.ts";
import { type MemberStatus, StoreError } from "../etcd/store.ts";
import type { ClusterMember } from "../protocol/member.ts";
import type { ObserverPorts } from "./ports.ts";

/** The members of a cluster, as far as they could be read. */
export interface ClusterReading {
  /** The members of the cluster, as one of them knows them, or why no member says it. */
  roster: readonly ClusterMember[] | StoreError;
  /** One for each endpoint. */
  statuses: readonly MemberStatus[];
  /** What members publish outside the API, by endpoint. */
  metrics: ReadonlyMap<string, MemberMetrics>;
}

/**
 * Asks all members at the same time. A member that does not answer delays the result by the timeout of an attempt, and does
 * not make it fail.
 * @throws the signal's reason
 */
export async function readCluster(
  { store, clock }: Pick<ObserverPorts, "store" | "clock">,
  { tls }: Pick<StoreOptions, "tls">,
  signal: AbortSignal,
): Promise<ClusterReading> {
  const [statuses, roster] = await Promise.all([
    store.readMemberStatuses(signal),
    store.listMembers(signal).catch((error: unknown) => {
      signal.throwIfAborted();
      if (error instanceof StoreError) return error;
      throw error;
    }),
  ]);
  const present = statuses.filter((status) => status.ok || status.error.kind !== "unavailable");
  const metrics = await Promise.all(
    present.map(
      async ({ endpoint }) =>
        [endpoint, await readMemberMetrics(endpoint, tls, clock.getWallTime, signal)] as const,
    ),
  );
  return { roster, statuses, metrics: new Map(metrics) };
}
