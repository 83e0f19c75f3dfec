import type { WallTime } from "../../core/base/clock.ts";
import { SignalboxError } from "../../core/base/errors.ts";
import { collectTexts, quoteText } from "../../core/base/text.ts";
import { type CronText, type Plan, parsePlan } from "../plan.ts";
import { type Cron, CronError, isCron, type WallPlan } from "./cron.ts";
import { type CronField, type CronFields, MONTHS, parseCronField } from "./cron-field.ts";
import { formatList } from "./explain-cron.ts";
import { checkZone, findOffsetPeriod, type OffsetPeriod } from "./offsets.ts";
import {
  findOccurrenceAfter,
  findShiftedWall,
  formatClockChange,
  listSkippedWalls,
} from "./upcoming-occurrences.ts";
import { findWallFrom, formatWallClock, formatWallDate } from "./wall-times.ts";

/** A problem or possible mistake in a schedule. */
export interface LintFinding {
  /**
   * `error`: the schedule never fires. `warning`: it fires at times that most users do not expect. `hint`: it may be
   * intended.
   */
  level: "error" | "warning" | "hint";
  /** The part concerned: the name of a field, "cron", "timezone" or "clock change". */
  about: string;
  /** What is wrong, or may be. */
  detail: string;
  /** What to write instead. */
  remedy?: string;
}

export function createFinding(
  level: LintFinding["level"],
  about: string,
  detail: string,
  remedy?: string,
): LintFinding {
  return { level, about, detail, ...(remedy !== undefined && { remedy }) };
}

/**
 * Finds possible problems with a cron expression in a time zone.
 * @param now clock changes within the following year are checked
 * @returns worst first; empty if there are no findings
 * @throws never
 */
export function lintCron(text: CronText, zone: string, now: WallTime): readonly LintFinding[] {
  const cron = tryParse(() => parsePlan(text));
  const place = tryParse(() => checkZone(zone));
  if ("fault" in cron || "fault" in place)
    return [
      ...("fault" in cron ? [createFinding("error", cron.fault.field ?? "cron", cron.fault.message)] : []),
      ...("fault" in place ? [createFinding("error", "timezone", place.fault.message)] : []),
    ];
  return lintParsed(cron.value, place.value, now).sort((a, b) => LEVEL_RANKS[a.level] - LEVEL_RANKS[b.level]);
}

const LEVEL_RANKS = { error: 0, warning: 1, hint: 2 } as const;

function lintParsed(plan: Plan, zone: string, now: WallTime): LintFinding[] {
  if (plan.kind !== "cron") return [];
  return plan.crons.flatMap((cron) => [
    ...(isCron(cron) ? lintFields(cron) : []),
    ...lintClockChanges(cron, zone, now),
  ]);
}

/** Finds possible problems with the fields, in their order. */
function lintFields({ fields, seconds }: Cron): LintFinding[] {
  const { minute, hour } = fields;
  return [
    ...(seconds === undefined ? lintFrequency(minute, hour) : lintSeconds(seconds)),
    ...lintLostSteps(fields),
    ...lintStep(minute, 60, "hour"),
    ...lintStep(hour, 24, "day"),
    ...lintMidnight(minute, hour),
    ...lintDayCombination(fields),
    ...lintDaySteps(fields),
    ...lintDates(fields),
  ];
}

type ParseFault = { message: string; field?: string | undefined };

function tryParse<T>(read: () => T): { value: T } | { fault: ParseFault } {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof CronError) return { fault: error };
    if (error instanceof SignalboxError) return { fault: { message: error.message } };
    throw error;
  }
}

/** Days per month; 29 for February. */
const MONTH_LENGTHS = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Reports that both day fields are restricted: this rule of cron surprises most users. */
function lintDayCombination({ day, weekday }: CronFields): LintFinding[] {
  const isStarDay = /^[*?]$/.test(day.text);
  const isStarWeekday = /^[*?]$/.test(weekday.text);
  if (isStarDay || isStarWeekday) return [];
  if (day.isStar || weekday.isStar)
    return [
      createFinding(
        "warning",
        "day of the week",
        `both days must match, "${day.text}" and "${weekday.text}", because one of them begins with *; for some schedulers one match is enough`,
      ),
    ];
  return [
    createFinding(
      "warning",
      "day of the week",
      `it fires on days of the month "${day.text}" and also on every day of the week "${weekday.text}": one match is enough`,
      `to require both, let the command check one of them; for the nth weekday of a month, write 1#2`,
    ),
  ];
}

/** Reports steps over days, which start again with every month or week. */
function lintDaySteps({ day, weekday }: CronFields): LintFinding[] {
  const dates = /\/([2-9]|\d\d)/.test(day.text) && day.values.length > 1;
  const days = /\/[2-6]/.test(weekday.text) && weekday.values.length > 1;
  return [
    ...(dates
      ? [
          createFinding(
            "hint",
            "day of the month",
            `"${day.text}" starts again with every month: the 31st and the 1st may both fire`,
          ),
        ]
      : []),
    ...(days
      ? [
          createFinding(
            "hint",
            "day of the week",
            `"${weekday.text}" starts again with every week, which begins on Sunday: Saturday and Sunday may both fire`,
            "list the days",
          ),
        ]
      : []),
  ];
}

