import { clean } from "../../../core/base/text.ts";
import type { Snapshot } from "../../../site/state/snapshot.ts";
import type { PastMoment } from "../../frame/past-moment.ts";
import type { SnapshotEvent } from "../../views/event.ts";
import { listEventsBetween } from "../../views/event-log.ts";
import { parseRowFilter } from "../../views/filter.ts";
import { VIEWS } from "../../views/index.ts";
import type { AnyView, TableColumn } from "../../views/view.ts";
import { COMPARED_LISTINGS, type ComparedListing } from "./compared-listings.ts";
import { ON_DEMAND } from "./grid.ts";
import { createRowCache } from "./ls/row-cache.ts";

/** The state of the site at a moment. */
export interface PastState {
  moment: PastMoment;
  snapshot: Snapshot;
}

/** A row in both states, or in one of them. */
export interface ComparedRow {
  key: string;
  before: object | undefined;
  after: object | undefined;
  change: "same" | "added" | "removed" | "changed";
}

export interface ComparedTable {
  listing: ComparedListing;
  view: AnyView<object>;
  /** Those whose texts do not change as time passes. */
  columns: readonly TableColumn<object>[];
  /** Those of the earlier state first, each in the order of the listing. */
  rows: readonly ComparedRow[];
}

/** Two states, and what happened between them, the oldest event first. */
export interface Comparison {
  tables: readonly ComparedTable[];
  events: readonly SnapshotEvent[];
}

/** Compares two states. Ages and other texts that change by themselves do not count. @param before  the earlier one */
export function compareStates(
  before: PastState,
  after: PastState,
  listings: readonly ComparedListing[] = COMPARED_LISTINGS,
): Comparison {
  return {
    tables: listings.map((listing) => compareTable(listing, before, after)),
    events: listEventsBetween(before.snapshot, after.snapshot, {
      from: before.moment.at,
      to: after.moment.at,
    }),
  };
}

function compareTable(listing: ComparedListing, before: PastState, after: PastState): ComparedTable {
  const view = VIEWS[listing];
  const columns = view.columns.filter(
    ({ priority, isTimed, formatAsciiCell }) =>
      priority < ON_DEMAND && isTimed !== true && formatAsciiCell === undefined,
  );
  const [old, current] = [before, after].map((state) => listRows(view, state));
  const keys = new Set([...(old?.keys() ?? []), ...(current?.keys() ?? [])]);
  const format = (row: object, { moment }: PastState) =>
    columns.map(({ formatCell }) => clean(formatCell(row, moment.at))).join("\n");
  const rows = Array.from(keys, (key): ComparedRow => {
    const pair = { key, before: old?.get(key), after: current?.get(key) };
    if (pair.before === undefined) return { ...pair, change: "added" };
    if (pair.after === undefined) return { ...pair, change: "removed" };
    return {
      ...pair,
      change: format(pair.before, before) === format(pair.after, after) ? "same" : "changed",
    };
  });
  return { listing, view, columns, rows };
}

function listRows(view: AnyView<object>, { snapshot, moment }: PastState): Map<string, object> {
  const filter = parseRowFilter("", view);
  const limit = Number.POSITIVE_INFINITY;
  const options = { filter, order: undefined, columns: undefined, limit, all: false };
  const { rows } = createRowCache(view, options)(snapshot, moment.at);
  return new Map(rows.map((row) => [view.getKey(row), row]));
}
