import type { Cursor } from "./state.ts";

/** Rows that a cursor can stand on. */
export interface Rows {
  readonly length: number;
  keyAt(index: number): string | undefined;
  /** @param near  where it probably is @returns -1 where it is none of them */
  indexOf(key: string, near: number): number;
}

/**
 * The cursor on rows as they are now: on the same row wherever that has gone; where it is no more, on what has come in its
 * place. The window moves as little as it can.
 * @param height  rows in sight
 */
export function settled(cursor: Cursor, rows: Rows, height: number): Cursor {
  if (rows.length === 0) return { ...cursor, index: 0, top: 0 };
  const found = cursor.key === undefined ? -1 : rows.indexOf(cursor.key, cursor.index);
  const index = found >= 0 ? found : Math.min(cursor.index, rows.length - 1);
  // The row stays where it was on the screen when others come or go above it.
  const shifted = cursor.top + (found >= 0 ? index - cursor.index : 0);
  return { key: rows.keyAt(index), index, top: topFor(shifted, index, height, rows.length) };
}

/** The cursor on another row. */
export function moved(cursor: Cursor, rows: Rows, to: number, height: number): Cursor {
  if (rows.length === 0) return cursor;
  const index = Math.max(0, Math.min(to, rows.length - 1));
  return { key: rows.keyAt(index), index, top: topFor(cursor.top, index, height, rows.length) };
}

/** The window moved by itself, the cursor staying in it. */
export function scrolled(cursor: Cursor, rows: Rows, by: number, height: number): Cursor {
  const top = Math.max(0, Math.min(cursor.top + by, rows.length - height));
  const index = Math.max(top, Math.min(cursor.index, top + height - 1));
  return moved({ ...cursor, top }, rows, index, height);
}

/** The first row in sight, so that the row at `index` is. */
function topFor(top: number, index: number, height: number, length: number): number {
  const room = Math.max(1, height);
  const least = Math.max(0, Math.min(top, length - room));
  return Math.max(index - room + 1, Math.min(least, index), 0);
}
