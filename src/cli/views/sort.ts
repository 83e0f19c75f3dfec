import { createListMapper, memoize, memoizeWeakly } from "../../core/base/memoize.ts";
import type { RowLists, TableColumn, TableView } from "./view.ts";

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

export function formatSortOrder({ column, descending }: SortOrder): string {
  return `${descending ? "-" : ""}${column}`;
}

/** A row with its sort value. */
interface WeightedRow<R> {
  row: R;
  by: string | number | bigint;
  key: string;
}

/** The first row of a list in an order. */
type FirstRow<R> = WeightedRow<R> & { rows: readonly R[] };

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

/** Parts of the items up to this size are sorted at once. */
const MAX_SORTED_PART = 1_000;
/** If parts are divided more often than this, the values are unfavourable, and what is left is sorted at once. */
const MAX_DIVISIONS = 64;

/** Sorts rows of a view only as far as they are taken: of a hundred thousand rows, a page shows a hundred. */
export class RowSorter<R> {
  readonly #weigh: ((row: R) => WeightedRow<R>) | undefined;
  readonly #compare: (a: WeightedRow<R>, b: WeightedRow<R>) => number;
  /** Finds the first row of a list, once while the list does not change. */
  readonly #findFirst: (rows: readonly R[]) => FirstRow<R> | undefined;
  /** For each part. */
  readonly #getMapper = memoize((_part: number) => createListMapper<readonly R[], FirstRow<R> | undefined>());

  constructor(view: SortedView<R>, order: SortOrder) {
    this.#weigh = createWeigher(view, order);
    this.#compare = createRowComparator(order);
    this.#findFirst = memoizeWeakly((rows) => {
      const [first] = sortRange(this.#weighRows(rows), this.#compare, { to: 1 });
      return first && { ...first, rows };
    });
  }

  #weighRows(rows: readonly R[]): WeightedRow<R>[] {
    const weigh = this.#weigh;
    return weigh === undefined ? [] : rows.map(weigh);
  }

  /** Sorts the rows of some ranks. @param parts  all rows of one are before those of the next */
  *sortRanks(parts: readonly RowLists<R>[], from: number, to: number): Generator<R> {
    let start = 0;
    for (const [part, lists] of parts.entries()) {
      yield* this.#sortLists(lists, Math.max(0, from - start), to - start, part);
      if (part < parts.length - 1) start += countListedRows(lists);
    }
  }

  *#sortLists(lists: RowLists<R>, from: number, to: number, part: number): Generator<R> {
    if (this.#weigh === undefined) return yield* lists.flat().slice(from, Math.max(0, to));
    // The first rows are in the lists whose own first rows come first.
    const firsts = this.#getMapper(part)(lists, this.#findFirst).filter((first) => first !== undefined);
    const chosen = [...sortRange(firsts, this.#compare, { to })];
    const weighed = chosen.flatMap(({ rows }) => this.#weighRows(rows));
    for (const { row } of sortRange(weighed, this.#compare, { from, to })) yield row;
  }
}

const MAX_KNOWN_SORTERS = 16;
const findSorter = memoizeWeakly((view: SortedView<object>) =>
  memoize((key: string) => new RowSorter(view, parseSortOrder(key.replace(/ .*$/s, ""))), MAX_KNOWN_SORTERS),
);

/** Returns the sorter of a view for the lists that a filter finds: it knows what was sorted before. */
export function getRowSorter(view: SortedView<object>, order: SortOrder, filter: string): RowSorter<object> {
  return findSorter(view)(`${formatSortOrder(order)} ${filter}`);
}

export function countListedRows(lists: RowLists<unknown>): number {
  return lists.reduce((sum, { length }) => sum + length, 0);
}

/**
 * Sorts items from one rank to another, as they are taken. Divides them, as quicksort does, and sorts no part without such items. Few of
 * many are in the order in which equal ones come.
 */
export function* sortRange<T>(
  all: Iterable<T>,
  compare: (a: T, b: T) => number,
  { from = 0, to }: { from?: number; to: number },
): Generator<T> {
  if (to <= from) return;
  const items = keepFirst(all, compare, to);
  const ends = [items.length];
  let start = 0;
  for (let end = ends.pop(); end !== undefined && start < to; end = ends.pop()) {
    if (end > from && end - start > MAX_SORTED_PART && ends.length < MAX_DIVISIONS) {
      ends.push(end, divideItems(items, start, end, compare));
      continue;
    }
    if (end > from)
      yield* items
        .slice(start, end)
        .sort(compare)
        .slice(Math.max(0, from - start), to - start);
    start = end;
  }
}

/** Leaves out items that are not among the first ones, as soon as that is known: most are never kept. */
function keepFirst<T>(all: Iterable<T>, compare: (a: T, b: T) => number, most: number): T[] {
  const first: T[] = [];
  const enough = Math.max(MAX_SORTED_PART, 2 * most);
  let last: T | undefined;
  for (const item of all) {
    if (last !== undefined && compare(item, last) >= 0) continue;
    first.push(item);
    if (first.length < enough) continue;
    first.sort(compare).length = most;
    last = first[most - 1];
  }
  return first;
}

/** Moves smaller items before larger ones. @returns the end of the smaller ones */
function divideItems<T>(items: T[], start: number, end: number, compare: (a: T, b: T) => number): number {
  const middle = items[(start + end - 1) >>> 1] as T;
  let [left, right] = [start, end - 1];
  for (;;) {
    while (compare(items[left] as T, middle) < 0) left += 1;
    while (compare(items[right] as T, middle) > 0) right -= 1;
    if (left >= right) return right + 1;
    [items[left], items[right]] = [items[right] as T, items[left] as T];
    left += 1;
    right -= 1;
  }
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