/** Reports dates that some of the months do not have. */
function lintDates({ day, month, weekday }: CronFields): LintFinding[] {
  const isPlain = day.fromEnd.length + day.nearest.length === 0 && !day.isLastWeekday;
  const restricts = day.values.length < 31 && !day.isStar && isPlain;
  const latest = restricts ? Math.max(...day.values) : 0;
  const isEither = !weekday.isStar;
  const without = month.values.filter((value) => latest > (MONTH_LENGTHS[value] ?? 31));
  if (isLeapDay(day, month) && !isEither)
    return [
      createFinding("warning", "day of the month", "it fires on the 29th of February only: every four years"),
    ];
  const isShort = latest === 29 && month.values.includes(2);
  if (without.length === 0 && !isShort) return [];
  const names = isShort
    ? "February, but for leap years,"
    : formatList(without.map((value) => MONTHS[value - 1] ?? ""));
  return [
    createFinding(
      "warning",
      "day of the month",
      `${names} ${without.length > 1 ? "have" : "has"} no day ${latest}`,
      "use L for the last day of every month",
    ),
  ];
}

function isLeapDay(day: CronField, month: CronField): boolean {
  return month.values.length === 1 && month.values[0] === 2 && Math.min(...day.values) === 29;
}

/** Reports how often an expression with seconds fires: each run costs etcd some writes. */
function lintSeconds(seconds: readonly number[]): LintFinding[] {
  if (seconds.length < 2) return [];
  return [createFinding("hint", "second", `it fires ${seconds.length} times in each of its minutes`)];
}

function lintFrequency(minute: CronField, hour: CronField): LintFinding[] {
  if (minute.values.length < 60) return [];
  if (hour.values.length === 24)
    return [createFinding("hint", "minute", "it fires every minute, 1440 times a day")];
  return [
    createFinding(
      "warning",
      "minute",
      `"${minute.text} ${hour.text}" fires every minute of the hours it names, 60 times in each`,
      `to fire once an hour, write "0 ${hour.text}"`,
    ),
  ];
}

/** The field of each, and what it is a part of. */
const PARENTS = [
  ["minute", "hour"],
  ["hour", "day"],
  ["day", "month"],
  ["month", "year"],
  ["weekday", "week"],
] as const;

/** Reports steps that lead to no second value, such as `1/24` for hours. */
function lintLostSteps(fields: CronFields): LintFinding[] {
  return PARENTS.flatMap(([field, parent]) => {
    const { text, kind } = fields[field];
    return text.split(",").flatMap((item) => {
      const part = /\/([2-9]|\d\d)/.test(item) ? parseCronField(item, kind) : undefined;
      if (part === undefined || typeof part === "string" || part.values.length !== 1) return [];
      const { name } = kind;
      const [value] = part.values;
      return createFinding(
        "warning",
        name,
        `"${item}" means only ${name} ${value} of every ${parent}: a step does not go beyond the ${parent}`,
        `write "${value}", or let the command itself check whether it is time`,
      );
    });
  });
}

/** Reports steps that do not divide the hour or the day evenly. */
function lintStep({ text, kind, values }: CronField, whole: number, parent: string): LintFinding[] {
  const [, digits] = /^[*?]\/(\d+)$/.exec(text) ?? [];
  const step = Number(digits);
  if (digits === undefined || whole % step === 0 || values.length === 1) return [];
  const { name } = kind;
  const last = values.at(-1) ?? 0;
  return [
    createFinding(
      "warning",
      name,
      `"${text}" is uneven: after ${name} ${last} comes ${name} 0 of the next ${parent}, ${whole - last} ${name}s later instead of ${step}`,
      `use a step that divides ${whole}`,
    ),
  ];
}

function lintMidnight(minute: CronField, hour: CronField): LintFinding[] {
  const isMidnight = minute.values.length === 1 && minute.values[0] === 0 && hour.values.length === 1;
  if (!isMidnight || hour.values[0] !== 0) return [];
  return [
    createFinding(
      "hint",
      "hour",
      "most daily schedules fire at 00:00, all at once",
      "use another minute, or a jitter",
    ),
  ];
}

const LEAP_YEAR_MS = 366 * 86_400_000;

/** Finds problems with the clock changes of the zone within a year, and whether the schedule fires at all. */
function lintClockChanges(cron: WallPlan, zone: string, now: WallTime): LintFinding[] {
  const next = findOccurrenceAfter(cron, zone, now);
  const remedy = "use another hour, or --timezone UTC";
  if (next === undefined)
    return [
      createFinding(
        "error",
        "clock change",
        `it never fires: the clocks of ${zone} skip it every time`,
        remedy,
      ),
    ];
  return listClockEffects(cron, zone, now).map(({ kind, detail }) => {
    const level = kind === "shifted" || kind === "once" ? "hint" : "warning";
    return createFinding(level, "clock change", detail, remedy);
  });
}

