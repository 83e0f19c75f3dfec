import { cleanToWidth } from "../../../base/display-width.ts";
import { formatBriefDuration, formatInstant } from "../../../base/duration.ts";
import type { AnyView } from "../../../model/views/view.ts";
import type { Call, CommandIo } from "../../spec.ts";
import type { CommandContext } from "../../store-command.ts";
import { renderGrid } from "../grid.ts";
import { detectOutputStyle, type OutputStyle, paintText } from "../paint.ts";
import { AnsiScreen } from "../screen/ansi-screen.ts";
import type { LiveRows } from "./live-rows.ts";
import { getShownColumns, type ListOptions, sortAndLimitRows } from "./ls-options.ts";

/** A table that is repainted in place. */
export class LiveTable<R> {
  readonly #call: Call;
  readonly #io: CommandIo;
  readonly #context: CommandContext;
  readonly #view: AnyView<R>;
  readonly #options: ListOptions;
  readonly #screen: AnsiScreen;
  /** The sorted rows, reused while the rows are the same. */
  #ordered: { rows: readonly R[]; shown: readonly R[] } | undefined;

  constructor(call: Call, io: CommandIo, context: CommandContext, view: AnyView<R>, options: ListOptions) {
    this.#call = call;
    this.#io = io;
    this.#context = context;
    this.#view = view;
    this.#options = options;
    this.#screen = new AnsiScreen(io);
    this.#screen.enter();
  }

  /** @returns false once the output is closed */
  update(sight: LiveRows<R>): boolean {
    const { rows: height, columns } = this.#io.terminal.getSize();
    const style: OutputStyle = {
      ...detectOutputStyle(this.#io, { ascii: this.#call.flags.ascii === true, wide: false }),
      width: columns - 1,
      isClipped: true,
    };
    const status = this.#renderStatus(sight, style);
    return this.#screen.paint([...status, "", ...this.#renderBody(sight, style, height - status.length - 1)]);
  }

  /** Renders the connection state, so that the user sees whether the rows are current, and the remarks of the view. */
  #renderStatus({ rows, snapshot, scene, awaySince }: LiveRows<R>, style: OutputStyle): string[] {
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
    return [first, ...(this.#view.listRemarks?.(scene) ?? []).map((remark) => renderLine(remark, "problem"))];
  }

  /** Renders as many rows as fit, and the number of those that do not. */
  #renderBody({ rows }: LiveRows<R>, style: OutputStyle, available: number): string[] {
    if (rows.length === 0) {
      const text = this.#options.filter.terms.length > 0 ? "No row matches the filter." : this.#view.empty;
      return [cleanToWidth(text, style.width)];
    }
    const shown = this.#sortRows(rows);
    const visible = shown.slice(0, Math.max(1, available));
    const { head, rows: blocks } = renderGrid(
      { columns: this.#view.columns, rows: visible, wall: this.#context.clock.getWallTime() },
      style,
      getShownColumns(this.#view, this.#options, this.#call),
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
