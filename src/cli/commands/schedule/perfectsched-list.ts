import type { WallTime } from "../../../core/base/clock.ts";
import { computeDisplayWidth } from "../../../core/base/display-width.ts";
import { quoteShellWords } from "../../../core/base/shell.ts";
import { clean } from "../../../core/base/text.ts";
import { findCalendarFault } from "../../../schedule/calendar/day-rule.ts";
import { getScheduleType } from "../../../schedule/definition.ts";
import { formatCronText } from "../../../schedule/plan.ts";
import {
  getShownDue,
  readAllStoredSchedules,
  type StoredSchedule,
} from "../../../site/operate/stored-schedules.ts";
import { formatInstantUtc } from "../../frame/command-line/instant.ts";
import { createReadCommand } from "../../frame/read-snapshot.ts";

const COLUMN_TITLES = ["key", "type", "cron", "delay", "timezone", "next_time", "next_run_time", "data"];

/** Lists the schedules in the columns of PerfectSched's table, in the order of their next runs. */
export const listSchedules = createReadCommand(async (context) => {
  const { schedules, calendars } = await readAllStoredSchedules(context, context.signal);
  const rows = [...schedules.values()].sort((one, other) => getRunAt(one) - getRunAt(other) || 0);
  for (const cells of [COLUMN_TITLES, ...rows.map(toCells)])
    context.io.writeOutput(formatTableLine(cells.map((cell) => clean(cell))));
  context.io.writeOutput(`${rows.length} entries.\n`);
  for (const { id, fault, definition } of schedules.values()) {
    if (fault !== undefined) context.printMessage(`note: schedule ${id} cannot be read: ${fault}`);
    const missing = definition && findCalendarFault(definition, calendars);
    if (missing !== undefined) context.printMessage(`note: schedule ${id} does not fire: ${missing}`);
  }
});

/** Returns when the next occurrence may start. */
function getRunAt(stored: StoredSchedule): WallTime {
  const due = getShownDue(stored);
  return due?.next === undefined ? Number.POSITIVE_INFINITY : due.runAt;
}

/** Returns the cells of a schedule, with text from etcd. The delay is in seconds. */
function toCells(stored: StoredSchedule): string[] {
  const { id, definition } = stored;
  if (definition === undefined) return [id, ...Array<string>(COLUMN_TITLES.length - 1).fill("?")];
  const { cron, timezone, delay = 0, data, command } = definition;
  const type = command === undefined ? getScheduleType(id, definition) : "-";
  return [
    id,
    type,
    formatCronText(cron),
    String(delay / 1000),
    timezone,
    ...formatTimes(getShownDue(stored)),
    data !== undefined ? JSON.stringify(data) : command === undefined ? "" : quoteShellWords(command),
  ];
}

/** Formats when the next occurrence is due, and when it may start. */
function formatTimes(due: StoredSchedule["due"]): [string, string] {
  if (due === undefined) return ["-", "-"];
  if (due.next === undefined) return ["never", "never"];
  return [formatInstantUtc(due.next), formatInstantUtc(due.runAt)];
}

/** Widths of all columns but the last. */
const COLUMN_WIDTHS = [30, 15, 18, 7, 11, 28, 28];

/** Formats a line of the tool's table. Columns are right-aligned; the last one is left-aligned after two spaces. */
export function formatTableLine(cells: readonly string[]): string {
  const columns = COLUMN_WIDTHS.map((width, at) => {
    const cell = cells[at] ?? "";
    return " ".repeat(Math.max(0, width - computeDisplayWidth(cell))) + cell;
  });
  return `${columns.join(" ")}  ${cells[COLUMN_WIDTHS.length] ?? ""}\n`;
}
