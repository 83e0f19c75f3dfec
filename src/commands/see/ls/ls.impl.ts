import { EXIT, UsageError } from "../../../base/errors.ts";
import { clean } from "../../../base/text.ts";
import { buildExportTable, formatCsv } from "../../../model/export/export-table.ts";
import { formatMarkdownTable } from "../../../model/export/markdown.ts";
import { VIEWS, type ViewId } from "../../../model/tables/index.ts";
import { isFilterMatch } from "../../../model/views/filter.ts";
import type { AnyView, ViewContext } from "../../../model/views/view.ts";
import { formatJsonText } from "../../json-output.ts";
import { createReadCommand } from "../../read-command.ts";
import type { Call, CommandExecutor, CommandIo } from "../../spec.ts";
import type { CommandContext } from "../../store-command.ts";
import { ON_DEMAND, renderGridLines } from "../grid.ts";
import { detectOutputStyle, type OutputStyle, paintText } from "../paint.ts";
import {
  getShownColumns,
  hasDrawnColumn,
  isColumnsHelp,
  type ListOptions,
  parseListOptions,
  renderColumnsHelp,
  sortAndLimitRows,
} from "./ls-options.ts";
import { readViewRows, type ViewRows } from "./ls-rows.ts";

export const execute: CommandExecutor = async (call, io) => {
  const id = (call.args[0] ?? "overview") as ViewId;
  if (!isColumnsHelp(call)) return await createListCommand(VIEWS[id])(call, io);
  io.writeOutput(renderColumnsHelp(VIEWS[id]));
  return EXIT.ok;
};

function createListCommand<R extends object>(view: AnyView<R>): CommandExecutor {
  return createReadCommand(async (call, io, context) => {
    const options = parseListOptions(call, view, context.clock.getWallTime());
    checkOutputFlags(call);
    if (call.flags.watch)
      return await (await import("./ls-watch.ts")).watchView(call, io, context, view, options);
    const reading = await readViewRows(context, view, {
      all: options.all,
      needsHistories: hasDrawnColumn(view, options),
    });
    if (call.flags.json) await printRowsJson(io, context, view, reading, options);
    else if (call.flags.output !== undefined) await printExport(call, io, view, reading, options);
    else await printTable(call, io, view, reading, options);
    return EXIT.ok;
  });
}

/** @throws UsageError for formats that exclude each other */
function checkOutputFlags({ flags }: Call): void {
  if (flags.output === undefined) return;
  if (flags.json) throw new UsageError("give --json or --output, not both");
  if (flags.watch)
    throw new UsageError("--output cannot be combined with --watch; --watch on a pipe prints JSON lines");
}

/** Prints the rows in a format for other programs. The columns do not depend on the rows. */
async function printExport<R>(
  call: Call,
  io: CommandIo,
  view: AnyView<R>,
  { rows: all, scene }: Awaited<ReturnType<typeof readViewRows<R>>>,
  options: ListOptions,
): Promise<void> {
  const rows: R[] = [];
  for await (const row of all) if (isFilterMatch(view, options.filter, row, scene)) rows.push(row);
  const shown = getShownColumns(view, options, call);
  const columns =
    shown?.flatMap((id) => view.columns.find((column) => column.id === id) ?? []) ??
    view.columns.filter(({ priority }) => priority < ON_DEMAND);
  const table = buildExportTable(view.id, columns, sortAndLimitRows(view, rows, options), scene.wall);
  io.writeOutput(call.flags.output === "csv" ? formatCsv(table) : formatMarkdownTable(table));
}

async function printTable<R>(
  call: Call,
  io: CommandIo,
  view: AnyView<R>,
  { rows: all, scene }: Awaited<ReturnType<typeof readViewRows<R>>>,
  options: ListOptions,
): Promise<void> {
  const style = detectOutputStyle(io, { ascii: call.flags.ascii === true, wide: call.flags.wide === true });
  const rows: R[] = [];
  const others = new Set<string>();
  for await (const row of all) {
    if (isFilterMatch(view, options.filter, row, scene)) rows.push(row);
    else for (const state of view.getFacets(row).states) others.add(state);
  }
  if (rows.length > 0) {
    const lines = renderGridLines(
      { columns: view.columns, rows: sortAndLimitRows(view, rows, options), wall: scene.wall },
      style,
      getShownColumns(view, options, call),
    );
    if (!io.writeOutput(`${lines.join("\n")}\n`)) return;
  }
  if (call.verbosity < 0) return;
  if (rows.length === 0) io.writeError(`${others.size > 0 ? explainNoMatch(others) : view.empty}\n`);
  if (style.marks !== undefined) io.writeError(renderRemarks(view, scene, style));
}

/** Suggests an alternative: lists the states of the existing rows, which a filter accepts. */
function explainNoMatch(states: ReadonlySet<string>): string {
  return `No row matches the filter. The states of the other rows: ${[...states].join(", ")}.`;
}

/** Renders the remarks of the view, for a terminal. */
function renderRemarks<R>(view: AnyView<R>, scene: ViewContext, style: OutputStyle): string {
  const lines = view.listRemarks?.(scene) ?? [];
  return lines
    .map((line) => `${paintText(`${style.marks?.problem ?? ""}${clean(line)}`, "problem", style)}\n`)
    .join("");
}

/** Characters per write. */
const BATCH = 65_536;

/**
 * Writes one JSON document while the rows are read. Rows of queues come in the order of keys and are never all in
 * memory. If an order is requested, or the view needs the whole snapshot, all rows are read first.
 */
async function printRowsJson<R>(
  io: CommandIo,
  context: CommandContext,
  view: AnyView<R>,
  { revision, rows, scene }: ViewRows<R>,
  options: ListOptions,
): Promise<void> {
  const head = formatJsonText({ version: 1, revision, prefix: context.keys.prefix, view: view.id });
  let batch = `${head.slice(0, -1)},"rows":[`;
  let separator = "\n";
  const wanted =
    options.order === undefined && view.of === "queue"
      ? takeFirst(rows, view, options, scene)
      : sortRows(rows, view, options, scene);
  for await (const row of wanted) {
    batch += separator + formatJsonText(view.toJson(row));
    separator = ",\n";
    if (batch.length < BATCH) continue;
    if (!io.writeOutput(batch)) return;
    batch = "";
  }
  io.writeOutput(`${batch}\n]}\n`);
}

/** Yields rows as they are read, and stops reading at the limit. */
async function* takeFirst<R>(
  rows: AsyncIterable<R>,
  view: AnyView<R>,
  { filter, limit }: ListOptions,
  { wall }: ViewContext,
): AsyncGenerator<R> {
  let left = limit;
  for await (const row of rows) {
    if (!isFilterMatch(view, filter, row, { wall })) continue;
    yield row;
    left -= 1;
    if (left <= 0) return;
  }
}

async function* sortRows<R>(
  rows: AsyncIterable<R>,
  view: AnyView<R>,
  options: ListOptions,
  { wall }: ViewContext,
): AsyncGenerator<R> {
  const all: R[] = [];
  for await (const row of rows) if (isFilterMatch(view, options.filter, row, { wall })) all.push(row);
  yield* sortAndLimitRows(view, all, options);
}
