import { StoreError } from "../../etcd/store.ts";
import { type ClusterSummary, ClusterSummaryReader } from "./cluster-summary.ts";
import type { ObserverPorts } from "./ports.ts";
import { type ProbeAnswer, probeEtcd } from "./probe.ts";

/** Pause after an answer, ms. An outage is therefore detected at most 2.5 s after it begins. */
const EVERY = 1_000;

export type EtcdHealth =
  /** The cluster answers. `up`, `total` and `leader` are from the last read of the members. */
  | ({ kind: "answer" } & ProbeAnswer & ClusterSummary)
  /**
   * The cluster does not answer, or refuses; `since` is when the first failed call began, wall clock, ms since the
   * epoch.
   */
  | { kind: "silence"; since: number; error: StoreError };

/**
 * Reports about once a second whether etcd answers, until the caller stops. Each answer comes from a linearizable read
 * (see `probeEtcd`), so it proves that a majority of the cluster is available. A frozen member, a connection that drops
 * everything, and a minority that still serves its own data count as silence. The members are counted in parallel, so a
 * frozen member delays no report.
 * @throws the signal's reason, nothing else
 */
export async function* watchEtcdHealth(
  ports: ObserverPorts,
  signal: AbortSignal,
): AsyncGenerator<EtcdHealth, never> {
  const { clock } = ports;
  const summaries = new ClusterSummaryReader(ports);
  for (let since: number | undefined; ; ) {
    const start = clock.getWallTime();
    const counting = summaries.readLatest(signal);
    try {
      const answer = await probeEtcd(ports, signal);
      since = undefined;
      yield { kind: "answer", ...answer, ...(await counting) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof StoreError)) throw error;
      since ??= start;
      yield { kind: "silence", since, error };
    }
    await clock.sleep(EVERY, signal);
  }
}
