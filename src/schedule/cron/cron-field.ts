import { CronExpressionParser } from "cron-parser";
import { memoize } from "../../core/base/memoize.ts";
import { findNearest, quoteText } from "../../core/base/text.ts";

/** A parsed field. */
export interface CronField {
  readonly text: string;
  readonly kind: CronFieldKind;
  /** Matching values, sorted and unique; Sunday is 0. */
  readonly values: readonly number[];
  /** The field begins with `*`. cron then treats it as unrestricted, even with a step. */
  readonly isStar: boolean;
  /** Day of the month: days before the last one. `L` is 0, `L-3` is 3. */
  readonly fromEnd: readonly number[];
  /** Days of the month: the weekday nearest to each matches, as in `15W`. */
  readonly nearest: readonly number[];
  /** Day of the month: `LW`, the last weekday of the month. */
  readonly isLastWeekday: boolean;
  /** Day of the week: weekdays that match only on their last date of a month, as in `5L` or `FRI#L`. */
  readonly lasts: readonly number[];
  /** Day of the week: weekdays that match only on one date of a month, the first to the fifth, as in `1#2`. */
  readonly nths: readonly (readonly [weekday: number, nth: number])[];
}

/** The five fields of an expression. */
export interface CronFields {
  readonly minute: CronField;
  readonly hour: CronField;
  readonly day: CronField;
  readonly month: CronField;
  readonly weekday: CronField;
}

/** Rules for one of the five fields. */
export interface CronFieldKind {
  readonly name: string;
  /** Name of the field in cron-parser. */
  readonly property: "minute" | "hour" | "dayOfMonth" | "month" | "dayOfWeek";
  readonly least: number;
  readonly most: number;
  /** English names of the values in lower case, starting at `least`. Their first three letters are names too. */
  readonly names: readonly string[];
}

/** Names of the months, January first. */
export const MONTHS = ["January", "February", "March", "April", "May", "June", "July"];
MONTHS.push("August", "September", "October", "November", "December");

/** Names of the days of the week, Sunday first. */
export const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const toLowerCase = (names: readonly string[]) => names.map((name) => name.toLowerCase());

/** Seconds come before the other fields, and have the values of minutes. */
export const SECOND_FIELD: CronFieldKind = {
  name: "second",
  property: "minute",
  least: 0,
  most: 59,
  names: [],
};

export const CRON_FIELD_KINDS: readonly CronFieldKind[] = [
  { name: "minute", property: "minute", least: 0, most: 59, names: [] },
  { name: "hour", property: "hour", least: 0, most: 23, names: [] },
  { name: "day of the month", property: "dayOfMonth", least: 1, most: 31, names: [] },
  { name: "month", property: "month", least: 1, most: 12, names: toLowerCase(MONTHS) },
  { name: "day of the week", property: "dayOfWeek", least: 0, most: 7, names: toLowerCase(WEEKDAYS) },
];

/**
 * Parses a field. The package cron-parser reads the parts of its list, each for itself, because it refuses lists that name a
 * value twice.
 * @returns the field, or what is wrong with it and what to write instead
 */
export function parseCronField(text: string, kind: CronFieldKind): CronField | string {
  const parsed = new ParsedField();
  for (const part of text.split(",")) {
    if (!addPart(parsed, part, kind)) return formatFault(part, kind);
  }
  return {
    text,
    kind,
    isStar: /^[*?]/.test(text),
    isLastWeekday: parsed.isLastWeekday,
    nths: parsed.nths,
    values: sortValues(parsed.values),
    fromEnd: sortValues(parsed.fromEnd),
    nearest: sortValues(parsed.nearest),
    lasts: sortValues(parsed.lasts),
  };
}

/** What the parts of a field mean together. */
class ParsedField {
  readonly values = new Set<number>();
  readonly fromEnd = new Set<number>();
  readonly nearest = new Set<number>();
  readonly lasts = new Set<number>();
  readonly nths: [number, number][] = [];
  isLastWeekday = false;
}

const sortValues = (values: ReadonlySet<number>) => [...values].sort((a, b) => a - b);

