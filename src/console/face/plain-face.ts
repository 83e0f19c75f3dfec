import type { Surroundings } from "../../commands/spec.ts";
import type { App } from "../app/app.ts";
import { spoken, standingSpoken } from "../plain/spoken.ts";
import type { Face } from "./face.ts";

/** Lines one below the other, for screen readers: each says what a key has led to. What changes by itself is not read out. */
export class PlainFace implements Face {
  readonly #world: Surroundings;
  #place = "";
  #toast: unknown;
  #kind = "";

  constructor(world: Surroundings) {
    this.#world = world;
  }

  begin(): void {
    this.#place = "";
  }

  end(): void {}

  show(app: App): boolean {
    const lines = [...this.#standing(app), ...this.#toasted(app), ...this.#placed(app)];
    return lines.length === 0 || this.#world.out(`${lines.join("\n")}\n`);
  }

  forget(): void {
    this.#place = "";
  }

  #standing(app: App): string[] {
    const { kind } = app.sight.standing;
    if (kind === this.#kind) return [];
    this.#kind = kind;
    return [standingSpoken(app)];
  }

  #toasted({ state: { toast } }: App): string[] {
    if (toast === undefined || toast === this.#toast) return [];
    this.#toast = toast;
    return [toast.text];
  }

  /** Only when the user has gone elsewhere, or what was opened has changed. */
  #placed(app: App): string[] {
    const lines = spoken(app).map((line) => line.replaceAll(/\x1b\[[0-9;:]*m/g, ""));
    const { focus, tab, tabs, explorer, panel } = app.state;
    const where = [
      focus,
      tab,
      tabs[tab].cursor.key,
      tabs[tab].marks.size,
      tabs[tab].filter,
      app.table.length > 0,
    ];
    const overlay = app.overlays.top === undefined ? "" : lines.join("\n");
    const place = JSON.stringify([...where, explorer.cursor.key, panel.id, panel.cursor.key, overlay]);
    if (place === this.#place) return [];
    this.#place = place;
    return lines;
  }
}
