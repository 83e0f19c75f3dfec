import { formatBriefDuration, type Millis, type WallTime } from "../../core/base/clock.ts";
import type { AuditRecord } from "../../core/protocol/audit.ts";
import type { Drain } from "../../core/protocol/drain.ts";
import type { DrainScope } from "../../core/protocol/keys.ts";
import type { Ticket } from "../../core/protocol/ticket.ts";
import { THRESHOLDS } from "../../site/state/problem.ts";
import type { Tone } from "../../site/state/subject.ts";
import { formatDrainLine, formatReason } from "./drain-lines.ts";
import type { TableColumn } from "./view.ts";

/** Creates a column. Its title is the id in capitals, unless `more` has another. An undefined text is an empty cell. */
export function createTextColumn<R>(
  id: string,
  priority: number,
  formatCell: (row: R, wall: WallTime) => string | undefined,
  more: Partial<TableColumn<R>> = {},
): TableColumn<R> {
  const title = id.toUpperCase();
  return { id, title, priority, formatCell: (row, wall) => formatCell(row, wall) ?? "", ...more };
}

/** Selects columns by their ids. @param priorities  of each column where it is used */
export function selectColumns<R>(
  columns: readonly TableColumn<R>[],
  priorities: Readonly<Record<string, number>>,
): TableColumn<R>[] {
  return Object.entries(priorities).flatMap(([id, priority]) =>
    columns.filter((column) => column.id === id).map((column) => ({ ...column, priority })),
  );
}

/** Creates a column whose texts end at its right edge. */
export function createRightColumn<R>(
  id: string,
  priority: number,
  formatCell: (row: R, wall: WallTime) => string | undefined,
  more: Partial<TableColumn<R>> = {},
): TableColumn<R> {
  return createTextColumn(id, priority, formatCell, { align: "right", ...more });
}

/** Creates a column of numbers. Undefined is shown as an empty cell. `tones`: for 0, and for other numbers. */
export function createNumberColumn<R>(
  id: string,
  priority: number,
  getNumber: (row: R) => number | bigint | undefined,
  { tones, ...more }: Partial<TableColumn<R>> & { tones?: readonly [zero: Tone, other: Tone] } = {},
): TableColumn<R> {
  return createRightColumn(id, priority, (row) => getNumber(row)?.toString(), {
    getSortValue: (row) => getNumber(row) ?? 0,
    getMeasure: (row) => {
      const value = getNumber(row);
      return value === undefined ? undefined : Number(value);
    },
    ...(tones && { getTone: (row) => tones[getNumber(row) ? 1 : 0] }),
    ...more,
  });
}