/** Adds what a part of a list means. @returns whether it is understood */
function addPart(parsed: ParsedField, part: string, kind: CronFieldKind): boolean {
  return (
    (kind.property === "dayOfMonth" && addOwnDay(parsed, part)) ||
    translatePart(part, kind).every((one) => addPlainPart(parsed, one, kind))
  );
}

/** Adds `L-3`, `LW` or `15W`, which cron-parser does not know. @returns whether the part is one of these */
function addOwnDay(parsed: ParsedField, part: string): boolean {
  const [, before, date] = /^(?:L-([0-2]?\d|30)|(0?[1-9]|[12]\d|3[01])W)$/i.exec(part) ?? [];
  if (before !== undefined) parsed.fromEnd.add(Number(before));
  else if (date !== undefined) parsed.nearest.add(Number(date));
  else if (/^LW$/i.test(part)) parsed.isLastWeekday = true;
  else return false;
  return true;
}

/** Adds what a part means to cron-parser. @returns whether it is understood */
function addPlainPart(parsed: ParsedField, part: string, kind: CronFieldKind): boolean {
  const read = getPartReader(kind.property)(part);
  for (const value of read?.values ?? []) {
    // Sunday is 0 and 7 there, and the last Sunday of a month "7L".
    const number = kind.most === 7 ? Number.parseInt(String(value), 10) % 7 : Number(value);
    if (value === "L") parsed.fromEnd.add(0);
    else if (typeof value === "string") parsed.lasts.add(number);
    else if (read?.nth) parsed.nths.push([number, read.nth]);
    else parsed.values.add(number);
  }
  return read !== undefined;
}

/** What cron-parser reads: numbers, `L` or `5L`; and their place in the month, 0 for any. */
interface PartValues {
  readonly values: readonly (number | string)[];
  readonly nth: number;
}

/** Maximum number of cached parts of a kind. Reading one takes 50 µs, and thousands of lists have the same few hundred. */
const MAX_CACHED_PARTS = 5_000;

/** The zone and the instant only make it quicker: nobody asks this object for occurrences. */
const PARSER_OPTIONS = { tz: "UTC", currentDate: 0 };

/** Returns what reads a part of a list with cron-parser: undefined if it refuses the part. */
const getPartReader = memoize((wanted: CronFieldKind["property"]) =>
  memoize((part: string) => readPart(part, wanted), MAX_CACHED_PARTS),
);

function readPart(part: string, wanted: CronFieldKind["property"]): PartValues | undefined {
  const text = CRON_FIELD_KINDS.map(({ property }) => (property === wanted ? part : "*")).join(" ");
  try {
    const { fields } = CronExpressionParser.parse(text, PARSER_OPTIONS);
    return { values: fields[wanted].values, nth: fields.dayOfWeek.nthDay };
  } catch {
    return undefined;
  }
}

/**
 * Translates a part of a list into parts for cron-parser, which refuses whole names, `fri#L` and ranges that wrap, and ends a step
 * after a single weekday on Sunday. What it would misread, such as `H` or `jan0`, becomes a part that it refuses.
 */
