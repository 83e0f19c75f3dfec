/** Whether the displayed data can be trusted. */
export interface ConnectionState {
  /**
   * `opening`: nothing was read yet. `live`: etcd answers, and the data is current. `away`: etcd does not answer; the
   * data last read stays. `refused`: etcd answers, but does not allow reading. `past`: the data is that of a past time.
   */
  kind: "opening" | "live" | "away" | "refused" | "past";
  /** Start of this state, wall clock, ms since the epoch. */
  since: number;
  /** The error from etcd or the network, if the state is not live. */
  fault: string | undefined;
}

/** The status of the etcd cluster. */
export interface ClusterHealth {
  /** Round trip of a linearizable request, ms. */
  ms: number;
  leader: string | undefined;
  up: number;
  total: number;
  version: string | undefined;
}

/** Whether the data is current, so that changes are allowed. */
export function isLive({ kind }: ConnectionState): boolean {
  return kind === "live";
}
