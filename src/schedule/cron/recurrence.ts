import { memoize } from "../../core/base/memoize.ts";
import { quoteText } from "../../core/base/text.ts";
import { CronError, type WallPlan } from "./cron.ts";
import { WEEKDAYS } from "./cron-field.ts";
import { buildDayTimes, findWallFrom, memoizeMonths } from "./wall-times.ts";

// Rules of iCalendar (RFC 5545, RRULE). Whether a day is one of a rule follows from the day alone, so nothing is iterated. A day is
// days since 1970-01-01, on the wall clock.

const FREQUENCIES = { DAILY: "day", WEEKLY: "week", MONTHLY: "month", YEARLY: "year" } as const;
type Frequency = keyof typeof FREQUENCIES;

/** The parts of a rule. Empty lists restrict nothing. */
interface RuleParts {
  readonly freq: Frequency;
  readonly interval: number;
  readonly count: number | undefined;
  /** Last day. */
  readonly until: number;
  /** Months, 1 to 12. */
  readonly months: readonly number[];
  /** Days of the month and of the year; negative ones count from its end. */
  readonly dates: readonly number[];
  readonly yearDays: readonly number[];
  /** Weekdays, Sunday is 0, each with its place in the month or the year; 0 for any. */
  readonly weekdays: readonly { readonly day: number; readonly nth: number }[];
  /** Places among the days of a period. */
  readonly places: readonly number[];
  /** First day of the week. */
  readonly weekStart: number;
}

const DAY_MS = 86_400_000;
/** Days that are searched for an occurrence: 100 years. */
const MAX_SEARCHED_DAYS = 36_525;
/** Maximum number of cached rules. */
const MAX_CACHED_RULES = 10_000;
const RRULE_TEXT = /^@rrule\s+(?:RRULE:)?(\S+)\s+from\s+(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d)(?::(\d\d))?$/i;

/**
 * Parses `@rrule FREQ=WEEKLY;INTERVAL=2;BYDAY=MO from 2026-11-30T09:00`. The instant is one of the wall clock of the schedule's zone: the
 * first day on which it can be due, and the time of each day. It is due only on days of the rule.
 * @throws CronError
 */
export const parseRecurrence = memoize(parseUncached, MAX_CACHED_RULES);

function parseUncached(text: string): WallPlan {
  const [, rule = "", date = "", hour, minute, second] = RRULE_TEXT.exec(text) ?? [];
  const begin = Date.parse(`${date}T${hour}:${minute}:${second ?? "00"}Z`);
  if (Number.isNaN(begin) || begin < 0 || new Date(begin).toISOString().slice(0, 10) !== date)
    throw new CronError(
      `cron text ${quoteText(text)} must have a rule, and its first day and time: @rrule FREQ=WEEKLY;INTERVAL=2;BYDAY=MO from 2026-11-30T09:00`,
    );
  const parts = parseRule(rule);
  const first = Math.floor(begin / DAY_MS);
  const isDay = createDayMatcher(parts, first);
  const times = buildDayTimes([Number(minute)], [Number(hour)]);
  const walls = { times, getDayMask: memoizeMonths(isDay) };
  if (findWallFrom(walls, begin, begin + MAX_SEARCHED_DAYS * DAY_MS) === undefined)
    throw new CronError(`cron text ${quoteText(text)} never fires: no day of the next 100 years matches`);
  return {
    text: text.trim().replace(/\s+/g, " "),
    walls,
    isFixed: true,
    ...(second !== undefined && { seconds: [Number(second)] }),
    explanation: `${explainRule(rule, parts)}, at ${[hour, minute, ...(second === undefined ? [] : [second])].join(":")}, from ${date}`,
  };
}

/** Builds the text of a rule. @param from  wall-clock ms */
export function formatRecurrence(rule: string, from: number): string {
  return `@rrule ${rule.trim()} from ${new Date(from).toISOString().slice(0, from % 60_000 === 0 ? 16 : 19)}`;
}

function explainRule(rule: string, { freq, interval }: RuleParts): string {
  const often = interval === 1 ? `every ${FREQUENCIES[freq]}` : `every ${interval} ${FREQUENCIES[freq]}s`;
  const rest = rule.split(";").filter((part) => !/^(FREQ|INTERVAL)=/i.test(part));
  return rest.length === 0 ? often : `${often} (${rest.join(", ")})`;
}

