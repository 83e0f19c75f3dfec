import { type Cron, isCron, type WallPlan } from "./cron.ts";
import { type CronField, type CronFields, MONTHS, WEEKDAYS } from "./cron-field.ts";

const ORDINALS = ["", "first", "second", "third", "fourth", "fifth"];
/** Maximum number of times of the day that are listed. */
const MAX_LISTED_TIMES = 6;

/** Explains times on the wall clock in plain English: "at 02:30, Monday to Friday". Does not include the time zone. */
export function explainWallPlan(plan: WallPlan): string {
  return plan.explanation ?? (isCron(plan) ? explainCron(plan) : plan.text);
}

function explainCron({ fields, seconds }: Cron): string {
  const times = formatTimes(fields);
  const parts = [
    ...(seconds === undefined ? [times] : formatSeconds(seconds, times)),
    formatDays(fields),
    formatMonths(fields.month),
  ];
  return parts.filter((part) => part !== undefined).join(", ");
}

/** Formats seconds and the minutes to which they belong: "every 10 seconds", "at second 30, every minute". */
function formatSeconds(seconds: readonly number[], times: string): string[] {
  const often = formatFrequency(seconds, "second", "minute");
  const one = seconds.length === 1 ? "second" : "seconds";
  const told = often ?? `at ${one} ${formatRanges(seconds, String)}`;
  return often !== undefined && times === "every minute" ? [often] : [told, times];
}

function formatTimes({ minute, hour }: CronFields): string {
  const minutes = minute.values;
  const hours = hour.values;
  const isEach = hours.length === 24;
  if (!isEach && minutes.length * hours.length <= MAX_LISTED_TIMES)
    return `at ${formatList(listClockTimes(minutes, hours))}`;
  const [first = 0] = minutes;
  if (minutes.length === 1) return formatHourly(first, hours);
  const often = formatFrequency(minutes);
  const [run, ...more] = groupRanges(hours);
  if (isEach) return often ?? `at ${formatMinutes(minutes)} of every hour`;
  const start = often ?? `at ${formatMinutes(minutes)} of every hour`;
  if (run !== undefined && more.length === 0)
    return `${start} from ${formatClockTime(run[0], 0)} to ${formatClockTime(run[1], 59)}`;
  return `${often ?? `at ${formatMinutes(minutes)}`} of the hours ${formatRanges(hours, String)}`;
}

function listClockTimes(minutes: readonly number[], hours: readonly number[]): string[] {
  return hours.flatMap((hour) => minutes.map((minute) => formatClockTime(hour, minute)));
}

function formatHourly(minute: number, hours: readonly number[]): string {
  const [first = 0] = hours;
  const last = hours.at(-1) ?? 23;
  const step = findStep(hours);
  if (hours.length === 24) return minute === 0 ? "every hour" : `every hour at minute ${minute}`;
  if (last - first === hours.length - 1)
    return `every hour from ${formatClockTime(first, minute)} to ${formatClockTime(last, minute)}`;
  if (step !== undefined)
    return `every ${step} hours from ${formatClockTime(first, minute)} to ${formatClockTime(last, minute)}`;
  return `at minute ${minute} of the hours ${formatRanges(hours, String)}`;
}

/** Explains values that are evenly spaced over the hour, or over the minute. */
function formatFrequency(values: readonly number[], unit = "minute", whole = "hour"): string | undefined {
  const [first = 0, second = 60] = values;
  const step = second - first;
  const isEven = values.length * step === 60 && values.every((value, at) => value === first + at * step);
  if (!isEven || values.length === 1) return undefined;
  if (step === 1) return `every ${unit}`;
  return `every ${step} ${unit}s${first === 0 ? "" : `, first at ${unit} ${first} of the ${whole}`}`;
}

function formatMinutes(minutes: readonly number[]): string {
  return `minutes ${formatRanges(minutes, String)}`;
}

function formatDays({ day, weekday, minute, hour }: CronFields): string | undefined {
  const date = isEvery(day, 31) ? undefined : formatDates(day);
  const week = isEvery(weekday, 7) ? undefined : formatWeekdays(weekday);
  const isEither = !day.isStar && !weekday.isStar;
  // A field that lists every day restricts nothing. If either field may match, every day matches.
  if (isEither && (date === undefined || week === undefined)) return formatDaily(minute, hour);
  if (date === undefined && week === undefined) return formatDaily(minute, hour);
  if (date === undefined) return week;
  if (week === undefined) return date;
  return isEither ? `${date}, or ${week}` : `${date} if that is ${week}`;
}

