import { UsageError } from "../../../base/errors.ts";
import { quoteText, suggestNearest } from "../../../base/text.ts";
import { parseRowFilter, type RowFilter } from "../../../model/views/filter.ts";
import { parseSortOrder, type SortOrder, sortViewRows } from "../../../model/views/sort.ts";
import type { AnyView } from "../../../model/views/view.ts";
import { getListFlag, getTextFlag, parseCountFlag } from "../../command-line/flags.ts";
import type { Call } from "../../spec.ts";
import { renderTextTable } from "../../table.ts";
import { ON_DEMAND } from "../grid.ts";

/** The options of a listing. */
export interface ListOptions {
  filter: RowFilter;
  /** Undefined for the view's own order. */
  order: SortOrder | undefined;
  columns: readonly string[] | undefined;
  limit: number;
  all: boolean;
}

/** @throws UsageError for an unknown column */
export function parseListOptions<R>(call: Call, view: AnyView<R>): ListOptions {
  const columns = getTextFlag(call, "columns")?.split(",").filter(Boolean);
  for (const id of columns ?? []) checkColumn(view, id);
  return {
    ...{
      filter: parseFilterFlags(call),
      order: parseOrderFlags(call, view),
      columns,
      all: call.flags.all === true,
    },
    limit: parseCountFlag(call, "limit", 1) ?? Number.POSITIVE_INFINITY,
  };
}

function parseFilterFlags(call: Call): RowFilter {
  const [host, state] = [getTextFlag(call, "host"), getTextFlag(call, "state")];
  const words = [...call.args.slice(1), ...getListFlag(call, "filter")];
  return [
    ...parseRowFilter(words.join(" ")),
    // The value of a flag is one word, even if it contains spaces.
    ...(host === undefined ? [] : [{ of: "host" as const, word: host.toLowerCase() }]),
    ...(state === undefined ? [] : [{ of: "state" as const, word: state.toLowerCase() }]),
  ];
}

function parseOrderFlags<R>(call: Call, view: AnyView<R>): SortOrder | undefined {
  const text = getTextFlag(call, "sort");
  if (text === undefined && !call.flags.reverse) return undefined;
  const { column, descending } = parseSortOrder(text ?? view.sort);
  checkColumn(view, column);
  return { column, descending: descending !== (call.flags.reverse === true) };
}

function checkColumn<R>({ id: view, columns }: AnyView<R>, wanted: string): void {
  const ids = columns.map(({ id }) => id);
  if (ids.includes(wanted)) return;
  const hint = suggestNearest(wanted, ids);
  throw new UsageError(`unknown column ${quoteText(wanted)} of ${view}; use one of ${ids.join(", ")}${hint}`);
}

/** Returns the requested columns; all columns with `--wide`, including those shown only on request. */
export function getShownColumns<R>(
  view: AnyView<R>,
  options: ListOptions,
  call: Call,
): readonly string[] | undefined {
  return options.columns ?? (call.flags.wide ? view.columns.map(({ id }) => id) : undefined);
}

export function isColumnsHelp(call: Call): boolean {
  return getTextFlag(call, "columns") === "help";
}

/** Renders the columns of a view, and when they are shown. */
export function renderColumnsHelp<R>({ columns, sort }: AnyView<R>): string {
  const { column, descending } = parseSortOrder(sort);
  const describePriority = (priority: number) =>
    priority === 1 ? "always" : priority < ON_DEMAND ? "if there is room" : "on request";
  return renderTextTable(
    ["COLUMN", "HEADING", "SHOWN", ""],
    columns.map(({ id, title, priority }) => [
      ...[id, title, describePriority(priority)],
      id === column ? `default order${descending ? ", the largest first" : ""}` : "",
    ]),
  ).replaceAll(/ +-$/gm, "");
}

/** Returns the rows to show, in order. */
export function sortAndLimitRows<R>(view: AnyView<R>, rows: readonly R[], options: ListOptions): R[] {
  const inOrder = sortViewRows(view, rows, options.order ?? parseSortOrder(view.sort));
  return inOrder.length > options.limit ? inOrder.slice(0, options.limit) : inOrder;
}
