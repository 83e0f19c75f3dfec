import { collectTexts, quoteText } from "../../base/text.ts";
import type { Cron } from "../cron/cron.ts";
import type { CronField } from "../cron/cron-field.ts";
import { describeClockDifference } from "./lint-clock.ts";

// PerfectSched up to 0.8.10 asks the gem cron-spec about every minute of the zone's clock. From 0.8.11 on, the gem chrono
// computes the next time.

const PERFECTSCHED_CLOCK_RULE = {
  shifted: "PerfectSched: not on that day",
  once: "PerfectSched: both times",
};

/**
 * Lists where PerfectSched reads a cron text differently, one text for each kind: days, steps, Sunday, and clock changes.
 * @param now  ms since the epoch; clock changes within the following year count
 * @see CronSpec::CronSpecification, Chrono::NextTime, Chrono::Fields::Base
 */
export function listPerfectschedDifferences(cron: Cron, zone: string, now: number): string[] {
  const { minute, hour, day, month, weekday } = cron.fields;
  return collectTexts([
    describeDayDifference(day, weekday),
    describeStarStep(day, month),
    describeValueStep([minute, hour, day, month, weekday]),
    describeSundayRange(weekday),
    describeClockDifference(cron, zone, now, PERFECTSCHED_CLOCK_RULE),
  ]);
}

const isOpen = (text: string) => text === "*" || text === "?";

/** cron-spec wants both days, chrono one of them, unless one is just `*`. */
function describeDayDifference(day: CronField, weekday: CronField): string | undefined {
  if (isOpen(day.text) || isOpen(weekday.text)) return undefined;
  const texts = `days of the month ${quoteText(day.text)} and of the week ${quoteText(weekday.text)}`;
  if (day.isStar || weekday.isStar)
    return `${texts}: both must match; in PerfectSched from 0.8.11 on, one match is enough`;
  return `${texts}: one match is enough; in PerfectSched up to 0.8.10, both must match`;
}

/** Steps count from 1 here and in chrono, and from 0 in cron-spec. */
function describeStarStep(day: CronField, month: CronField): string | undefined {
  const stepped = [day, month].filter(({ text }) => /(?:^|,)\*\/(?!0*1(?:,|$))/.test(text));
  if (stepped.length === 0) return undefined;
  const texts = stepped.map(({ text, kind, values }) => {
    return `${kind.name} ${quoteText(text)} is ${values.slice(0, 3).join(", ")}`;
  });
  return `${texts.join("; ")} and so on; PerfectSched up to 0.8.10 takes the multiples of the step`;
}

function describeValueStep(fields: readonly CronField[]): string | undefined {
  const stepped = fields.filter(({ text }) => /(?:^|,)[^-*?,/]+\//.test(text));
  if (stepped.length === 0) return undefined;
  const texts = stepped.map(({ text, kind }) => `${kind.name} ${quoteText(text)}`);
  return `${texts.join(" and ")} goes on to the end of the field; in PerfectSched it is the first value only`;
}

/** Both gems replace 7 by 0 before they read the range. */
function describeSundayRange({ text }: CronField): string | undefined {
  if (!/(?:^|,)(?:0|sun)-7/i.test(text)) return undefined;
  return `day of the week ${quoteText(text)} is every day of the range; in PerfectSched it is Sunday only`;
}
