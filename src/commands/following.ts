import { passes } from "../model/filter.ts";
import { Fold } from "../model/fold.ts";
import type { Picture } from "../model/picture.ts";
import { emptyLines } from "../model/tables/empty-lines.ts";
import { sceneOf } from "../model/tables/scene.ts";
import type { AnyView } from "../model/tables/view.ts";
import { follow } from "../work/observe/follow.ts";
import type { Wish } from "./ls-wish.ts";
import type { Desk } from "./with-store.ts";

/** What is known at a moment, however old it is. */
export interface Sight<R> {
  picture: Picture;
  rows: R[];
  /** Wall clock, ms since the epoch, since when etcd is away; undefined while it is there. */
  awaySince: number | undefined;
}

/** A picture that is kept up to date beside whoever looks at it. */
export class Following<R> {
  readonly #desk: Desk;
  readonly #view: AnyView<R>;
  readonly #wish: Wish;
  readonly #fold: Fold;
  readonly #stop = new AbortController();
  #awaySince: number | undefined;
  #fault: unknown;

  constructor(desk: Desk, view: AnyView<R>, wish: Wish) {
    this.#desk = desk;
    this.#view = view;
    this.#wish = wish;
    this.#fold = new Fold(
      desk.keys,
      wish.all ? [...new Set([...view.rooms, "histories" as const])] : view.rooms,
    );
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
  check(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  sight(): Sight<R> {
    const picture = this.#fold.picture();
    const rows = this.#rows(picture).filter((row) => passes(this.#view, this.#wish.filter, row));
    return { picture, rows, awaySince: this.#awaySince };
  }

  #rows(picture: Picture): readonly R[] {
    const view = this.#view;
    const scene = sceneOf(picture, this.#desk.clock.wall());
    if (view.of === "picture") return view.rows(picture, scene);
    const rows = [...picture.queues.values()].flatMap((queue) => view.rows(queue, scene));
    return view.hasEmpty ? [...rows, ...(this.#emptyRows(picture, scene) as R[])] : rows;
  }

  #emptyRows(picture: Picture, scene: ReturnType<typeof sceneOf>) {
    const known = { lock: picture.histories.keys(), resource: picture.resources.keys() };
    const kinds = (["lock", "resource"] as const).filter((kind) => this.#view.rooms.includes(`${kind}s`));
    const namesOf = (kind: "lock" | "resource") =>
      new Set([...picture.queues.values()].flatMap((queue) => (queue.kind === kind ? [queue.name] : [])));
    return kinds.flatMap((kind) => emptyLines(kind, namesOf(kind), this.#wish.all ? known[kind] : [], scene));
  }

  end(): void {
    this.#stop.abort(new Error("nobody looks any more"));
  }
}
