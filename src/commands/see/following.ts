import { Fold } from "../../model/fold.ts";
import type { Picture } from "../../model/picture.ts";
import type { AnyView, Scene } from "../../model/tables/view.ts";
import { follow } from "../../work/observe/follow.ts";
import type { Desk } from "../with-store.ts";
import { KeptRows } from "./kept-rows.ts";
import type { Wish } from "./ls-wish.ts";

/** What is known at a moment, however old it is. */
export interface Sight<R> {
  picture: Picture;
  scene: Scene;
  /** The same array as long as nothing changed. */
  rows: readonly R[];
  /** Wall clock, ms since the epoch, since when etcd is away; undefined while it is there. */
  awaySince: number | undefined;
}

/** A picture that is kept up to date beside whoever looks at it. */
export class Following<R> {
  readonly #desk: Desk;
  readonly #rows: KeptRows<R>;
  readonly #fold: Fold;
  readonly #stop = new AbortController();
  #awaySince: number | undefined;
  #fault: unknown;

  constructor(desk: Desk, view: AnyView<R>, wish: Wish) {
    this.#desk = desk;
    this.#rows = new KeptRows(view, wish);
    const known = wish.all && view.of === "queue" && view.hasEmpty ? ["histories" as const] : [];
    this.#fold = new Fold(desk.keys, [...new Set([...view.rooms, ...known])]);
  }

  /** Resolves with the first picture. @throws StoreError */
  async begin(): Promise<void> {
    const signal = AbortSignal.any([this.#desk.signal, this.#stop.signal]);
    const news = follow(this.#desk, this.#fold, signal);
    await news.next();
    void this.#follow(news).catch((error) => {
      this.#fault = error;
    });
  }

  async #follow(news: ReturnType<typeof follow>): Promise<void> {
    for await (const { kind } of news) {
      if (kind !== "away") this.#awaySince = undefined;
      else this.#awaySince ??= this.#desk.clock.wall();
    }
  }

  /** @throws what ended the following: etcd refuses for good, or the user has seen enough */
  sight(): Sight<R> {
    if (this.#fault !== undefined) throw this.#fault;
    const picture = this.#fold.picture();
    return { picture, ...this.#rows.of(picture, this.#desk.clock.wall()), awaySince: this.#awaySince };
  }

  end(): void {
    this.#stop.abort(new Error("nobody looks any more"));
  }
}
