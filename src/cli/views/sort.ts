import type { TableColumn, TableView } from "./view.ts";

/** A sort order: by a column, ascending or descending. */
export interface SortOrder {
  column: string;
  descending: boolean;
}

/** Parses a sort order: a column id, with the prefix `-` for descending. */
export function parseSortOrder(text: string): SortOrder {
  return text.startsWith("-")
    ? { column: text.slice(1), descending: true }
    : { column: text, descending: false };
}

/** A row with its sort value. */
interface WeightedRow<R> {
  row: R;
  by: string | number | bigint;
  key: string;
}

/** What is needed of a view to sort its rows. */
type SortedView<R> = Pick<TableView<R>, "columns" | "getKey">;

/** Sorts rows. Equal rows are sorted by key, so their order stays the same between snapshots. */
export function sortViewRows<R>(view: SortedView<R>, rows: readonly R[], order: SortOrder): R[] {
  const weigh = createWeigher(view, order);
  if (weigh === undefined) return [...rows];
  return rows
    .map(weigh)
    .sort(createRowComparator(order))
    .map(({ row }) => row);
}

/** Returns a function that computes the sort value of a row; undefined if the view has no such column. */
function createWeigher<R>(
  view: SortedView<R>,
  { column: id }: SortOrder,
): ((row: R) => WeightedRow<R>) | undefined {
  const column = view.columns.find((one) => one.id === id);
  return column && ((row) => ({ row, by: getSortValue(column, row), key: view.getKey(row) }));
}

function createRowComparator({ descending }: SortOrder) {
  const sign = descending ? -1 : 1;
  return <R>(a: WeightedRow<R>, b: WeightedRow<R>): number =>
    sign * compare(a.by, b.by) || compare(a.key, b.key);
}

function getSortValue<R>({ formatCell, getSortValue }: TableColumn<R>, row: R): string | number | bigint {
  return getSortValue === undefined ? formatCell(row, 0) : getSortValue(row);
}

function compare(a: string | number | bigint, b: string | number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** If more than this part of the rows is new, everything is sorted. */
const MAX_NEW_SHARE = 1 / 4;

/** A weighted row, and the update that last contained it. */
interface PlacedRow<R> extends WeightedRow<R> {
  update: number;
}

/**
 * Keeps rows sorted while some of them are replaced: new rows are sorted and merged into those that stayed. With a hundred
 * thousand rows, sorting all of them for each change would cost most of the time. A row is never changed; its successor is
 * another object.
 */
export class SortedRows<R extends object> {
  readonly #weigh: ((row: R) => WeightedRow<R>) | undefined;
  readonly #compare: (a: WeightedRow<R>, b: WeightedRow<R>) => number;
  readonly #placed = new WeakMap<R, PlacedRow<R>>();
  #sorted: PlacedRow<R>[] = [];
  #update = 0;

  constructor(view: SortedView<R>, order: SortOrder) {
    this.#weigh = createWeigher(view, order);
    this.#compare = createRowComparator(order);
  }

  /** Sorts the rows. @param rows  each row once */
  sort(rows: readonly R[]): readonly R[] {
    if (this.#weigh === undefined) return rows;
    this.#update += 1;
    const added = this.#place(rows, this.#weigh).sort(this.#compare);
    this.#removeOthers();
    if (added.length > MAX_NEW_SHARE * rows.length)
      this.#sorted = [...this.#sorted, ...added].sort(this.#compare);
    else this.#merge(added);
    return this.#sorted.map(({ row }) => row);
  }

  /** Marks the rows as part of this update. @returns those that the last one did not contain */
  #place(rows: readonly R[], weigh: (row: R) => WeightedRow<R>): PlacedRow<R>[] {
    const added: PlacedRow<R>[] = [];
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at] as R; // an iterator would allocate an object for each of a hundred thousand rows
      const known = this.#placed.get(row);
      if (known !== undefined && known.update === this.#update - 1) known.update = this.#update;
      else {
        const placed = { ...weigh(row), update: this.#update };
        this.#placed.set(row, placed);
        added.push(placed);
      }
    }
    return added;
  }

  /** Removes the rows that are not part of this update, in place: a copy of a long list for each update is much garbage. */
  #removeOthers(): void {
    const sorted = this.#sorted;
    let length = 0;
    for (let at = 0; at < sorted.length; at += 1) {
      const one = sorted[at] as PlacedRow<R>;
      if (one.update !== this.#update) continue;
      sorted[length] = one;
      length += 1;
    }
    sorted.length = length;
  }

  /** Merges sorted rows into the others, in place, from the end. */
  #merge(added: readonly PlacedRow<R>[]): void {
    const sorted = this.#sorted;
    let kept = sorted.length;
    for (const one of added) sorted.push(one); // makes room
    let place = sorted.length;
    for (const one of added.toReversed()) {
      for (; kept > 0 && this.#compare(one, sorted[kept - 1] as PlacedRow<R>) < 0; kept -= 1) {
        place -= 1;
        sorted[place] = sorted[kept - 1] as PlacedRow<R>;
      }
      place -= 1;
      sorted[place] = one;
    }
  }
}
