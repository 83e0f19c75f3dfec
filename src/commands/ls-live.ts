import { briefDuration, formatInstant } from "../base/duration.ts";
import { clean } from "../base/text.ts";
import type { AnyView } from "../model/tables/view.ts";
import type { Sight } from "./following.ts";
import { grid } from "./grid.ts";
import { ordered, type Wish } from "./ls-wish.ts";
import { lookOf, painted } from "./paint.ts";
import { Screen } from "./screen.ts";
import type { Call, Surroundings } from "./spec.ts";
import type { Desk } from "./with-store.ts";

/** A table that is repainted in place. */
export class LiveTable<R> {
  readonly #call: Call;
  readonly #world: Surroundings;
  readonly #desk: Desk;
  readonly #view: AnyView<R>;
  readonly #wish: Wish;
  readonly #screen: Screen;

  constructor(call: Call, world: Surroundings, desk: Desk, view: AnyView<R>, wish: Wish) {
    this.#call = call;
    this.#world = world;
    this.#desk = desk;
    this.#view = view;
    this.#wish = wish;
    this.#screen = new Screen(world);
  }

  update(sight: Sight<R>): boolean {
    const { flags } = this.#call;
    const look = lookOf(this.#world, { ascii: flags.ascii === true, wide: false });
    const { rows: height, columns: width } = this.#world.terminal.size();
    const shown = ordered(this.#view, sight.rows, this.#wish);
    const room = Math.max(1, height - 3);
    const table = grid(this.#view.columns, shown.slice(0, room), look, this.#wish.columns);
    const body = shown.length === 0 ? [this.#view.empty] : table;
    const more = shown.length > room ? `, ${shown.length - room} more` : "";
    const status = `${this.#view.id} ${shown.length}${more} · revision ${sight.picture.revision} · ${this.#age(sight)}`;
    const plain = clean(flags.ascii === true ? status.replaceAll("·", "-") : status, width);
    this.#screen.paint([
      painted(plain, sight.awaySince === undefined ? "quiet" : "problem", look),
      "",
      ...body,
    ]);
    return true;
  }

  #age({ awaySince }: Sight<R>): string {
    const wall = this.#desk.clock.wall();
    if (awaySince === undefined) return `live ${formatInstant(wall).slice(11)} · Ctrl+C ends`;
    return `ETCD IS AWAY since ${briefDuration(wall - awaySince)}; this is what was known then`;
  }

  end(): void {
    this.#screen.leave();
  }
}
