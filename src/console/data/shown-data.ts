import type { Snapshot } from "../../model/snapshot/snapshot.ts";
import type { ClusterHealth, ConnectionState } from "./connection-state.ts";

/** What the console shows: the live state of etcd, or that of a past revision. */
export interface ShownData {
  /** The same object as long as nothing changed. */
  readonly snapshot: Snapshot;
  readonly clusterHealth: ClusterHealth | undefined;
  /** Whether anything was ever read. Before that the snapshot is empty, even if etcd is not. */
  readonly hasRead: boolean;
  readonly connection: ConnectionState;
  /** Set if the state is a past one. */
  readonly past?: PastMoment | undefined;
  /** Reads everything again. */
  reread(): void;
  /** Takes all received changes into the snapshot now. */
  catchUp(): void;
}

/** A past moment, and how exactly it is known. */
export interface PastMoment {
  revision: bigint;
  /** The time that the screen is about, ms since the epoch. */
  at: number;
  /** Times of the last change before it, and of the first one after it, as far as they are known. */
  from: number | undefined;
  until: number | undefined;
}
