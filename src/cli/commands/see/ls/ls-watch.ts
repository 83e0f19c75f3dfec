import { formatBriefDuration, formatInstant } from "../../../../core/base/clock.ts";
import { cleanToWidth } from "../../../../core/base/display-width.ts";
import { EXIT } from "../../../../core/base/errors.ts";
import type { ViewContext } from "../../../../site/state/view-context.ts";
import { formatJsonLine, formatJsonText } from "../../../frame/json-output.ts";
import type { CommandContext } from "../../../frame/store-command.ts";
import type { AnyView } from "../../../views/view.ts";
import { renderGrid } from "../grid.ts";
import {
  AnsiScreen,
  addEtcdFaults,
  HealthFollower,
  type LiveSnapshot,
  SnapshotFollower,
} from "../live-output.ts";
import { detectOutputStyle, type OutputStyle, paintText } from "../paint.ts";
import type { LsFlags } from "./ls.ts";
import { getShownColumns, hasDrawnColumn, type ListOptions, sortAndLimitRows } from "./ls-options.ts";
import { createRowCache } from "./row-cache.ts";

/**
 * Time between two updates, in ms: four repaints a second are enough for people, and do not overload a slow connection.
 */
const REPAINT_INTERVAL = 250;

/**
 * Shows a view while it changes: a table on a terminal, JSON lines on a pipe and on a dumb terminal. Ends when the reader closes the output.
 */
export async function watchView<R extends object>(
  context: CommandContext<LsFlags>,
  view: AnyView<R>,
  options: ListOptions,
): Promise<number> {
  const { flags, io } = context;
  const isLive = io.terminal.isOutput() && io.env.TERM !== "dumb" && !flags.json;
  const hasPast = (options.all && view.of === "queue" && view.hasEmpty) || hasDrawnColumn(view, options);
  const known = hasPast ? ["histories" as const] : [];
  const follower = new SnapshotFollower(context, [...new Set([...view.collections, ...known])]);
  await follower.begin();
  const health = view.id === "problems" ? new HealthFollower(context) : undefined;
  const computeRows = createRowCache(view, options);
  const show = isLive ? new LiveTable(context, view, options) : new JsonLineOutput(context, view);
  try {
    for (;;) {
      const { awaySince, ...read } = follower.getLiveSnapshot();
      const snapshot = addEtcdFaults(read.snapshot, health?.last);
      const rows = computeRows(snapshot, context.clock.getWallTime());
      if (!show.update({ snapshot, awaySince, ...rows })) return EXIT.ok;
      await context.clock.sleep(REPAINT_INTERVAL, context.signal);
    }
  } finally {
    show.end();
    follower.end();
    health?.end();
  }
}

const CHARACTERS_PER_WRITE = 65_536;

/** Writes one line for every row at first, then one for every row that was added, changed or removed. */
class JsonLineOutput<R extends object> {
  readonly #context: CommandContext;
  readonly #view: AnyView<R>;
  /** The text last written for each key. */
  #told = new Map<string, string>();
  #rows: readonly R[] | undefined;
  readonly #texts = new WeakMap<R, string>();
  #isAway = false;

  constructor(context: CommandContext, view: AnyView<R>) {
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
    const text = formatJsonText(this.#view.json.toJson(row));
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
    const { io } = this.#context;
    let batch = "";
    for (const line of lines) {
      batch += line;
      if (batch.length < CHARACTERS_PER_WRITE) continue;
      if (!io.writeOutput(batch)) return false;
      batch = "";
    }
    return batch === "" || io.writeOutput(batch);
  }

  end(): void {}
}

/** Formats the line of a row. The row is already JSON text, since it was compared as text. */
function formatRowLine(revision: bigint, key: string, row: string): string {
  return `${formatJsonText({ version: 1, event: "row", revision, key }).slice(0, -1)},"row":${row}}\n`;
}

/** A table that is repainted in place. */
class LiveTable<R> {
  readonly #context: CommandContext<LsFlags>;
  readonly #view: AnyView<R>;
  readonly #options: ListOptions;
  readonly #screen: AnsiScreen;
  /** The sorted rows, reused while the rows are the same. */
  #ordered: { rows: readonly R[]; shown: readonly R[] } | undefined;

