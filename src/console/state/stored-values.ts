import type { SortOrder } from "../../model/views/sort.ts";
import type { TabState } from "./console-state.ts";

/** Maximum number of columns that a stored choice may name. */
const MAX_COLUMNS = 50;

/** Restores filter, order and columns of a table. Ignores values that are invalid. */
export function restoreTableChoice(
  kept: Readonly<Record<string, unknown>>,
): Pick<TabState, "filter" | "order" | "columns"> {
  return {
    filter: isStoredText(kept.filter) ? kept.filter : "",
    order: parseStoredOrder(kept.order),
    columns: Array.isArray(kept.columns)
      ? kept.columns.filter(isStoredText).slice(0, MAX_COLUMNS)
      : undefined,
  };
}

function parseStoredOrder(kept: unknown): SortOrder | undefined {
  if (!isStoredRecord(kept) || !isStoredText(kept.column)) return undefined;
  return { column: kept.column, descending: kept.descending === true };
}

export function isStoredRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isStoredText(value: unknown): value is string {
  return typeof value === "string" && value.length < 500;
}