/** What a clock change does to a schedule. */
interface ClockEffect {
  /**
   * `skipped`: it does not fire for a time that the clocks skip. `shifted`: it fires after the gap instead. `repeated`: it
   * fires twice for a time that the clocks show twice. `once`: it fires the first time only.
   */
  kind: "skipped" | "shifted" | "repeated" | "once";
  /** The date, the clock change, and the effect. */
  detail: string;
}

/** Lists the effects of the zone's clock changes within a year, in order. */
function listClockEffects(cron: WallPlan, zone: string, now: WallTime): ClockEffect[] {
  // An expression that fires every hour follows the clock, so clock changes are expected.
  if (isCron(cron) && cron.fields.hour.values.length === 24) return [];
  return listClockChanges(zone, now).flatMap((period) => {
    const effect = findClockEffect(cron, period);
    if (effect === undefined) return [];
    const date = formatWallDate(period.start + period.before);
    const detail = `on ${date} the clocks of ${zone} go from ${formatClockChange(period)}: ${effect.what}`;
    return [{ kind: effect.kind, detail }];
  });
}

/** Returns the periods that begin with a clock change, within a year. */
function listClockChanges(zone: string, now: WallTime): OffsetPeriod[] {
  const changes: OffsetPeriod[] = [];
  let period = findOffsetPeriod(zone, now);
  while (period !== undefined && period.start < now + LEAP_YEAR_MS) {
    if (period.start > now && period.offset !== period.before) changes.push(period);
    period = findOffsetPeriod(zone, period.end);
  }
  return changes;
}

function findClockEffect(
  cron: WallPlan,
  period: OffsetPeriod,
): { kind: ClockEffect["kind"]; what: string } | undefined {
  const { start, offset, before } = period;
  if (offset < before) {
    const twice = findWallFrom(cron.walls, start + offset, start + before);
    if (twice === undefined) return undefined;
    return cron.isFixed
      ? { kind: "once", what: `${formatWallClock(twice)} comes twice, it fires the first time` }
      : { kind: "repeated", what: `it fires twice for ${formatWallClock(twice)}` };
  }
  const [skipped] = listSkippedWalls(cron, period);
  if (skipped === undefined) return undefined;
  const wall = formatWallClock(skipped);
  return findShiftedWall(cron, period) === undefined
    ? { kind: "skipped", what: `it does not fire for ${wall}` }
    : { kind: "shifted", what: `${wall} does not exist, it fires at ${formatWallClock(start + offset)}` };
}

/** What another scheduler does instead, for each effect that differs there. */
type ClockRule = Readonly<Partial<Record<ClockEffect["kind"], string>>>;

/**
 * Describes what the clock changes of the next year do to a schedule here, and what another scheduler does instead.
 * @returns one text; undefined if nothing differs
 */
function describeClockDifference(
  cron: Cron,
  zone: string,
  now: WallTime,
  rule: ClockRule,
): string | undefined {
  const texts = listClockEffects(cron, zone, now).flatMap(({ kind, detail }) =>
    rule[kind] === undefined ? [] : [`${detail} (${rule[kind]})`],
  );
  return texts.length === 0 ? undefined : texts.join("; ");
}

/** Cron runs jobs that name no star right after a gap, and only once in a repeated hour, also lists and ranges. */
const CRON_CLOCK_RULE = {
  skipped: "Vixie's cron and cronie: right after the change",
  repeated: "Vixie's cron and cronie: once",
};

/**
 * Lists where cron reads a line of a crontab differently, one text for each kind: days, and clock changes.
 * @param now clock changes within the following year count
 * @see cronie's find_jobs, BusyBox's flag_starting_jobs
 */
export function listCronDifferences(cron: Cron, zone: string, now: WallTime): string[] {
  const { minute, hour } = cron.fields;
  const isWild = minute.isStar || hour.isStar;
  return collectTexts([
    describeCronDayDifference(cron),
    !isWild && describeClockDifference(cron, zone, now, CRON_CLOCK_RULE),
  ]);
}

/** Days that begin with a star and have a step: whether they restrict the days depends on the cron. */
function describeCronDayDifference({ fields: { day, weekday } }: Cron): string | undefined {
  if (isOpen(day.text) || isOpen(weekday.text) || !(day.isStar || weekday.isStar)) return undefined;
  return (
    `days of the month ${quoteText(day.text)} and of the week ${quoteText(weekday.text)} must both match, as in Vixie's` +
    " cron and cronie; in BusyBox's crond one match is enough"
  );
}

const PERFECTSCHED_CLOCK_RULE = {
  shifted: "PerfectSched: not on that day",
  once: "PerfectSched: both times",
};

/**
 * Lists where PerfectSched reads a cron text differently, one text for each kind: days, steps, Sunday, and clock changes.
 * Up to 0.8.10, it asks the gem cron-spec about every minute of the zone's clock. From 0.8.11 on, the gem chrono computes
 * the next time.
 * @param now clock changes within the following year count
 * @see CronSpec::CronSpecification, Chrono::NextTime, Chrono::Fields::Base
 */
export function listPerfectschedDifferences(cron: Cron, zone: string, now: WallTime): string[] {
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
