import { briefDuration, formatInstant } from "../../base/duration.ts";
import { clean } from "../../base/text.ts";
import type { AnyView } from "../../model/tables/view.ts";
import type { Call, Surroundings } from "../spec.ts";
import type { Desk } from "../with-store.ts";
import type { Sight } from "./following.ts";
import { grid } from "./grid.ts";
import { columnsOf, ordered, type Wish } from "./ls-wish.ts";
import { type Look, lookOf, painted } from "./paint.ts";
import { Screen } from "./screen.ts";

/** A table that is repainted in place. */
export class LiveTable<R> {
  readonly #call: Call;
  readonly #world: Surroundings;
  readonly #desk: Desk;
  readonly #view: AnyView<R>;
  readonly #wish: Wish;
  readonly #screen: Screen;
  /** Rows in their order, as long as they are the same. */
  #ordered: { rows: readonly R[]; shown: readonly R[] } | undefined;

  constructor(call: Call, world: Surroundings, desk: Desk, view: AnyView<R>, wish: Wish) {
    this.#call = call;
    this.#world = world;
    this.#desk = desk;
    this.#view = view;
    this.#wish = wish;
    this.#screen = new Screen(world);
    this.#screen.enter();
  }

  /** @returns false once nobody looks any more */
  update(sight: Sight<R>): boolean {
    const { rows: height, columns } = this.#world.terminal.size();
    const look: Look = {
      ...lookOf(this.#world, { ascii: this.#call.flags.ascii === true, wide: false }),
      ...{ width: columns - 1, isClipped: true },
    };
    const status = this.#status(sight, look);
    return this.#screen.paint([...status, "", ...this.#body(sight, look, height - status.length - 1)]);
  }

  /** How things are: above all, whether what is shown is what is. */
  #status({ rows, picture, scene, awaySince }: Sight<R>, look: Look): string[] {
    const wall = this.#desk.clock.wall();
    const time = (instant: number) => formatInstant(instant).slice(11);
    const line = (text: string, tone: "held" | "problem") =>
      painted(clean(`${look.marks?.[tone] ?? ""}${text}`, look.width), tone, look);
    const about = `${this.#view.id} ${rows.length}, revision ${picture.revision}`;
    const first =
      awaySince === undefined
        ? line(`live  ${time(wall)}  ${about}  (Ctrl+C ends)`, "held")
        : line(
            `etcd is away since ${time(awaySince)}, for ${briefDuration(wall - awaySince)}  last known: ${about}`,
            "problem",
          );
    return [first, ...(this.#view.remarks?.(scene) ?? []).map((remark) => line(remark, "problem"))];
  }

  /** As many rows as there is room for, and how many there are below. */
  #body({ rows }: Sight<R>, look: Look, room: number): string[] {
    if (rows.length === 0) {
      const text = this.#wish.filter.length > 0 ? "No row passes the filter." : this.#view.empty;
      return [clean(text, look.width)];
    }
    const shown = this.#inOrder(rows);
    const visible = shown.slice(0, Math.max(1, room));
    const { head, rows: blocks } = grid(
      { columns: this.#view.columns, rows: visible, wall: this.#desk.clock.wall() },
      look,
      columnsOf(this.#view, this.#wish, this.#call),
    );
    const lines = [head];
    let left = shown.length;
    for (const block of blocks) {
      const rest = left > 1 ? 1 : 0; // for the line that says how many more there are
      if (lines.length + block.length + rest > room) break;
      lines.push(...block);
      left -= 1;
    }
    return left === 0 ? lines : [...lines, painted(`and ${left} more`, "quiet", look)];
  }

  #inOrder(rows: readonly R[]): readonly R[] {
    if (this.#ordered?.rows !== rows) this.#ordered = { rows, shown: ordered(this.#view, rows, this.#wish) };
    return this.#ordered.shown;
  }

  end(): void {
    this.#screen.leave();
  }
}
