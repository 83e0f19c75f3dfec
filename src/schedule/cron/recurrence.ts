import { DAY_MS, type LocalTime, type WallTime } from "../../core/base/clock.ts";
import { memoize } from "../../core/base/memoize.ts";
import { quoteText } from "../../core/base/text.ts";
import { CronError, type WallPlan } from "./cron.ts";
import { WEEKDAYS } from "./cron-field.ts";
import { formatList } from "./explain-cron.ts";
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
  readonly until: RuleEnd;
  /** Months, 1 to 12. */
  readonly months: readonly number[];
  /** Days of the month and of the year; negative ones count from its end. */
  readonly dates: readonly number[];
  readonly yearDays: readonly number[];
  /** Weeks of the year; negative ones count from its end. */
  readonly weeks: readonly number[];
  /** Weekdays, Sunday is 0, each with its place in the month or the year; 0 for any. */
  readonly weekdays: readonly { readonly day: number; readonly nth: number }[];
  /** Places among the days of a period. */
  readonly places: readonly number[];
  /** First day of the week. */
  readonly weekStart: number;
  /** Parts of the times of the day, sorted. */
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  readonly seconds: readonly number[];
}

/** The end of a rule: an instant in ms since the epoch, or ms on the wall clock, both inclusive; or none. */
type RuleEnd = { readonly instant: WallTime } | { readonly wall: LocalTime } | undefined;

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
  const parts = addDefaultTimes(parseRule(rule), begin);
  const { minutes, hours, seconds } = parts;
  const isDay = createDayMatcher(parts, readLimits(rule, parts, begin));
  const walls = { times: buildDayTimes(minutes, hours), getDayMask: memoizeMonths(isDay) };
  if (
    findWallFrom(walls, Math.floor(begin / DAY_MS) * DAY_MS, begin + MAX_SEARCHED_DAYS * DAY_MS) === undefined
  )
    throw new CronError(`cron text ${quoteText(text)} never fires: no day of the next 100 years matches`);
  const hasSeconds = second !== undefined || seconds.some((value) => value > 0);
  return {
    text: text.trim().replace(/\s+/g, " "),
    walls,
    isFixed: true,
    ...(hasSeconds && { seconds }),
    ...(parts.until !== undefined && "instant" in parts.until && { until: parts.until.instant }),
    explanation: `${explainRule(rule, parts)}, at ${explainTimes(parts, hasSeconds)}, from ${date}`,
  };
}

/** Adds the parts of the time of the first day that the rule does not name. */
function addDefaultTimes(parts: RuleParts, begin: number): RuleParts {
  const at = new Date(begin);
  const choose = (given: readonly number[], own: number) =>
    given.length === 0 ? [own] : given.toSorted((a, b) => a - b);
  return {
    ...parts,
    hours: choose(parts.hours, at.getUTCHours()),
    minutes: choose(parts.minutes, at.getUTCMinutes()),
    seconds: choose(parts.seconds, at.getUTCSeconds()),
  };
}

/** The days between which a rule may be due. */
interface DayLimits {
  /** The day from which its periods count. */
  readonly origin: number;
  readonly from: number;
  readonly until: number;
  /** Number of days after which it ends. */
  readonly count: number | undefined;
}

/** @throws CronError if a rule with several times a day begins or ends between two of them */
function readLimits(rule: string, parts: RuleParts, begin: number): DayLimits {
  const { hours, minutes, seconds, until, count, places } = parts;
  const perDay = hours.length * minutes.length * seconds.length;
  const toTime = (index: number) =>
    Date.UTC(1970, 0, 1, hours.at(index), minutes.at(index), seconds.at(index));
  const [first, last] = [toTime(0), toTime(-1)];
  if (perDay > 1 && places.length > 0)
    throw createRuleFault(rule, "BYSETPOS", "it is possible with one time of the day only");
  if (count !== undefined && count % perDay !== 0)
    throw createRuleFault(
      rule,
      `COUNT=${count}`,
      `with ${perDay} times a day, it must be a multiple of ${perDay}; or use --end`,
    );
  const origin = Math.floor(begin / DAY_MS);
  const time = begin - origin * DAY_MS;
  if (time > first && time <= last)
    throw createRuleFault(
      rule,
      "its start",
      "it must not be between two times of the day: begin at midnight",
    );
  return {
    origin,
    from: time > last ? origin + 1 : origin,
    until: findLastDay(rule, until, first, last),
    count: count && count / perDay,
  };
}

/** @param first  the first time of the day, ms; `last`: the last one */
function findLastDay(rule: string, until: RuleEnd, first: number, last: number): number {
  if (until === undefined) return Infinity;
  if ("instant" in until) return Math.floor(until.instant / DAY_MS) + 1; // in the zone, it may be a day later
  const day = Math.floor(until.wall / DAY_MS);
  const time = until.wall - day * DAY_MS;
  if (time >= last) return day;
  if (time < first) return day - 1;
  throw createRuleFault(rule, "UNTIL", "it must not be between two times of the day: write its date alone");
}

/** Builds the text of a rule. @param from  wall-clock ms */
export function formatRecurrence(rule: string, from: number): string {
  return `@rrule ${rule.trim()} from ${new Date(from).toISOString().slice(0, from % 60_000 === 0 ? 16 : 19)}`;
}

function explainRule(rule: string, { freq, interval }: RuleParts): string {
  const often = interval === 1 ? `every ${FREQUENCIES[freq]}` : `every ${interval} ${FREQUENCIES[freq]}s`;
  const rest = rule.split(";").filter((part) => !/^$|^(FREQ|INTERVAL|BYHOUR|BYMINUTE|BYSECOND)=/i.test(part));
  return rest.length === 0 ? often : `${often} (${rest.join(", ")})`;
}

