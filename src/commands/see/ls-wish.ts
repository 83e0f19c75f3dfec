import { UsageError } from "../../base/errors.ts";
import { nearest, quoted } from "../../base/text.ts";
import { type Filter, parseFilter } from "../../model/filter.ts";
import { type Order, parseOrder, sorted } from "../../model/tables/sort.ts";
import type { AnyView } from "../../model/tables/view.ts";
import { countFlag, listFlag, textFlag } from "../flags.ts";
import type { Call } from "../spec.ts";
import { table } from "../table.ts";
import { ON_DEMAND } from "./grid.ts";

/** What is asked of a listing. */
export interface Wish {
  filter: Filter;
  /** Undefined: in the view's own. */
  order: Order | undefined;
  columns: readonly string[] | undefined;
  limit: number;
  all: boolean;
}

/** @throws UsageError for a column that there is not */
export function wishOf<R>(call: Call, view: AnyView<R>): Wish {
  const columns = textFlag(call, "columns")?.split(",").filter(Boolean);
  for (const id of columns ?? []) checkColumn(view, id);
  return {
    ...{ filter: filterOf(call), order: orderOf(call, view), columns, all: call.flags.all === true },
    limit: countFlag(call, "limit", 1) ?? Number.POSITIVE_INFINITY,
  };
}

function filterOf(call: Call): Filter {
  const [host, state] = [textFlag(call, "host"), textFlag(call, "state")];
  const words = [...call.args.slice(1), ...listFlag(call, "filter")];
  return [
    ...parseFilter(words.join(" ")),
    // A value of a flag is one word, whatever is in it.
    ...(host === undefined ? [] : [{ of: "host" as const, word: host.toLowerCase() }]),
    ...(state === undefined ? [] : [{ of: "state" as const, word: state.toLowerCase() }]),
  ];
}

function orderOf<R>(call: Call, view: AnyView<R>): Order | undefined {
  const text = textFlag(call, "sort");
  if (text === undefined && !call.flags.reverse) return undefined;
  const { column, descending } = parseOrder(text ?? view.sort);
  checkColumn(view, column);
  return { column, descending: descending !== (call.flags.reverse === true) };
}

function checkColumn<R>({ id: view, columns }: AnyView<R>, wanted: string): void {
  const ids = columns.map(({ id }) => id);
  if (ids.includes(wanted)) return;
  const meant = nearest(wanted, ids);
  const hint = meant === undefined ? "" : `; did you mean ${quoted(meant)}?`;
  throw new UsageError(`${quoted(wanted)} is no column of ${view}, which has ${ids.join(", ")}${hint}`);
}

/** All columns where wide is wanted, also those that nobody sees otherwise. */
export function columnsOf<R>(view: AnyView<R>, wish: Wish, call: Call): readonly string[] | undefined {
  return wish.columns ?? (call.flags.wide ? view.columns.map(({ id }) => id) : undefined);
}

export function wantsColumnsHelp(call: Call): boolean {
  return textFlag(call, "columns") === "help";
}

/** The columns of a view, and when they are shown. */
export function columnsHelp<R>({ columns, sort }: AnyView<R>): string {
  const { column, descending } = parseOrder(sort);
  const shown = (priority: number) =>
    priority === 1 ? "always" : priority < ON_DEMAND ? "where there is room" : "on demand";
  return table(
    ["COLUMN", "HEADING", "SHOWN", ""],
    columns.map(({ id, title, priority }) => [
      ...[id, title, shown(priority)],
      id === column ? `sorted by it${descending ? ", the largest first" : ""}` : "",
    ]),
  ).replaceAll(/ +-$/gm, "");
}

/** The rows that are shown, in their order. */
export function ordered<R>(view: AnyView<R>, rows: readonly R[], wish: Wish): R[] {
  const inOrder = sorted(view, rows, wish.order ?? parseOrder(view.sort));
  return inOrder.length > wish.limit ? inOrder.slice(0, wish.limit) : inOrder;
}
