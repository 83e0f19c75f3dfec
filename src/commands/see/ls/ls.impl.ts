import { EXIT } from "../../../base/errors.ts";
import { clean } from "../../../base/text.ts";
import { VIEWS, type ViewId } from "../../../model/tables/index.ts";
import { isFilterMatch } from "../../../model/views/filter.ts";
import type { AnyView, ViewContext } from "../../../model/views/view.ts";
import { createReadCommand } from "../../read-command.ts";
import type { Call, CommandExecutor, CommandIo } from "../../spec.ts";
import { renderGridLines } from "../grid.ts";
import { detectOutputStyle, type OutputStyle, paintText } from "../paint.ts";
import { printRowsJson } from "./ls-json.ts";
import {
  checkFilterWork,
  getShownColumns,
  isColumnsHelp,
  type ListOptions,
  parseListOptions,
  renderColumnsHelp,
  sortAndLimitRows,
} from "./ls-options.ts";
import { readViewRows } from "./ls-rows.ts";

export const execute: CommandExecutor = async (call, io) => {
  const id = (call.args[0] ?? "overview") as ViewId;
  if (!isColumnsHelp(call)) return await createListCommand(VIEWS[id])(call, io);
  io.writeOutput(renderColumnsHelp(VIEWS[id]));
  return EXIT.ok;
};

function createListCommand<R extends object>(view: AnyView<R>): CommandExecutor {
  return createReadCommand(async (call, io, context) => {
    const options = parseListOptions(call, view);
    if (call.flags.watch)
      return await (await import("./ls-watch.ts")).watchView(call, io, context, view, options);
    const reading = await readViewRows(context, view, options.all);
    if (call.flags.json) await printRowsJson(io, context, view, reading, options);
    else await printTable(call, io, view, reading, options);
    return EXIT.ok;
  });
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
  checkFilterWork(options);
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
