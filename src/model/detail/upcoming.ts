import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import type { Calendars } from "../../schedule/calendar/calendar.ts";
import { listUpcoming } from "../../schedule/calendar/upcoming-days.ts";
import type { UpcomingOccurrence } from "../../schedule/cron/upcoming-occurrences.ts";
import { computeLag } from "../../schedule/timing.ts";
import type { ScheduleRow } from "../rows/schedule-row.ts";
import { buildDetailTable, type Cell, type ItemColumn, type Section } from "./detail.ts";

/** Number of occurrences shown. */
const COUNT = 5;

/** Builds the table of the next occurrences, with notes on clock changes (daylight saving time) and excluded days. */
export function buildUpcomingTable(
  { id, definition, due }: ScheduleRow,
  calendars: Calendars,
  wall: number,
): Section[] {
  const first = due?.next;
  if (definition === undefined || first === undefined) return [];
  const lag = computeLag(id, definition);
  const { end = Number.POSITIVE_INFINITY } = definition;
  const found = listUpcoming(definition, calendars, {
    after: first - 1,
    count: COUNT,
    since: Math.min(first, wall),
  });
  const columns: ItemColumn<UpcomingOccurrence>[] = [
    { title: "SCHEDULED", priority: 1, getCell: ({ local }) => local },
    { title: "MAY RUN", priority: 2, getCell: ({ at }) => formatInstant(at + lag) },
    { title: "IN", priority: 1, align: "right", getCell: ({ at }) => formatBriefDuration(at + lag - wall) },
    { title: "NOTE", priority: 3, getCell: buildNoteCell },
  ];
  return buildDetailTable(
    `next runs; more: signalbox schedule next ${quoteShellWord(id)}`,
    columns,
    found.filter(({ at }) => at <= end),
  );
}

function buildNoteCell({ note, mark }: UpcomingOccurrence): Cell {
  return { text: note ?? mark ?? "", tone: mark === undefined ? "plain" : "waiting" };
}
