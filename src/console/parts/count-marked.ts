import type { ConsoleData } from "./parts.ts";

/** Counts marked rows: those in the table, and those that it does not show. */
export function countMarkedRows({ state, table }: ConsoleData): {
  here: number;
  elsewhere: number;
} {
  const { marks } = state.tabs[state.tab];
  const here = [...marks].filter((key) => table.findIndex(key, 0) >= 0).length;
  return { here, elsewhere: marks.size - here };
}
