/** A position in a list. It follows its row, not its index. */
export interface Cursor {
  /** Key of the row; undefined if the list has none yet. */
  key: string | undefined;
  /** The last index of the row. If the row is removed, the row that is now at this index is selected. */
  index: number;
  /** Index of the first visible row. */
  top: number;
}

export const START_CURSOR: Cursor = { key: undefined, index: 0, top: 0 };

export interface RowList {
  readonly length: number;
  getKeyAt(index: number): string | undefined;
  /** @param near  the probable index @returns -1 if the key is not in the list */
  findIndex(key: string, near: number): number;
}

/** Limits a value to a range. Returns `least` if that is greater than `most`. */
export function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}

/** Returns the index of the first visible line, such that the line at `index` is near the middle. */
export function computeWindowTop(index: number, length: number, height: number): number {
  return clamp(index - Math.floor(height / 2), 0, length - height);
}

/**
 * Adjusts the cursor to the current rows. It stays on its row even if that has moved; if the row is gone, it selects
 * the row now at its index. The window moves as little as possible.
 * @param height  number of visible rows
 */
export function clampCursor(cursor: Cursor, rows: RowList, height: number): Cursor {
  if (rows.length === 0) return { ...cursor, index: 0, top: 0 };
  const found = cursor.key === undefined ? -1 : rows.findIndex(cursor.key, cursor.index);
  const index = found >= 0 ? found : Math.min(cursor.index, rows.length - 1);
  // The row keeps its position on the screen when rows above it are added or removed.
  const shifted = cursor.top + (found >= 0 ? index - cursor.index : 0);
  return { key: rows.getKeyAt(index), index, top: computeTop(shifted, index, height, rows.length) };
}

export function moveCursor(cursor: Cursor, rows: RowList, to: number, height: number): Cursor {
  if (rows.length === 0) return cursor;
  const index = clamp(to, 0, rows.length - 1);
  return { key: rows.getKeyAt(index), index, top: computeTop(cursor.top, index, height, rows.length) };
}

/** Scrolls the window, and keeps the cursor within it. */
export function scrollCursor(cursor: Cursor, rows: RowList, by: number, height: number): Cursor {
  const top = clamp(cursor.top + by, 0, rows.length - height);
  const index = clamp(cursor.index, top, top + height - 1);
  return moveCursor({ ...cursor, top }, rows, index, height);
}

/** Returns the index of the first visible row, such that the row at `index` is visible. */
function computeTop(top: number, index: number, height: number, length: number): number {
  const room = Math.max(1, height);
  const least = clamp(top, 0, length - room);
  return Math.max(index - room + 1, Math.min(least, index), 0);
}

/** Numbers of rows by which keys, and actions of keys in lists, move. */
const ROW_STEPS: ReadonlyMap<string, number> = new Map([
  ["up", -1],
  ["k", -1],
  ["down", 1],
  ["j", 1],
  ["top", Number.NEGATIVE_INFINITY],
  ["home", Number.NEGATIVE_INFINITY],
  ["g", Number.NEGATIVE_INFINITY],
  ["bottom", Number.POSITIVE_INFINITY],
  ["end", Number.POSITIVE_INFINITY],
  ["G", Number.POSITIVE_INFINITY],
]);
/** The same in pages, and in turns of the mouse wheel. */
const PAGE_STEP = /^(?:(pageup|ctrl\+b)|pagedown|ctrl\+f|space)$/i;
const WHEEL_STEP = /^wheel-(?:(up)|down)$/;

/**
 * Returns the position that a key or the mouse wheel leads to: the same one for keys that do not move.
 * @param by    a chord, an action of a key, or of the mouse
 * @param last  the last position
 * @param size  lines of a page, and of a turn of the wheel
 */
export function stepBy(by: string, at: number, last: number, size: { page: number; wheel: number }): number {
  const [page, pageUp] = PAGE_STEP.exec(by) ?? [];
  const [wheel, wheelUp] = WHEEL_STEP.exec(by) ?? [];
  const pages = page === undefined ? 0 : pageUp ? -size.page : size.page;
  const turns = wheel === undefined ? 0 : wheelUp ? -size.wheel : size.wheel;
  return clamp(at + (ROW_STEPS.get(by) ?? 0) + pages + turns, 0, last);
}

/** Returns the new scroll position of a text. @param by  as of `stepBy` @param height  number of visible lines */
export function scrollBy(by: string, top: number, length: number, height: number): number {
  return stepBy(by, top, length - height, { page: height - 1, wheel: 3 });
}