const isEvery = ({ values }: CronField, size: number) => values.length === size;

function formatDaily(minute: CronField, hour: CronField): string | undefined {
  return minute.values.length * hour.values.length <= MAX_LISTED_TIMES ? "every day" : undefined;
}

function formatDates(day: CronField): string {
  const { values } = day;
  const special = listSpecialDays(day);
  const step = findStep(values);
  const [first = 1] = values;
  const last = values.at(-1) ?? 31;
  const stepped = `every ${formatOrdinal(step ?? 1)} day of the month from the ${formatOrdinal(first)} to the ${formatOrdinal(last)}`;
  const dates = step === undefined ? `on the ${formatRanges(values, formatOrdinal)} of the month` : stepped;
  if (special.length === 0) return dates;
  const end = `on ${formatList(special)} of the month`;
  return values.length === 0 ? end : `${dates} and ${end}`;
}

function listSpecialDays({ fromEnd, nearest, isLastWeekday }: CronField): string[] {
  const formatBefore = (days: number) =>
    days === 0 ? "the last day" : `the ${formatOrdinal(days)} day before the last`;
  return [
    ...nearest.map((date) => `the weekday nearest to the ${formatOrdinal(date)}`),
    ...fromEnd.toReversed().map(formatBefore),
    ...(isLastWeekday ? ["the last weekday"] : []),
  ];
}

function formatWeekdays({ values, lasts, nths }: CronField): string {
  const days = formatWeekdayRanges(values);
  const nth = nths.map(([weekday, count]) => `the ${ORDINALS[count]} ${WEEKDAYS[weekday]} of the month`);
  const last = lasts.length === 0 ? [] : [`the last ${formatWeekdayRanges(lasts)} of the month`];
  return formatList([...(values.length === 0 ? [] : [days]), ...nth, ...last]);
}

/** Formats weekdays as ranges in a week that begins on Monday, so that "Saturday and Sunday" stays together. */
function formatWeekdayRanges(values: readonly number[]): string {
  const fromMonday = values.map((value) => (value + 6) % 7).sort((a, b) => a - b);
  return formatRanges(fromMonday, (value) => WEEKDAYS[(value + 1) % 7] ?? "");
}

function formatMonths({ values }: CronField): string | undefined {
  return values.length === 12 ? undefined : `in ${formatRanges(values, (value) => MONTHS[value - 1] ?? "")}`;
}

/** Formats a list: "a", "a and b", "a, b and c". */
export function formatList(words: readonly string[], last = "and"): string {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

/**
 * Groups three or more consecutive values into ranges.
 * @returns first and last value of each range, in order
 */
function groupRanges(values: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const value of values) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === value - 1) run[1] = value;
    else runs.push([value, value]);
  }
  return runs.flatMap(([from, to]): [number, number][] =>
    to === from + 1
      ? [
          [from, from],
          [to, to],
        ]
      : [[from, to]],
  );
}

/** Formats values as ranges: "Monday to Friday and Sunday". */
function formatRanges(values: readonly number[], formatValue: (value: number) => string): string {
  return formatList(
    groupRanges(values).map(([from, to]) =>
      from === to ? formatValue(from) : `${formatValue(from)} to ${formatValue(to)}`,
    ),
  );
}

/** Returns the step of three or more values that are evenly spaced by two or more. */
function findStep(values: readonly number[]): number | undefined {
  const [first = 0, second = 0] = values;
  const step = second - first;
  const isEven = values.every((value, at) => value === first + at * step);
  return values.length > 2 && step > 1 && isEven ? step : undefined;
}

/** Formats an ordinal: "1st", "22nd". */
function formatOrdinal(value: number): string {
  const tens = value % 100;
  const ending = tens > 10 && tens < 14 ? "th" : (["th", "st", "nd", "rd"][value % 10] ?? "th");
  return `${value}${ending}`;
}

/** Formats a time of the day: "02:30". */
function formatClockTime(hour: number, minute: number): string {
  return [hour, minute].map((part) => String(part).padStart(2, "0")).join(":");
}
