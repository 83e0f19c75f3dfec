/** How far what is shown can be trusted. */
export interface Standing {
  /**
   * `opening`: nothing was read yet. `live`: etcd answers, and what is shown is what is. `away`: it does not; what was read
   * last stays. `refused`: it answers, and lets us read no more.
   */
  kind: "opening" | "live" | "away" | "refused";
  /** Wall clock, ms since the epoch, since when it is so. */
  since: number;
  /** What etcd or the network says, where it is not live. */
  fault: string | undefined;
}

/** What the cluster says of itself. */
export interface Pulse {
  /** Round trip of a linearizable question, ms. */
  ms: number;
  leader: string | undefined;
  up: number;
  total: number;
  version: string | undefined;
}

/** Whether anything may be changed from what is shown. */
export function isLive({ kind }: Standing): boolean {
  return kind === "live";
}