function parseRule(rule: string): RuleParts {
  const given = new Map<string, string>();
  for (const part of rule.toUpperCase().split(";")) {
    const [, name = "", value = ""] = /^([A-Z]+)=(.+)$/.exec(part) ?? [];
    if (!RULE_PARTS.has(name) || given.has(name))
      throw createRuleFault(
        rule,
        part,
        `use each once of ${[...RULE_PARTS].join(", ")}; the time of the day is that after "from"`,
      );
    given.set(name, value);
  }
  // Each once: every day of a century is compared with all of them.
  const listValues = (name: string) => [...new Set(given.get(name)?.split(","))];
  const parseNumbers = (name: string, least: number, most: number) =>
    listValues(name).map((text) => {
      const value = /^[+-]?\d{1,5}$/.test(text) ? Number(text) : 0;
      if (value !== 0 && value >= least && value <= most) return value;
      throw createRuleFault(
        rule,
        `${name}=${text}`,
        `${least < 0 ? `1 to ${most}, or -1 to ${least}` : `${least} to ${most}`} is possible`,
      );
    });
  const freq = given.get("FREQ") ?? "";
  if (!isFrequency(freq))
    throw createRuleFault(
      rule,
      `FREQ=${freq}`,
      "it must be DAILY, WEEKLY, MONTHLY or YEARLY; for hours and minutes, use @every",
    );
  const [weekStart] = (given.get("WKST")?.split(",") ?? ["MO"]).map((text) => parseWeekday(rule, text).day);
  const parts = {
    freq,
    interval: parseNumbers("INTERVAL", 1, 10_000)[0] ?? 1,
    count: parseNumbers("COUNT", 1, 10_000)[0],
    until: parseUntil(rule, given.get("UNTIL")),
    months: parseNumbers("BYMONTH", 1, 12),
    dates: parseNumbers("BYMONTHDAY", -31, 31),
    yearDays: parseNumbers("BYYEARDAY", -366, 366),
    weekdays: listValues("BYDAY").map((text) => parseWeekday(rule, text)),
    places: parseNumbers("BYSETPOS", -366, 366),
    weekStart: weekStart ?? 1,
  };
  const isPlaced = parts.weekdays.some(({ nth }) => nth !== 0);
  if (isPlaced && freq !== "MONTHLY" && freq !== "YEARLY")
    throw createRuleFault(
      rule,
      `BYDAY=${given.get("BYDAY")}`,
      `FREQ=${freq} takes weekdays without a number`,
    );
  return parts;
}

const RULE_PARTS = new Set(
  "FREQ INTERVAL COUNT UNTIL BYMONTH BYMONTHDAY BYYEARDAY BYDAY BYSETPOS WKST".split(" "),
);

function createRuleFault(rule: string, part: string, remedy: string): CronError {
  return new CronError(`rule ${quoteText(rule)}: ${quoteText(part)} is not understood: ${remedy}`);
}

function isFrequency(text: string): text is Frequency {
  return Object.hasOwn(FREQUENCIES, text);
}

function parseWeekday(rule: string, text: string): RuleParts["weekdays"][number] {
  const [, nth = "0", name = ""] = /^([+-]?[1-9]\d?)?([A-Z]{2})$/.exec(text) ?? [];
  const day = WEEKDAYS.findIndex((one) => one.slice(0, 2).toUpperCase() === name);
  if (day >= 0 && Math.abs(Number(nth)) <= 53) return { day, nth: Number(nth) };
  throw createRuleFault(rule, text, "a weekday is MO, TU, WE, TH, FR, SA or SU, or such as -1FR");
}

