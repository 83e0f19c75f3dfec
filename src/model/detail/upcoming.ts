import { briefDuration, formatInstant } from "../../base/duration.ts";
import { shellWord } from "../../base/shell.ts";
import { parseCron } from "../../schedule/cron.ts";
import { upcoming } from "../../schedule/preview.ts";
import { timingOf } from "../../schedule/timing.ts";
import type { ScheduleRow } from "../schedule-row.ts";
import { type Section, tableOf } from "./detail.ts";

/** Occurrences that are shown. */
const COUNT = 5;

/** The next occurrences, with what changes of the clock do to them. */
export function upcomingTable({ id, definition, due }: ScheduleRow, wall: number): Section[] {
  const first = due?.next;
  if (definition === undefined || first === undefined) return [];
  const { lag } = timingOf(id, definition);
  const { end = Number.POSITIVE_INFINITY, cron, timezone } = definition;
  const found = upcoming(parseCron(cron), timezone, first - 1, COUNT);
  return tableOf(
    `next runs; more: signalbox schedule next ${shellWord(id)}`,
    [
      { title: "SCHEDULED", priority: 1 },
      { title: "MAY RUN", priority: 2 },
      { title: "IN", priority: 1, align: "right" },
      { title: "NOTE", priority: 3 },
    ],
    found
      .filter(({ at }) => at <= end)
      .map(({ at, local, mark, note }) => [
        ...[{ text: local }, { text: formatInstant(at + lag) }, { text: briefDuration(at + lag - wall) }],
        { text: note ?? mark ?? "", tone: mark === undefined ? "plain" : "waiting" },
      ]),
  );
}
