import type { RowModel } from "../theme/cells.ts";

/** How keys move through a list. */
const STEPS: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  "wheel-up": -1,
  down: 1,
  j: 1,
  "wheel-down": 1,
  pageup: -10,
  pagedown: 10,
  home: -Infinity,
  end: Infinity,
};

/** Returns the index that a key leads to, or undefined for another key. */
export function moveInList(at: number, length: number, chord: string): number | undefined {
  const step = Object.hasOwn(STEPS, chord) ? STEPS[chord] : undefined;
  return step === undefined ? undefined : Math.max(0, Math.min(length - 1, at + step));
}

/** Returns the rows around the selected one that fit, with the selection. */
export function windowRows(rows: readonly RowModel[], at: number, height: number): RowModel[] {
  const top = Math.max(0, Math.min(at - Math.floor(height / 2), rows.length - height));
  return rows
    .map((row, index): RowModel => (index === at ? { ...row, selection: "focused" } : row))
    .slice(top, top + height);
}