/** Maximum number of times of the day that an explanation names. */
const MAX_NAMED_TIMES = 6;

function explainTimes({ hours, minutes, seconds }: RuleParts, hasSeconds: boolean): string {
  const times = hours.flatMap((hour) =>
    minutes.flatMap((minute) => seconds.map((second) => [hour, minute, ...(hasSeconds ? [second] : [])])),
  );
  if (times.length > MAX_NAMED_TIMES) return `${times.length} times of the day`;
  return formatList(times.map((time) => time.map((part) => String(part).padStart(2, "0")).join(":")));
}

function parseRule(rule: string): RuleParts {
  const given = new Map<string, string>();
  for (const part of rule.toUpperCase().replace(/;$/, "").split(";")) {
    const [, name = "", value = ""] = /^([A-Z]+)=(.+)$/.exec(part) ?? [];
    if (!RULE_PARTS.has(name) || given.has(name))
      throw createRuleFault(rule, part, `use each once of ${[...RULE_PARTS].join(", ")}`);
    given.set(name, value);
  }
  // Each once: every day of a century is compared with all of them.
  const listValues = (name: string) => [...new Set(given.get(name)?.split(","))];
  const parseNumbers = (name: string, least: number, most: number) =>
    listValues(name).map((text) => {
      const value = /^[+-]?\d{1,5}$/.test(text) ? Number(text) + 0 : Number.NaN;
      if ((value !== 0 || least === 0) && value >= least && value <= most) return value;
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
    weeks: parseNumbers("BYWEEKNO", -53, 53),
    weekdays: listValues("BYDAY").map((text) => parseWeekday(rule, text)),
    places: parseNumbers("BYSETPOS", -366, 366),
    weekStart: weekStart ?? 1,
    hours: parseNumbers("BYHOUR", 0, 23),
    minutes: parseNumbers("BYMINUTE", 0, 59),
    seconds: parseNumbers("BYSECOND", 0, 59),
  };
  const isPlaced = parts.weekdays.some(({ nth }) => nth !== 0);
  if (isPlaced && freq !== "MONTHLY" && freq !== "YEARLY")
    throw createRuleFault(
      rule,
      `BYDAY=${given.get("BYDAY")}`,
      `FREQ=${freq} takes weekdays without a number`,
    );
  if (parts.weeks.length > 0 && (freq !== "YEARLY" || isPlaced || parts.weekdays.length === 0))
    throw createRuleFault(
      rule,
      `BYWEEKNO=${given.get("BYWEEKNO")}`,
      "it needs FREQ=YEARLY, and weekdays without a number, such as BYDAY=MO",
    );
  return parts;
}

const RULE_PARTS = new Set(
  "FREQ INTERVAL COUNT UNTIL BYMONTH BYWEEKNO BYMONTHDAY BYYEARDAY BYDAY BYHOUR BYMINUTE BYSECOND BYSETPOS WKST".split(
    " ",
  ),
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

function parseUntil(rule: string, text: string | undefined): RuleEnd {
  if (text === undefined) return undefined;
  const [, year, month, day, time = "T235959", zone] =
    /^(\d{4})(\d\d)(\d\d)(?:(T\d{6})(Z)?)?$/.exec(text) ?? [];
  const clock = time.replace(/T(\d\d)(\d\d)(\d\d)/, "T$1:$2:$3Z");
  const at = Date.parse(`${year}-${month}-${day}${clock}`);
  if (!Number.isNaN(at)) return zone === undefined ? { wall: at } : { instant: at };
  throw createRuleFault(
    rule,
    `UNTIL=${text}`,
    "write the last day, such as 20271231, or an instant such as 20271231T225959Z",
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
/** The first day of a week. */
const toWeekDay = (week: number, weekStart: number) => week * 7 - 4 + weekStart;

function createDayMatcher(parts: RuleParts, limits: DayLimits): (day: number) => boolean {
  const { from, until, count } = limits;
  const start = toDatedDay(limits.origin);
  const rule = addDefaults(parts, start);
  const isOfPeriod = createPeriodMatcher(rule, start);
  const isInPlace = createPlaceMatcher(rule);
  const isOfRule = (day: number) => {
    if (day < from || day > until) return false;
    const dated = toDatedDay(day);
    return isOfPeriod(dated) && matchesParts(rule, dated) && isInPlace(dated);
  };
  const last = findCountedDay(count, from, isOfRule);
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

function matchesParts(rule: RuleParts, dated: DatedDay): boolean {
  const { freq, months, dates, yearDays, weekdays } = rule;
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
    isOfWeeks(rule, day) &&
    (weekdays.length === 0 ||
      weekdays.some(
        (one) => one.day === weekday && (one.nth === 0 || one.nth === nth || one.nth === fromEnd),
      ))
  );
}

/** Whether a day is in one of the weeks of its year. The first week is the first one with four days in the year. */
function isOfWeeks({ weeks, weekStart }: RuleParts, day: number): boolean {
  if (weeks.length === 0) return true;
  const week = toWeekNumber(day, weekStart);
  const fourth = toWeekDay(week, weekStart) + 3;
  const { year } = toDatedDay(fourth);
  const findFirst = (of: number) => toWeekNumber(toDayNumber(of, 1) + 3, weekStart);
  return weeks.some((one) => (one > 0 ? findFirst(year) + one - 1 : findFirst(year + 1) + one) === week);
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
  const from = toWeekDay(toWeekNumber(day, weekStart), weekStart);
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