/** Creates a column with the time since an instant. Undefined is shown as an empty cell. @param judgeAge  receives the time in ms */
export function createAgeColumn<R>(
  id: string,
  priority: number,
  getInstant: (row: R) => number | undefined,
  judgeAge?: (age: Millis) => Tone,
): TableColumn<R> {
  const getTone = (row: R, wall: WallTime): Tone => {
    const instant = getInstant(row);
    return instant === undefined ? "plain" : (judgeAge?.(wall - instant) ?? "plain");
  };
  return createRightColumn(id, priority, (row, wall) => formatAge(getInstant(row), wall), {
    isTimed: true,
    getSortValue: (row) => computeDurationWeight(getInstant(row)),
    ...createAgeMeasure(getInstant),
    ...(judgeAge && { getTone }),
  });
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

/** Creates a column of durations, ms. Undefined is shown as no time. */
export function createDurationColumn<R>(
  id: string,
  priority: number,
  getDuration: (row: R) => number | undefined,
  more: Partial<TableColumn<R>> = {},
): TableColumn<R> {
  const formatCell = (row: R) => {
    const duration = getDuration(row);
    return duration === undefined ? "" : formatBriefDuration(duration);
  };
  return createNumberColumn(id, priority, getDuration, { unit: "duration", formatCell, ...more });
}

/** Creates a column of hosts, or of `HOST:PID`. */
export function createOwnerColumn<R>(
  id: string,
  priority: number,
  formatCell: (row: R) => string,
  more: Partial<TableColumn<R>> = {},
): TableColumn<R> {
  const formatBriefCell = (row: R) => shortenOwner(formatCell(row));
  return createTextColumn(id, priority, formatCell, { formatBriefCell, ...more });
}

export function createStateColumn<R, S extends string>(
  priority: number,
  getTone: (state: S) => Tone,
  getState: (row: R) => S,
): TableColumn<R> {
  return createTextColumn("state", priority, getState, {
    isMarked: true,
    getTone: (row) => getTone(getState(row)),
  });
}

/** Creates the column of notes about something unusual. */
export function createNoteColumn<R>(priority: number, formatCell: (row: R) => string): TableColumn<R> {
  return createTextColumn("note", priority, formatCell, { getTone: () => "problem" });
}

/** Texts that several tables share. */

/** Formats the time since an instant; empty if it is undefined. */
export function formatAge(instant: WallTime | undefined, wall: WallTime): string {
  return instant === undefined ? "" : formatBriefDuration(wall - instant);
}

/** Returns the tone of the time for which something is held: long from an hour on, a problem from a day on. */
export function judgeHoldAge(age: Millis): Tone {
  return age >= THRESHOLDS.hold ? "problem" : age >= THRESHOLDS.wait ? "waiting" : "plain";
}

/** Returns the tone of the time for which somebody waits: a problem from an hour on. */
export function judgeWaitAge(age: Millis): Tone {
  return age >= THRESHOLDS.wait ? "problem" : "waiting";
}

/** Returns a sort value for the time since an instant, independent of the clock. Undefined sorts as shortest. */
export function computeDurationWeight(since: WallTime | undefined): number {
  return -(since ?? Number.POSITIVE_INFINITY);
}

/** Formats the first text, and the number of the others: `web1 +2`. */
export function formatFirstAndMore(texts: readonly string[]): string {
  const [first = "", ...others] = texts;
  return others.length === 0 ? first : `${first} +${others.length}`;
}

/** Formats the command of a ticket, with its arguments if the ticket stores them. */
export function formatTicketCommand(ticket: Ticket | undefined): string {
  const words = ticket?.args === undefined ? ticket?.command : [ticket.command, ...ticket.args].join(" ");
  return words ?? "";
}

/** Formats the drains of a row. Omits the target of drains with the scope of the rows. @param of  scope of the rows */
export function formatDrainNote(drains: readonly Drain[], of: DrainScope): string {
  const lines = drains.map((drain) => {
    const { scope, by, why } = drain;
    return scope === of ? `drained by ${by}${formatReason(why)}` : formatDrainLine(drain);
  });
  return lines.join("; ");
}

/** Formats who acted: `ann@web1`, or `ann as root@web1` with sudo. */
export function formatAuditAuthor({
  user,
  sudoUser,
  host,
}: Pick<AuditRecord, "user" | "sudoUser" | "host">): string {
  return `${sudoUser === undefined ? user : `${sudoUser} as ${user}`}@${host}`;
}

/** Formats a value; a missing one has no text. */
export function formatIfKnown<T>(value: T | undefined, format: (value: T) => string): string | undefined {
  return value === undefined ? undefined : format(value);
}

/** Formats named values, such as macros or leases: `NAME=value`. */
export function formatPairs(values: object = {}): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}

/** Shortens `web1.example.com:3121` to `web1:3121`. Other texts than DNS names stay unchanged. */
export function shortenOwner(who: string): string {
  return who.replace(/^([^.:\s]+)\.[^:\s]*[a-z][^:\s]*(?=:\d+$|$)/i, "$1");
}

/** Shortens the domain of a host in the name of a resource: `db1.example.com_cpu` to `db1_cpu`. */
export function shortenResourceName(name: string): string {
  return name.replace(/^([a-z0-9-]+)(?:\.[a-z0-9-]+)+(?=_)/i, "$1");
}

const TONES: Record<string, Tone> = {
  held: "held",
  grace: "quiet",
  free: "free",
  waiting: "waiting",
  admitted: "waiting",
  drained: "problem",
  resetting: "problem",
  malformed: "problem",
};

export function getStateTone(state: string): Tone {
  return TONES[state] ?? "plain";
}

/** Returns the tone of a result. `released` and `retry` are requests of handlers, not problems. */
export function getResultTone(result: string | undefined): Tone {
  if (result === undefined || result === "ok") return "quiet";
  return result === "released" || result === "retry" ? "plain" : "problem";
}

/** Formats a lateness, in tenths of a second below 10 s. @param ms  milliseconds */
export function formatLateness(ms: Millis): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : formatBriefDuration(ms);
}
