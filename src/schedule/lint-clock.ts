import { wallFrom } from "./calendar.ts";
import type { Cron } from "./cron.ts";
import type { LintFinding } from "./lint-finding.ts";
import { moved, occurrenceAfter } from "./occurrence.ts";
import { type Period, periodAt } from "./offsets.ts";
import { changeText, skippedBy } from "./preview.ts";
import { dateOf, timeOf } from "./wall.ts";

const YEAR = 366 * 86_400_000;

/** What the zone's clock changes of a year do, and whether the schedule comes at all. Instants in ms since the epoch. */
export function clockFindings(cron: Cron, zone: string, now: number): LintFinding[] {
  const next = occurrenceAfter(cron, zone, now);
  if (next === undefined)
    return [
      {
        level: "error",
        about: "clock change",
        detail: `it never fires: the clocks of ${zone} skip it every time`,
        remedy: "another hour, or --timezone UTC",
      },
    ];
  // Who asks for every hour asks for the clocks' own hours, whichever there are.
  if (cron.fields.hour.values.length === 24) return [];
  return changesOf(zone, now).flatMap((period) => changeFindings(cron, zone, period));
}

/** The periods that begin with a change, within a year. */
function changesOf(zone: string, now: number): Period[] {
  const changes: Period[] = [];
  let period = periodAt(zone, now);
  while (period !== undefined && period.start < now + YEAR) {
    if (period.start > now && period.offset !== period.before) changes.push(period);
    period = periodAt(zone, period.end);
  }
  return changes;
}

function changeFindings(cron: Cron, zone: string, period: Period): LintFinding[] {
  const { start, offset, before } = period;
  const say = (level: LintFinding["level"], what: string): LintFinding[] => [
    {
      level,
      about: "clock change",
      detail: `on ${dateOf(start + before)} the clocks of ${zone} go from ${changeText(period)}: ${what}`,
      remedy: "another hour, or --timezone UTC",
    },
  ];
  if (offset < before) {
    const twice = wallFrom(cron.calendar, start + offset, start + before);
    if (twice === undefined) return [];
    return cron.isFixed
      ? say("hint", `${timeOf(twice)} comes twice, it fires the first time`)
      : say("warning", `it fires twice for ${timeOf(twice)}`);
  }
  const [skipped] = skippedBy(cron, period);
  if (skipped === undefined) return [];
  return moved(cron, period) === undefined
    ? say("warning", `it does not fire for ${timeOf(skipped)}`)
    : say("hint", `${timeOf(skipped)} does not exist, it fires at ${timeOf(start + offset)}`);
}
