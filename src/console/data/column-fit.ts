import { type FittedColumn, GAP } from "../../commands/see/fit-columns.ts";
import type { TableColumn } from "../../model/views/view.ts";

/** Why a column is not on the screen, or that it is. */
export type ColumnState = "shown" | "too narrow" | "no values" | "off";

/** A column of a table, for choosing. */
export interface ColumnChoice {
  id: string;
  title: string;
  isOn: boolean;
  state: ColumnState;
}

/** Where a column was painted, from the left edge of the titles. */
export interface PlacedColumn {
  id: string;
  left: number;
  width: number;
}

/** Returns where fitted columns are painted. */
export function placeTableColumns(
  columns: readonly FittedColumn<{ column: { id: string } }>[],
): PlacedColumn[] {
  let left = 0;
  return columns.map(({ column: { id }, width }) => {
    const placed = { id, left, width };
    left += width + GAP;
    return placed;
  });
}

/** Returns the column whose title is at a position. The gap after a column belongs to it. */
export function findPlacedColumn(placed: readonly PlacedColumn[], at: number): string | undefined {
  return placed.find(({ left, width }) => at >= left && at < left + width + GAP)?.id;
}

/**
 * Returns the columns of a view that the user has chosen, in their order. The first is the most important one: columns
 * that do not fit are left out from the end.
 * @param chosen  ids, perhaps of another version; undefined for those of the view
 */
export function chooseColumns<R>(
  columns: readonly TableColumn<R>[],
  chosen: readonly string[] | undefined,
  onDemand: number,
): readonly TableColumn<R>[] {
  const known = chosen?.flatMap((id) => columns.find((column) => column.id === id) ?? []) ?? [];
  if (known.length === 0) return columns.filter(({ priority }) => priority < onDemand);
  return known.map((column, at) => ({ ...column, priority: at + 1 }));
}

/** Lists the ids of all columns: first the chosen ones in their order, then the others. */
export function listColumnIds<R>(
  columns: readonly TableColumn<R>[],
  chosen: readonly string[] | undefined,
  onDemand: number,
): string[] {
  const on = chooseColumns(columns, chosen, onDemand).map(({ id }) => id);
  return [...on, ...columns.flatMap(({ id }) => (on.includes(id) ? [] : [id]))];
}
