import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import { SnapshotBuilder } from "../../../model/snapshot/snapshot-builder.ts";
import type { AnyView, ViewContext } from "../../../model/views/view.ts";
import { followEtcd } from "../../../work/observe/follow.ts";
import type { CommandContext } from "../../store-command.ts";
import { checkFilterWork, hasDrawnColumn, type ListOptions } from "./ls-options.ts";
import { RowCache } from "./row-cache.ts";

/** The last known rows, which may be out of date. */
export interface LiveRows<R> {
  snapshot: Snapshot;
  scene: ViewContext;
  /** The same array while nothing changes. */
  rows: readonly R[];
  /** Wall clock, ms since the epoch, since when etcd is unavailable; undefined while it is available. */
  awaySince: number | undefined;
}

/** Keeps the rows of a view up to date in the background. */
export class LiveRowsFollower<R> {
  readonly #context: CommandContext;
  readonly #options: ListOptions;
  readonly #rows: RowCache<R>;
  readonly #builder: SnapshotBuilder;
  readonly #stop = new AbortController();
  #awaySince: number | undefined;
  #fault: unknown;

  constructor(context: CommandContext, view: AnyView<R>, options: ListOptions) {
    this.#context = context;
    this.#options = options;
    this.#rows = new RowCache(view, options);
    const hasPast = (options.all && view.of === "queue" && view.hasEmpty) || hasDrawnColumn(view, options);
    const known = hasPast ? ["histories" as const] : [];
    this.#builder = new SnapshotBuilder(context.keys, [...new Set([...view.collections, ...known])]);
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
  getLiveRows(): LiveRows<R> {
    if (this.#fault !== undefined) throw this.#fault;
    const snapshot = this.#builder.getSnapshot();
    const rows = this.#rows.computeRows(snapshot, this.#context.clock.getWallTime());
    checkFilterWork(this.#options);
    return { snapshot, ...rows, awaySince: this.#awaySince };
  }

  end(): void {
    this.#stop.abort(new Error("the view was closed"));
  }
}
