import type { Snapshot } from "../../model/snapshot/snapshot.ts";
import type { ConnectionState } from "./connection-state.ts";
import type { PastMoment, ShownData } from "./shown-data.ts";

/** Shows the state of etcd at a past revision. It never changes, and nothing can be changed through it. */
export class PastView implements ShownData {
  readonly snapshot: Snapshot;
  readonly past: PastMoment;
  readonly hasRead = true;
  readonly clusterHealth = undefined;
  readonly connection: ConnectionState;

  constructor(snapshot: Snapshot, past: PastMoment) {
    this.snapshot = snapshot;
    this.past = past;
    this.connection = { kind: "past", since: past.at, fault: undefined };
  }

  reread(): void {}

  catchUp(): void {}
}