  constructor(context: CommandContext<LsFlags>, view: AnyView<R>, options: ListOptions) {
    this.#context = context;
    this.#view = view;
    this.#options = options;
    this.#screen = new AnsiScreen(context.io);
    this.#screen.enter();
  }

  /** @returns false once the output is closed */
  update(liveRows: LiveRows<R>): boolean {
    const { flags, io } = this.#context;
    const { rows: height, columns } = io.terminal.getSize();
    const wanted = detectOutputStyle(io, { ...flags, bars: this.#view.id === "macros" });
    const style: OutputStyle = { ...wanted, width: columns - 1, isClipped: true };
    const status = this.#renderStatus(liveRows, style);
    return this.#screen.paint([
      ...status,
      "",
      ...this.#renderBody(liveRows, style, height - status.length - 1),
    ]);
  }

  /** Renders the connection state, so that the user sees whether the rows are current, and the remarks of the view. */
  #renderStatus({ rows, snapshot, viewContext, awaySince }: LiveRows<R>, style: OutputStyle): string[] {
    const wall = this.#context.clock.getWallTime();
    const formatTime = (instant: number) => formatInstant(instant).slice(11);
    const renderLine = (text: string, tone: "held" | "problem") =>
      paintText(cleanToWidth(`${style.marks?.[tone] ?? ""}${text}`, style.width), tone, style);
    const about = `${this.#view.id} ${rows.length}, revision ${snapshot.revision}`;
    const first =
      awaySince === undefined
        ? renderLine(`live  ${formatTime(wall)}  ${about}  (Ctrl+C ends)`, "held")
        : renderLine(
            `etcd unreachable since ${formatTime(awaySince)} (${formatBriefDuration(wall - awaySince)})  last known: ${about}`,
            "problem",
          );
    return [
      first,
      ...(this.#view.listRemarks?.(viewContext) ?? []).map((remark) => renderLine(remark, "problem")),
    ];
  }

  /** Renders as many rows as fit, then the number of the remaining rows. */
  #renderBody({ rows }: LiveRows<R>, style: OutputStyle, available: number): string[] {
    if (rows.length === 0) {
      const { empty, elsewhere } = this.#view;
      const none =
        elsewhere === undefined ? "No row matches the filter." : `No row matches the filter. ${elsewhere}.`;
      const text = this.#options.filter.terms.length > 0 ? none : empty;
      return [cleanToWidth(text, style.width)];
    }
    const shown = this.#sortRows(rows);
    const visible = shown.slice(0, Math.max(1, available));
    const { head, rows: blocks } = renderGrid(
      { columns: this.#view.columns, rows: visible, wall: this.#context.clock.getWallTime() },
      style,
      getShownColumns(this.#view, this.#options),
    );
    const lines = [head];
    let left = shown.length;
    for (const block of blocks) {
      const rest = left > 1 ? 1 : 0; // for the line with the number of further rows
      if (lines.length + block.length + rest > available) break;
      lines.push(...block);
      left -= 1;
    }
    return left === 0 ? lines : [...lines, paintText(`and ${left} more`, "quiet", style)];
  }

  #sortRows(rows: readonly R[]): readonly R[] {
    if (this.#ordered?.rows !== rows)
      this.#ordered = { rows, shown: sortAndLimitRows(this.#view, rows, this.#options) };
    return this.#ordered.shown;
  }

  end(): void {
    this.#screen.leave();
  }
}

/** The last known rows, which may be out of date. */
interface LiveRows<R> extends LiveSnapshot {
  viewContext: ViewContext;
  /** The same array while nothing changes. */
  rows: readonly R[];
}
