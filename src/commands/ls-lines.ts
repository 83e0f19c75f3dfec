import type { AnyView } from "../model/tables/view.ts";
import type { Sight } from "./following.ts";
import type { Surroundings } from "./spec.ts";
import { jsonLine, jsonText } from "./table.ts";
import type { Desk } from "./with-store.ts";

/** One line for every row at first, then for every row that came, changed or went. */
export class Lines<R> {
  readonly #world: Surroundings;
  readonly #desk: Desk;
  readonly #view: AnyView<R>;
  #told = new Map<string, string>();
  #isReady = false;
  #isAway = false;

  constructor(world: Surroundings, desk: Desk, view: AnyView<R>) {
    this.#world = world;
    this.#desk = desk;
    this.#view = view;
  }

  update({ picture, rows, awaySince }: Sight<R>): boolean {
    const { revision } = picture;
    const now = new Map(rows.map((row) => [this.#view.key(row), jsonText(this.#view.json(row))]));
    const gone = [...this.#told.keys()].filter((key) => !now.has(key));
    const news = [...now].filter(([key, text]) => this.#told.get(key) !== text);
    const isFirst = !this.#isReady;
    this.#told = now;
    this.#isReady = true;
    return [
      ...gone.map((key) => this.#line({ event: "gone", revision, key })),
      ...news.map(([key, text]) => this.#row(revision, key, text)),
      ...(!isFirst
        ? []
        : [this.#line({ event: "ready", revision, view: this.#view.id, prefix: this.#desk.keys.prefix })]),
      ...this.#weather(awaySince),
    ].every((line) => this.#world.out(line));
  }

  #row(revision: bigint, key: string, text: string): string {
    return `${jsonText({ version: 1, event: "row", revision, key }).slice(0, -1)},"row":${text}}\n`;
  }

  #line(event: object): string {
    return jsonLine({ version: 1, ...event });
  }

  #weather(awaySince: number | undefined): string[] {
    const isAway = awaySince !== undefined;
    if (isAway === this.#isAway) return [];
    this.#isAway = isAway;
    return [this.#line(isAway ? { event: "away", since: awaySince } : { event: "back" })];
  }

  end(): void {}
}
