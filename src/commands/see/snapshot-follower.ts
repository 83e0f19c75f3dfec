import { followEtcd } from "../../observe/follow.ts";
import type { Collection, Snapshot } from "../../state/snapshot.ts";
import { SnapshotBuilder } from "../../state/snapshot-builder.ts";
import type { CommandContext } from "../store-command.ts";

/** The last known state, which may be out of date. */
export interface LiveSnapshot {
  snapshot: Snapshot;
  /** Wall clock, ms since the epoch, since when etcd is unavailable; undefined while it is available. */
  awaySince: number | undefined;
}

/** Keeps a snapshot of some collections up to date in the background. */
export class SnapshotFollower {
  readonly #context: CommandContext;
  readonly #builder: SnapshotBuilder;
  readonly #stop = new AbortController();
  #awaySince: number | undefined;
  #fault: unknown;

  constructor(context: CommandContext, collections: readonly Collection[]) {
    this.#context = context;
    this.#builder = new SnapshotBuilder(context.keys, collections);
  }

  /** Resolves with the first snapshot. @throws StoreError */
  async begin(): Promise<void> {
    const signal = AbortSignal.any([this.#context.signal, this.#stop.signal]);
    const news = followEtcd(this.#context, this.#builder, signal);
    await news.next();
    void this.#follow(news).catch((error) => {
      this.#fault = error;
    });
  }

  async #follow(news: ReturnType<typeof followEtcd>): Promise<void> {
    for await (const { kind } of news) {
      if (kind !== "away") this.#awaySince = undefined;
      else this.#awaySince ??= this.#context.clock.getWallTime();
    }
  }

  /** @throws the error that ended the follower: etcd refuses for good, or the user ended the command */
  getLiveSnapshot(): LiveSnapshot {
    if (this.#fault !== undefined) throw this.#fault;
    return { snapshot: this.#builder.getSnapshot(), awaySince: this.#awaySince };
  }

  end(): void {
    this.#stop.abort(new Error("the view was closed"));
  }
}