function parseUntil(rule: string, text: string | undefined): number {
  if (text === undefined) return Infinity;
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(text) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T00:00Z`);
  if (!Number.isNaN(at)) return at / DAY_MS;
  throw createRuleFault(
    rule,
    `UNTIL=${text}`,
    "write the last day, such as 20271231; for an instant, use --end",
  );
}

/** A day, with its place in the year. */
interface DatedDay {
  day: number;
  year: number;
  /** 1 to 12. */
  month: number;
  date: number;
  weekday: number;
}

function toDatedDay(day: number): DatedDay {
  const at = new Date(day * DAY_MS);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + 1];
  return { day, year, month, date: at.getUTCDate(), weekday: at.getUTCDay() };
}

const toDayNumber = (year: number, month: number) => Date.UTC(year, month - 1) / DAY_MS;
const getMonthRange = (year: number, month: number) => ({
  from: toDayNumber(year, month),
  end: toDayNumber(year, month + 1),
});
const getYearRange = (year: number) => ({ from: toDayNumber(year, 1), end: toDayNumber(year + 1, 1) });
/** Weeks since that of 1970-01-01, a Thursday. */
const toWeekNumber = (day: number, weekStart: number) => Math.floor((day + 4 - weekStart) / 7);

/** @param first  the day from which the rule counts */
function createDayMatcher(parts: RuleParts, first: number): (day: number) => boolean {
  const start = toDatedDay(first);
  const rule = addDefaults(parts, start);
  const isOfPeriod = createPeriodMatcher(rule, start);
  const isInPlace = createPlaceMatcher(rule);
  const isOfRule = (day: number) => {
    if (day < first || day > rule.until) return false;
    const dated = toDatedDay(day);
    return isOfPeriod(dated) && matchesParts(rule, dated) && isInPlace(dated);
  };
  const last = findCountedDay(rule.count, first, isOfRule);
  return (day) => day <= last && isOfRule(day);
}

/** Adds what the first day says where the rule names no day. */
function addDefaults(parts: RuleParts, { weekday, date, month }: DatedDay): RuleParts {
  const { freq, months, dates, yearDays, weekdays } = parts;
  if (freq === "DAILY" || dates.length + yearDays.length + weekdays.length > 0) return parts;
  if (freq === "WEEKLY") return { ...parts, weekdays: [{ day: weekday, nth: 0 }] };
  const isMonthly = freq === "MONTHLY" || months.length > 0;
  return { ...parts, dates: [date], months: isMonthly ? months : [month] };
}

/** Returns whether a day is in one of each so many periods. */
function createPeriodMatcher(
  { freq, interval, weekStart }: RuleParts,
  start: DatedDay,
): (day: DatedDay) => boolean {
  const count = ({ day, year, month }: DatedDay) => {
    if (freq === "DAILY") return day;
    if (freq === "WEEKLY") return toWeekNumber(day, weekStart);
    return freq === "MONTHLY" ? year * 12 + month : year;
  };
  const from = count(start);
  return (day) => (count(day) - from) % interval === 0;
}

function matchesParts({ freq, months, dates, yearDays, weekdays }: RuleParts, dated: DatedDay): boolean {
  const { day, year, month, date, weekday } = dated;
  const ofMonth = getMonthRange(year, month);
  const ofYear = getYearRange(year);
  const isAny = (list: readonly number[], { from, end }: typeof ofMonth) =>
    list.length === 0 || list.some((one) => (one > 0 ? from + one - 1 : end + one) === day);
  const { from, end } = freq === "YEARLY" && months.length === 0 ? ofYear : ofMonth;
  const nth = Math.floor((day - from) / 7) + 1;
  const fromEnd = -Math.floor((end - 1 - day) / 7) - 1;
  return (
    (months.length === 0 || months.includes(month)) &&
    (dates.includes(date) || isAny(dates, ofMonth)) &&
    isAny(yearDays, ofYear) &&
    (weekdays.length === 0 ||
      weekdays.some(
        (one) => one.day === weekday && (one.nth === 0 || one.nth === nth || one.nth === fromEnd),
      ))
  );
}

/** Returns whether a day has one of the places that the rule names, among the days of its period. Keeps those of the last period. */
function createPlaceMatcher(rule: RuleParts): (day: DatedDay) => boolean {
  let known: { from: number; days: readonly number[] } | undefined;
  return ({ day, year, month }) => {
    if (rule.places.length === 0) return true;
    const { from, end } = getPeriod(rule, day, year, month);
    if (known?.from !== from) {
      const all = Array.from({ length: end - from }, (_, index) => from + index);
      known = { from, days: all.filter((one) => matchesParts(rule, toDatedDay(one))) };
    }
    const { days } = known;
    return rule.places.some((place) => days.at(place > 0 ? place - 1 : place) === day);
  };
}

function getPeriod({ freq, weekStart }: RuleParts, day: number, year: number, month: number) {
  if (freq === "DAILY") return { from: day, end: day + 1 };
  if (freq === "MONTHLY") return getMonthRange(year, month);
  if (freq === "YEARLY") return getYearRange(year);
  const from = toWeekNumber(day, weekStart) * 7 - 4 + weekStart;
  return { from, end: from + 7 };
}

/** Returns the last day of a rule that ends after so many. */
function findCountedDay(
  count: number | undefined,
  first: number,
  isOfRule: (day: number) => boolean,
): number {
  if (count === undefined) return Infinity;
  let left = count;
  for (let day = first; day < first + MAX_SEARCHED_DAYS; day += 1) {
    if (isOfRule(day)) left -= 1;
    if (left === 0) return day;
  }
  return Infinity;
}
