import type { AnyView } from "../../../model/views/view.ts";
import { formatJsonLine, formatJsonText } from "../../json-output.ts";
import type { CommandIo } from "../../spec.ts";
import type { CommandContext } from "../../store-command.ts";
import type { LiveRows } from "./live-rows.ts";

/** Characters per write. */
const BATCH = 65_536;

/** Writes one line for every row at first, then one for every row that was added, changed or removed. */
export class JsonLineOutput<R extends object> {
  readonly #io: CommandIo;
  readonly #context: CommandContext;
  readonly #view: AnyView<R>;
  /** The text last written for each key. */
  #told = new Map<string, string>();
  #rows: readonly R[] | undefined;
  readonly #texts = new WeakMap<R, string>();
  #isAway = false;

  constructor(io: CommandIo, context: CommandContext, view: AnyView<R>) {
    this.#io = io;
    this.#context = context;
    this.#view = view;
  }

  /** @returns false once the reader has closed the pipe */
  update({ snapshot: { revision }, rows, awaySince }: LiveRows<R>): boolean {
    const isFirst = this.#rows === undefined;
    const news = this.#rows === rows ? [] : this.#listChanges(rows, revision);
    this.#rows = rows;
    const { prefix } = this.#context.keys;
    const ready = isFirst
      ? [formatJsonLine({ version: 1, event: "ready", revision, view: this.#view.id, prefix })]
      : [];
    const weather = this.#listConnectionEvents(revision, awaySince);
    // Changes before the loss of etcd are written before `away`; changes during it, after `back`.
    return this.#write(this.#isAway ? [...news, ...ready, ...weather] : [...weather, ...news, ...ready]);
  }

  #listChanges(rows: readonly R[], revision: bigint): string[] {
    const before = this.#told;
    const now = new Map<string, string>();
    const lines: string[] = [];
    for (const row of rows) {
      const key = this.#view.getKey(row);
      const news = this.#view.getChangeKey?.(row) ?? this.#toJsonText(row);
      now.set(key, news);
      if (before.get(key) !== news) lines.push(formatRowLine(revision, key, this.#toJsonText(row)));
    }
    this.#told = now;
    const gone = [...before.keys()].filter((key) => !now.has(key));
    return [...gone.map((key) => formatJsonLine({ version: 1, event: "gone", revision, key })), ...lines];
  }

  #toJsonText(row: R): string {
    const known = this.#texts.get(row);
    if (known !== undefined) return known;
    const text = formatJsonText(this.#view.toJson(row));
    this.#texts.set(row, text);
    return text;
  }

  #listConnectionEvents(revision: bigint, since: number | undefined): string[] {
    const isAway = since !== undefined;
    if (isAway === this.#isAway) return [];
    this.#isAway = isAway;
    const event = isAway ? { event: "away", revision, since } : { event: "back", revision };
    return [formatJsonLine({ version: 1, ...event })];
  }

  #write(lines: readonly string[]): boolean {
    let batch = "";
    for (const line of lines) {
      batch += line;
      if (batch.length < BATCH) continue;
      if (!this.#io.writeOutput(batch)) return false;
      batch = "";
    }
    return batch === "" || this.#io.writeOutput(batch);
  }

  end(): void {}
}

/** Formats the line of a row. The row is already JSON text, since it was compared as text. */
function formatRowLine(revision: bigint, key: string, row: string): string {
  return `${formatJsonText({ version: 1, event: "row", revision, key }).slice(0, -1)},"row":${row}}\n`;
}
