import type { WallTime } from "../../../../core/base/clock.ts";
import { UsageError } from "../../../../core/base/errors.ts";
import { quoteText, suggestNearest } from "../../../../core/base/text.ts";
import type { Call } from "../../../frame/command.ts";
import { renderTextTable } from "../../../frame/table.ts";
import {
  addFieldWords,
  addStart,
  describeMissingWord,
  parseRowFilter,
  type RowFilter,
} from "../../../views/filter.ts";
import { parseSortOrder, type SortOrder, sortViewRows } from "../../../views/sort.ts";
import type { AnyView } from "../../../views/view.ts";
import { ON_DEMAND } from "../grid.ts";
import type { LsFlags } from "./ls.ts";

export interface ListOptions {
  filter: RowFilter;
  /** Undefined for the view's own order. */
  order: SortOrder | undefined;
  columns: readonly string[] | undefined;
  isWide?: boolean;
  limit: number;
  all: boolean;
}

/** @throws UsageError for an unknown column, a wrong filter or a wrong time */
export function parseListOptions<R>(
  { args, flags }: Pick<Call<LsFlags>, "args" | "flags">,
  view: AnyView<R>,
  now: WallTime,
): ListOptions {
  const { columns, all, limit = Number.POSITIVE_INFINITY } = flags;
  for (const id of columns ?? []) checkColumn(view, id);
  return {
    filter: parseFilterFlags(args, flags, view, now),
    order: parseOrderFlags(flags, view),
    columns,
    isWide: flags.wide === true,
    all: all === true,
    limit,
  };
}

function parseFilterFlags<R>(
  [, ...words]: readonly string[],
  { filter: more = [], host, state, since }: LsFlags,
  view: AnyView<R>,
  now: WallTime,
): RowFilter {
  const filter = parseRowFilter([...words, ...more].join(" "), view);
  if (filter.fault !== undefined) throw new UsageError(`wrong filter: ${filter.fault}`);
  for (const [flag, word] of Object.entries({ "--host": host, "--state": state }))
    if (word === "") throw new UsageError(describeMissingWord(flag));
  // The value of a flag is one word, even if it contains spaces.
  const all = addFieldWords(filter, { host, state });
  const from = since?.(now);
  if (from === undefined) return all;
  if (view.getInstant === undefined)
    throw new UsageError(`--since works with ls history and ls audit only; got ${quoteText(view.id)}`);
  return addStart(all, from);
}

function parseOrderFlags<R>({ sort, reverse }: LsFlags, view: AnyView<R>): SortOrder | undefined {
  if (sort === undefined && !reverse) return undefined;
  const { column, descending } = parseSortOrder(sort ?? view.sort);
  checkColumn(view, column);
  return { column, descending: descending !== (reverse === true) };
}

function checkColumn<R>({ id: view, columns }: AnyView<R>, wanted: string): void {
  const ids = columns.map(({ id }) => id);
  if (ids.includes(wanted)) return;
  const hint = suggestNearest(wanted, ids);
  throw new UsageError(`unknown column ${quoteText(wanted)} of ${view}; use one of ${ids.join(", ")}${hint}`);
}

/** Whether a requested column draws histories, which are not read otherwise. */
export function hasDrawnColumn<R>({ columns }: AnyView<R>, { columns: wanted }: ListOptions): boolean {
  return columns.some(({ id, formatAsciiCell }) => formatAsciiCell && wanted?.includes(id));
}

/**
 * Returns the requested columns; all columns with `--wide`, including those shown only on request, but without
 * drawings.
 */
export function getShownColumns<R>(
  view: AnyView<R>,
  { columns, isWide }: ListOptions,
): readonly string[] | undefined {
  if (columns !== undefined || !isWide) return columns;
  return view.columns.flatMap(({ id, formatAsciiCell }) => (formatAsciiCell === undefined ? [id] : []));
}

/** Renders the columns of a view, and when they are shown. */
export function renderColumnsHelp<R>({ columns, sort }: AnyView<R>): string {
  const { column, descending } = parseSortOrder(sort);
  const describePriority = (priority: number) =>
    priority === 1 ? "always" : priority < ON_DEMAND ? "if there is room" : "on request";
  return renderTextTable(
    ["COLUMN", "HEADING", "SHOWN", ""],
    columns.map(({ id, title, priority }) => [
      id,
      title,
      describePriority(priority),
      id === column ? `default order${descending ? ", the largest first" : ""}` : "",
    ]),
  ).replaceAll(/ +-$/gm, "");
}

/** Returns the rows to show, in order. */
export function sortAndLimitRows<R>(view: AnyView<R>, rows: readonly R[], options: ListOptions): R[] {
  const inOrder = sortViewRows(view, rows, options.order ?? parseSortOrder(view.sort));
  return inOrder.length > options.limit ? inOrder.slice(0, options.limit) : inOrder;
}
