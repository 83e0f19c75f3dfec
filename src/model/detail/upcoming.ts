import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { parseCron } from "../../schedule/cron/cron.ts";
import { listUpcomingOccurrences } from "../../schedule/cron/upcoming-occurrences.ts";
import { createTiming } from "../../schedule/timing.ts";
import type { ScheduleRow } from "../rows/schedule-row.ts";
import { buildDetailTable, type Section } from "./detail.ts";

/** Number of occurrences shown. */
const COUNT = 5;

/** Builds the table of the next occurrences, with notes on clock changes (daylight saving time). */
export function buildUpcomingTable({ id, definition, due }: ScheduleRow, wall: number): Section[] {
  const first = due?.next;
  if (definition === undefined || first === undefined) return [];
  const { lag } = createTiming(id, definition);
  const { end = Number.POSITIVE_INFINITY, cron, timezone } = definition;
  const found = listUpcomingOccurrences(parseCron(cron), timezone, first - 1, COUNT);
  return buildDetailTable(
    `next runs; more: signalbox schedule next ${quoteShellWord(id)}`,
    [
      { title: "SCHEDULED", priority: 1 },
      { title: "MAY RUN", priority: 2 },
      { title: "IN", priority: 1, align: "right" },
      { title: "NOTE", priority: 3 },
    ],
    found
      .filter(({ at }) => at <= end)
      .map(({ at, local, mark, note }) => [
        ...[
          { text: local },
          { text: formatInstant(at + lag) },
          { text: formatBriefDuration(at + lag - wall) },
        ],
        { text: note ?? mark ?? "", tone: mark === undefined ? "plain" : "waiting" },
      ]),
  );
}
