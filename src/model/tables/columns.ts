import type { TableColumn, Tone } from "../views/view.ts";
import { computeDurationWeight, formatAge, shortenOwner } from "./cells.ts";

/** Creates a column of numbers. Undefined is shown as an empty cell. @param tones  for 0, and for other numbers */
export function createNumberColumn<R>(
  id: string,
  title: string,
  priority: number,
  getNumber: (row: R) => number | bigint | undefined,
  tones?: { zero: Tone; other: Tone },
): TableColumn<R> {
  const isZero = (row: R) => (getNumber(row) ?? 0) === 0;
  return {
    id,
    title,
    priority,
    align: "right",
    formatCell: (row) => String(getNumber(row) ?? ""),
    getSortValue: (row) => getNumber(row) ?? 0,
    getMeasure: (row) => toNumber(getNumber(row)),
    ...(tones && { getTone: (row) => (isZero(row) ? tones.zero : tones.other) }),
  };
}

/**
 * Creates a column with the time since an instant. Undefined is shown as an empty cell.
 * @param tone  of all cells, or by the time in ms
 */
export function createAgeColumn<R>(
  id: string,
  title: string,
  priority: number,
  getInstant: (row: R) => number | undefined,
  tone?: Tone | ((age: number) => Tone),
): TableColumn<R> {
  const getTone = (row: R, wall: number): Tone => {
    if (typeof tone !== "function") return tone ?? "plain";
    const instant = getInstant(row);
    return instant === undefined ? "plain" : tone(wall - instant);
  };
  return {
    id,
    title,
    priority,
    align: "right",
    isTimed: true,
    formatCell: (row, wall) => formatAge(getInstant(row), wall),
    getSortValue: (row) => computeDurationWeight(getInstant(row)),
    ...createAgeMeasure(getInstant),
    ...(tone && { getTone }),
  };
}

/** Creates the measure of a column that shows the time since an instant. */
export function createAgeMeasure<R>(
  getInstant: (row: R) => number | undefined,
): Pick<TableColumn<R>, "unit" | "getMeasure"> {
  return {
    unit: "duration",
    getMeasure: (row, wall) => {
      const instant = getInstant(row);
      return instant === undefined ? undefined : wall - instant;
    },
  };
}

function toNumber(value: number | bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

/** Creates a column of hosts, or of `HOST:PID`. */
export function createOwnerColumn<R>(
  id: string,
  title: string,
  priority: number,
  formatCell: (row: R) => string,
): TableColumn<R> {
  return { id, title, priority, formatCell, formatBriefCell: (row) => shortenOwner(formatCell(row)) };
}

/** Creates the column of states. */
export function createStateColumn<R, S extends string>(
  priority: number,
  getTone: (state: S) => Tone,
  getState: (row: R) => S,
): TableColumn<R> {
  return {
    id: "state",
    title: "STATE",
    isMarked: true,
    priority,
    formatCell: getState,
    getTone: (row) => getTone(getState(row)),
  };
}

/** Creates the column of notes about something unusual. */
export function createNoteColumn<R>(priority: number, formatCell: (row: R) => string): TableColumn<R> {
  return { id: "note", title: "NOTE", priority, formatCell, getTone: () => "problem" };
}
