import { formatNumber, printTable } from "../figures.ts";

/** A measured value and the most that it may be. */
export interface Target {
  what: string;
  /** Undefined: not measured. */
  value: number | undefined;
  most: number;
}

export function printTargets(title: string, targets: readonly Target[]): void {
  const rows = targets.map(({ what, value, most }) => [
    what,
    formatNumber(value, 2),
    formatNumber(most, 2),
    value === undefined ? "-" : value <= most ? "met" : "MISSED",
  ]);
  printTable(title, ["", "measured", "target", ""], rows);
}
