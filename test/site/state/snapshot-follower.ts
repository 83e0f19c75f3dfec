import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { SNAPSHOT_COLLECTIONS, type Snapshot } from "../../../src/site/state/snapshot.ts";
import { SnapshotBuilder } from "../../../src/site/state/snapshot-builder.ts";
import { keys } from "../../core/protocol/samples.ts";

/** Builds snapshots that follow each other, as one who follows etcd does. */
export class SnapshotFollower {
  readonly #builder = new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS);
  readonly #known = new Map<string, KeyValue>();
  #revision = 100n;

  constructor(...kvs: readonly KeyValue[]) {
    this.read(...kvs);
  }

  get snapshot(): Snapshot {
    return this.#builder.getSnapshot();
  }

  /** Reads everything anew. A key keeps its revision if its value is as before. */
  read(...kvs: readonly KeyValue[]): Snapshot {
    this.#revision += 1n;
    this.#builder.begin();
    for (const kv of kvs) {
      const known = this.#known.get(kv.key);
      const current = known?.value === kv.value ? known : { ...kv, modRevision: this.#revision };
      this.#known.set(kv.key, current);
      this.#builder.add(current);
    }
    this.#builder.finish(this.#revision);
    return this.snapshot;
  }

  put(...kvs: readonly KeyValue[]): Snapshot {
    this.#revision += 1n;
    const events = kvs.map((kv) => ({ type: "put", kv: { ...kv, modRevision: this.#revision } }) as const);
    this.#builder.apply({ revision: this.#revision, events });
    return this.snapshot;
  }

  delete(key: string): Snapshot {
    this.#revision += 1n;
    const revision = this.#revision;
    this.#builder.apply({ revision, events: [{ type: "delete", key, revision }] });
    return this.snapshot;
  }
}
