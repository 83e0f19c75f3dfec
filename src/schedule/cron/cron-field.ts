import { findNearest, quoteText } from "../../base/text.ts";

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
  /** Day of the month: dates of which the nearest weekday matches, as in `15W`. */
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

const MONTHS = ["january", "february", "march", "april", "may", "june", "july"];
MONTHS.push("august", "september", "october", "november", "december");
const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

const MINUTE_FIELD: CronFieldKind = { name: "minute", least: 0, most: 59, names: [] };
const HOUR_FIELD: CronFieldKind = { name: "hour", least: 0, most: 23, names: [] };
const DAY_FIELD: CronFieldKind = { name: "day of the month", least: 1, most: 31, names: [] };
const MONTH_FIELD: CronFieldKind = { name: "month", least: 1, most: 12, names: MONTHS };
const WEEKDAY_FIELD: CronFieldKind = { name: "day of the week", least: 0, most: 7, names: DAYS };
export const CRON_FIELD_KINDS = [MINUTE_FIELD, HOUR_FIELD, DAY_FIELD, MONTH_FIELD, WEEKDAY_FIELD] as const;

/**
 * Parses a field.
 * @returns the field, or what is wrong with it and what to write instead
 */
export function parseCronField(text: string, kind: CronFieldKind): CronField | string {
  const parsed = new ParsedField();
  for (const part of text.split(",")) {
    const isSpecial =
      (kind === DAY_FIELD && addSpecialDay(parsed, part)) ||
      (kind === WEEKDAY_FIELD && addSpecialWeekday(parsed, part));
    if (typeof isSpecial === "string") return isSpecial;
    if (isSpecial) continue;
    const values = parseValues(part, kind);
    if (typeof values === "string") return values;
    for (const value of values) parsed.values.add(value);
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

/** Adds `L`, `L-3`, `LW` or `15W`. @returns whether the part is one of these, or what is wrong with it */
function addSpecialDay(parsed: ParsedField, part: string): boolean | string {
  const [, isLast, before = "0"] = /^(l)(?:-(\d{1,2}))?$/i.exec(part) ?? [];
  if (isLast !== undefined) {
    if (Number(before) > 30)
      return `${quoteText(part)}: no month has so many days before its last; use L-1 to L-30`;
    parsed.fromEnd.add(Number(before));
    return true;
  }
  if (/^lw$/i.test(part)) {
    parsed.isLastWeekday = true;
    return true;
  }
  const [, date] = /^(\d{0,2})w$/i.exec(part) ?? [];
  if (date === undefined) return false;
  if (Number(date) < 1 || Number(date) > 31)
    return `${quoteText(part)}: W follows a date, such as 15W for the weekday nearest to the 15th, or L for the last weekday of the month`;
  parsed.nearest.add(Number(date));
  return true;
}

/** Adds `5L`, `FRI#L` or `1#2`. @returns whether the part is one of these, or what is wrong with it */
function addSpecialWeekday(parsed: ParsedField, part: string): boolean | string {
  const [, days, sign = "L", count = "L"] =
    /^(.+)l$/i.exec(part)?.[1]?.endsWith("#") === false
      ? ["", part.slice(0, -1)]
      : (/^([^#]*)(#)([^#]*)$/.exec(part) ?? []);
  if (days === undefined) return false;
  const isNth = sign === "#";
  const values = days === "" ? [] : parseValues(days, WEEKDAY_FIELD);
  if (isNth && (typeof values === "string" || values.length !== 1 || !/^[1-5l]$/i.test(count)))
    return `${quoteText(part)} is not understood: # takes one weekday and its number in the month, such as 1#2 for the second Monday, or 1#L for the last`;
  if (typeof values === "string") return values;
  const [weekday = 0, ...more] = values;
  if (more.length > 0)
    return `${quoteText(part)} is not understood: L follows one weekday, such as 5L for the last Friday of a month`;
  if (/^l$/i.test(count)) parsed.lasts.add(weekday);
  else parsed.nths.push([weekday, Number(count)]);
  return true;
}

const sortValues = (values: ReadonlySet<number>) => [...values].sort((a, b) => a - b);

/** Rules for one of the five fields. */
export interface CronFieldKind {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** English names of the values in lower case, starting at `least`. Their first three letters are names too. */
  readonly names: readonly string[];
}

/**
 * Parses one part of a list: a value, a range, or `*`, each with a step or without.
 * @returns the matching values, or what is wrong with the part; Sunday is 0
 */
function parseValues(part: string, kind: CronFieldKind): number[] | string {
  const [range = "", step, ...more] = part.split("/");
  if (more.length > 0) return `${quoteText(part)} has more than one step`;
  const span = parseRange(range, kind, step !== undefined);
  if (typeof span === "string") return span;
  if (step !== undefined && !/^0*[1-9]\d{0,3}$/.test(step))
    return `the step ${quoteText(step)} is not a number of 1 or more`;
  return listValues(span, kind, Number(step ?? 1));
}

/** Lists the values of a range. One that wraps around the end of its field goes on at the beginning. */
function listValues([first, last]: readonly [number, number], kind: CronFieldKind, step: number): number[] {
  const { least } = kind;
  const cycle = getTop(kind) - least + 1;
  const end = first <= last ? last : last + cycle;
  const values: number[] = [];
  for (let value = first; value <= end; value += step) values.push(least + ((value - least) % cycle));
  return values;
}

/** Returns the first and the last value of a range, as written. A single value with a step goes on to the end. */
function parseRange(range: string, kind: CronFieldKind, hasStep: boolean): [number, number] | string {
  if (range === "*" || range === "?") return [kind.least, getTop(kind)];
  const [from = "", to, ...more] = range.split("-");
  const first = parseNumber(from, kind);
  const named = to === undefined ? first : parseNumber(to, kind);
  if (first === undefined || named === undefined || more.length > 0) return formatRangeFault(range, kind);
  if (to === undefined) return [first, hasStep ? Math.max(first, getTop(kind)) : first];
  // At the end of a range, Sunday is the day after Saturday; at the beginning, the day before Monday.
  const isWeek = kind.most === 7;
  if (isWeek && named === 0 && first > 0) return [first, 7];
  return [isWeek && first === 7 && named < 7 ? 0 : first, named];
}

/** The largest value: Saturday, not the second name of Sunday. */
const getTop = ({ most }: CronFieldKind) => (most === 7 ? 6 : most);

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

function parseNumber(text: string, { least, most, names }: CronFieldKind): number | undefined {
  const named = findName(text, names);
  if (named >= 0) return named + least;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}

/** Finds a name by all of its letters or the first three. @returns its place, or -1 */
function findName(text: string, names: readonly string[]): number {
  const lower = text.toLowerCase();
  return names.findIndex((name) => name === lower || shorten(name) === lower);
}

const shorten = (name = "") => name.slice(0, 3);