function translatePart(part: string, kind: CronFieldKind): string[] {
  const text = part.replace(/(?<=^|-)[a-z]+(?=$|[-/#])/gi, (word) => translateName(word, kind)).toUpperCase();
  const [, from, to, step] = /^(\d{1,4})(?:-(\d{1,4}))?(?:\/(0*[1-9]\d{0,3}))?$/.exec(text) ?? [];
  if (from !== undefined) return translateRange(Number(from), to, step, kind);
  const [, star, day, which = ""] = /^(?:([*?](?:\/0*[1-9]\d{0,3})?|L)|0*(\d)(#?L|#[1-5]))$/.exec(text) ?? [];
  return [day === undefined ? (star ?? "-") : `${day}${which.replace("#L", "L")}`];
}

/** Translates the name of a value, also before `L`. */
function translateName(word: string, { least, names }: CronFieldKind): string {
  const at = findName(word, names);
  if (at >= 0) return String(least + at);
  const before = /L$/i.test(word) ? findName(word.slice(0, -1), names) : -1;
  return before < 0 ? word : `${least + before}L`;
}

/** Translates a range. A single value with a step goes on to the end of the field, and a range that wraps becomes two. */
function translateRange(from: number, to: string | undefined, step = "", kind: CronFieldKind): string[] {
  const { least, most } = kind;
  const isWeek = most === 7;
  const top = isWeek ? 6 : most;
  const named = to === undefined ? (step === "" ? from : Math.max(from, top)) : Number(to);
  // At the end of a range, Sunday is the day after Saturday; at the beginning, the day before Monday.
  const last = isWeek && named === 0 && from > 0 ? 7 : named;
  const first = isWeek && from === 7 && last < 7 ? 0 : from;
  const by = Number(step || 1);
  if (first <= last || last < least) return [`${first}-${last}/${by}`];
  const next = first + Math.ceil((top + 1 - first) / by) * by - (top + 1 - least);
  return [`${first}-${top}/${by}`, ...(next <= last ? [`${next}-${last}/${by}`] : [])];
}

/** Says what is wrong with a part of a list that is not understood. */
function formatFault(part: string, kind: CronFieldKind): string {
  const [range = "", step, ...more] = part.split("/");
  const quoted = quoteText(part);
  const isDay = kind.property === "dayOfMonth";
  const isWeek = kind.property === "dayOfWeek";
  if (more.length > 0) return `${quoted} has more than one step`;
  if (isDay && /^L-\d{1,2}$/i.test(part))
    return `${quoted}: no month has so many days before its last; use L-1 to L-30`;
  if (isDay && /^\d{0,2}W$/i.test(part))
    return `${quoted}: W follows a date, such as 15W for the weekday nearest to the 15th, or L for the last weekday of the month`;
  if (isWeek && /^[^#]*#[^#]*$/.test(part))
    return `${quoted} is not understood: # takes one weekday and its number in the month, such as 1#2 for the second Monday, or 1#L for the last`;
  if (isWeek && /[^#]L$/i.test(part))
    return isUnderstood(part.slice(0, -1), kind)
      ? `${quoted} is not understood: L follows one weekday, such as 5L for the last Friday of a month`
      : formatFault(part.slice(0, -1), kind);
  return step !== undefined && isUnderstood(`${range}/1`, kind)
    ? `the step ${quoteText(step)} is not a number of 1 or more`
    : formatRangeFault(range, kind);
}

const isUnderstood = (part: string, kind: CronFieldKind) => addPart(new ParsedField(), part, kind);

function formatRangeFault(range: string, kind: CronFieldKind): string {
  const { least, most, names } = kind;
  const wanted = `${least} to ${most}${names.length > 0 ? ` or ${shorten(names[0])} to ${shorten(names.at(-1))}` : ""}, a range, or *`;
  if (range === "") return `something is missing next to a comma, a dash or a slash; use ${wanted}`;
  if (/^h\b/i.test(range))
    return `${quoteText(range)}: H is not supported; write a time and give the schedule a jitter`;
  if (range.includes("~"))
    return `${quoteText(range)}: ~ is not supported; write a time and give the schedule a jitter`;
  const word = range.split("-").find((text) => /^[a-z]{3,}$/i.test(text) && findName(text, names) < 0);
  const meant = word === undefined ? undefined : suggestName(word, names.map(shorten));
  return `${quoteText(range)} is not understood: ${meant === undefined ? `use ${wanted}` : `did you mean ${meant}?`}`;
}

function suggestName(word: string, names: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const sortLetters = (text: string) => [...text].sort().join("");
  return (
    names.find((name) => lower.startsWith(name) || sortLetters(name) === sortLetters(lower)) ??
    findNearest(lower, names) ??
    findNearest(lower.slice(0, 3), names)
  );
}

/** Finds a name by all of its letters or the first three. @returns its place, or -1 */
function findName(text: string, names: readonly string[]): number {
  const lower = text.toLowerCase();
  return names.findIndex((name) => name === lower || shorten(name) === lower);
}

const shorten = (name = "") => name.slice(0, 3);
