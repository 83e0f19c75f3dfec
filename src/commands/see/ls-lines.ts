import type { AnyView } from "../../model/tables/view.ts";
import type { Surroundings } from "../spec.ts";
import { jsonLine, jsonText } from "../table.ts";
import type { Desk } from "../with-store.ts";
import type { Sight } from "./following.ts";

/** Characters written at once. */
const BATCH = 65_536;

/** One line for every row at first, then for every row that came, changed or went. */
export class Lines<R extends object> {
  readonly #world: Surroundings;
  readonly #desk: Desk;
  readonly #view: AnyView<R>;
  /** What was told last, by key. */
  #told = new Map<string, string>();
  #rows: readonly R[] | undefined;
  readonly #texts = new WeakMap<R, string>();
  #isAway = false;

  constructor(world: Surroundings, desk: Desk, view: AnyView<R>) {
    this.#world = world;
    this.#desk = desk;
    this.#view = view;
  }

  /** @returns false once nobody reads any more */
  update({ picture: { revision }, rows, awaySince }: Sight<R>): boolean {
    const isFirst = this.#rows === undefined;
    const news = this.#rows === rows ? [] : this.#news(rows, revision);
    this.#rows = rows;
    const { prefix } = this.#desk.keys;
    const ready = isFirst
      ? [jsonLine({ version: 1, event: "ready", revision, view: this.#view.id, prefix })]
      : [];
    const weather = this.#weather(revision, awaySince);
    // What came before etcd went is told before that; what changed meanwhile, after it is back.
    return this.#write(this.#isAway ? [...news, ...ready, ...weather] : [...weather, ...news, ...ready]);
  }

  #news(rows: readonly R[], revision: bigint): string[] {
    const before = this.#told;
    const now = new Map<string, string>();
    const lines: string[] = [];
    for (const row of rows) {
      const key = this.#view.key(row);
      const news = this.#view.news?.(row) ?? this.#text(row);
      now.set(key, news);
      if (before.get(key) !== news) lines.push(rowLine(revision, key, this.#text(row)));
    }
    this.#told = now;
    const gone = [...before.keys()].filter((key) => !now.has(key));
    return [...gone.map((key) => jsonLine({ version: 1, event: "gone", revision, key })), ...lines];
  }

  #text(row: R): string {
    const known = this.#texts.get(row);
    if (known !== undefined) return known;
    const text = jsonText(this.#view.json(row));
    this.#texts.set(row, text);
    return text;
  }

  #weather(revision: bigint, since: number | undefined): string[] {
    const isAway = since !== undefined;
    if (isAway === this.#isAway) return [];
    this.#isAway = isAway;
    const event = isAway ? { event: "away", revision, since } : { event: "back", revision };
    return [jsonLine({ version: 1, ...event })];
  }

  #write(lines: readonly string[]): boolean {
    let batch = "";
    for (const line of lines) {
      batch += line;
      if (batch.length < BATCH) continue;
      if (!this.#world.out(batch)) return false;
      batch = "";
    }
    return batch === "" || this.#world.out(batch);
  }

  end(): void {}
}

/** The row is text already: it was compared as such. */
function rowLine(revision: bigint, key: string, row: string): string {
  return `${jsonText({ version: 1, event: "row", revision, key }).slice(0, -1)},"row":${row}}\n`;
}
