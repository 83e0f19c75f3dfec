import type { Cron, CronFields } from "./cron.ts";
import type { Field } from "./cron-field.ts";
import { clock, listOf, ordinal, runsOf, spans, stepOf } from "./explain-words.ts";

const MONTHS = ["January", "February", "March", "April", "May", "June", "July"];
MONTHS.push("August", "September", "October", "November", "December");
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const NTH = ["", "first", "second", "third", "fourth", "fifth"];
/** Times of the day that are named one by one. */
const NAMED = 6;

/** A cron text in plain English: "at 02:30, Monday to Friday". The time zone is the caller's to say. */
export function explainCron({ fields }: Cron): string {
  const parts = [timesText(fields), daysText(fields), monthsText(fields.month)];
  return parts.filter((part) => part !== undefined).join(", ");
}

function timesText({ minute, hour }: CronFields): string {
  const minutes = minute.values;
  const hours = hour.values;
  const isEach = hours.length === 24;
  if (!isEach && minutes.length * hours.length <= NAMED) return `at ${listOf(clockTimes(minutes, hours))}`;
  const [first = 0] = minutes;
  if (minutes.length === 1) return hourlyText(first, hours);
  const often = frequency(minutes);
  const [run, ...more] = runsOf(hours);
  if (isEach) return often ?? `at ${minutesText(minutes)} of every hour`;
  const start = often ?? `at ${minutesText(minutes)} of every hour`;
  if (run !== undefined && more.length === 0)
    return `${start} from ${clock(run[0], 0)} to ${clock(run[1], 59)}`;
  return `${often ?? `at ${minutesText(minutes)}`} of the hours ${spans(hours, (value) => `${value}`)}`;
}

function clockTimes(minutes: readonly number[], hours: readonly number[]): string[] {
  return hours.flatMap((hour) => minutes.map((minute) => clock(hour, minute)));
}

function hourlyText(minute: number, hours: readonly number[]): string {
  const [first = 0] = hours;
  const last = hours.at(-1) ?? 23;
  const step = stepOf(hours);
  if (hours.length === 24) return minute === 0 ? "every hour" : `every hour at minute ${minute}`;
  if (last - first === hours.length - 1)
    return `every hour from ${clock(first, minute)} to ${clock(last, minute)}`;
  if (step !== undefined) return `every ${step} hours from ${clock(first, minute)} to ${clock(last, minute)}`;
  return `at minute ${minute} of the hours ${spans(hours, (value) => `${value}`)}`;
}

/** Minutes that are evenly spaced over the hour. */
function frequency(minutes: readonly number[]): string | undefined {
  const [first = 0, second = 60] = minutes;
  const step = second - first;
  const isEven = minutes.length * step === 60 && minutes.every((value, at) => value === first + at * step);
  if (!isEven) return undefined;
  if (step === 1) return "every minute";
  return `every ${step} minutes${first === 0 ? "" : `, first at minute ${first} of the hour`}`;
}

function minutesText(minutes: readonly number[]): string {
  return `minutes ${spans(minutes, (value) => `${value}`)}`;
}

function daysText({ day, weekday, minute, hour }: CronFields): string | undefined {
  const date = isEvery(day, 31) ? undefined : datesText(day);
  const week = isEvery(weekday, 7) ? undefined : weekdaysText(weekday);
  const isEither = !day.isStar && !weekday.isStar;
  // A field that lists every day restricts nothing, but in an either-or it lets every day pass.
  if (isEither && (date === undefined || week === undefined)) return dailyText(minute, hour);
  if (date === undefined && week === undefined) return dailyText(minute, hour);
  if (date === undefined) return week;
  if (week === undefined) return date;
  return isEither ? `${date}, or ${week}` : `${date} if that is ${week}`;
}

const isEvery = ({ values, nth }: Field, size: number) => values.length === size && nth === undefined;

function dailyText(minute: Field, hour: Field): string | undefined {
  return minute.values.length * hour.values.length <= NAMED ? "every day" : undefined;
}

function datesText({ values, isLast }: Field): string {
  const step = stepOf(values);
  const [first = 1] = values;
  const last = values.at(-1) ?? 31;
  const stepped = `every ${ordinal(step ?? 1)} day of the month from the ${ordinal(first)} to the ${ordinal(last)}`;
  const dates = step === undefined ? `on the ${spans(values, ordinal)} of the month` : stepped;
  const end = "on the last day of the month";
  if (!isLast) return dates;
  return values.length === 0 ? end : `${dates} and ${end}`;
}

function weekdaysText({ values, lasts, nth }: Field): string {
  const days = inWeek(values);
  if (nth !== undefined) return `the ${NTH[nth]} ${days} of the month`;
  const last = lasts.length === 0 ? [] : [`the last ${inWeek(lasts)} of the month`];
  return listOf([...(values.length === 0 ? [] : [days]), ...last]);
}

/** A week that begins on Monday: it makes ranges of what people mean by one. */
function inWeek(values: readonly number[]): string {
  const fromMonday = values.map((value) => (value + 6) % 7).sort((a, b) => a - b);
  return spans(fromMonday, (value) => WEEKDAYS[(value + 1) % 7] ?? "");
}

function monthsText({ values }: Field): string | undefined {
  return values.length === 12 ? undefined : `in ${spans(values, (value) => MONTHS[value - 1] ?? "")}`;
}
