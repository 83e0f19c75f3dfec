import { UsageError } from "../base/errors.ts";
import { nearest, quoted } from "../base/text.ts";
import { type Filter, parseFilter } from "../model/filter.ts";
import { type Order, parseOrder, sorted } from "../model/tables/sort.ts";
import type { AnyView } from "../model/tables/view.ts";
import { countFlag, textFlag } from "./flags.ts";
import type { Call } from "./spec.ts";

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
  const sort = textFlag(call, "sort");
  const columns = textFlag(call, "columns")?.split(",").filter(Boolean);
  const order = sort === undefined ? undefined : parseOrder(sort);
  for (const id of [...(columns ?? []), ...(order ? [order.column] : [])]) checkColumn(view, id);
  const [host, state] = [textFlag(call, "host"), textFlag(call, "state")];
  const words = [
    ...call.args.slice(1),
    ...(host ? [`host:${host}`] : []),
    ...(state ? [`state:${state}`] : []),
  ];
  return {
    ...{ filter: parseFilter(words.join(" ")), order, columns, all: call.flags.all === true },
    limit: countFlag(call, "limit", 1) ?? Number.POSITIVE_INFINITY,
  };
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

/** The rows that are shown, in their order. */
export function ordered<R>(view: AnyView<R>, rows: readonly R[], wish: Wish): R[] {
  const inOrder = sorted(view, rows, wish.order ?? parseOrder(view.sort));
  return inOrder.length > wish.limit ? inOrder.slice(0, wish.limit) : inOrder;
}
