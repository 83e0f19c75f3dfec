import { findNearest, quoteText } from "../../base/text.ts";

/** Rules for one of the five fields. */
export interface CronFieldKind {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Names of the values, starting at `least`. */
  readonly names: readonly string[];
}

/** A parsed field. */
export interface CronField {
  readonly text: string;
  readonly kind: CronFieldKind;
  /** Matching values, sorted and unique; Sunday is 0. */
  readonly values: readonly number[];
  /** The field begins with `*`. cron then treats it as unrestricted, even with a step. */
  readonly isStar: boolean;
  /** Day of the month: `L`, the last day. */
  readonly isLast: boolean;
  /** Day of the week: weekdays that match only on their last date of a month, as in `5L`. */
  readonly lasts: readonly number[];
  /** Day of the week: which one of the month, 1 to 5, as in `1#2`. */
  readonly nth?: number;
}

/** The five fields of an expression. */
export interface CronFields {
  readonly minute: CronField;
  readonly hour: CronField;
  readonly day: CronField;
  readonly month: CronField;
  readonly weekday: CronField;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

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
  const values = new Set<number>();
  const lasts = new Set<number>();
  const isStar = /^[*?]/.test(text);
  let isLast = false;
  const nth = kind === WEEKDAY_FIELD ? /^([^#,]*)#([^#]*)$/.exec(text) : null;
  if (nth !== null) return parseNthWeekday(text, nth[1] ?? "", nth[2] ?? "");
  for (const part of text.split(",")) {
    const weekday = kind === WEEKDAY_FIELD ? /^(.+)l$/i.exec(part)?.[1] : undefined;
    if (kind === DAY_FIELD && /^l$/i.test(part)) {
      isLast = true;
      continue;
    }
    const read = parseValues(weekday ?? part, kind);
    if (typeof read === "string") return read;
    if (weekday !== undefined && read.length > 1)
      return `${quoteText(part)} is not understood: L follows one weekday, such as 5L for the last Friday of a month`;
    for (const value of read) (weekday === undefined ? values : lasts).add(normalizeValue(value, kind));
  }
  return { text, kind, values: sortValues(values), isStar, isLast, lasts: sortValues(lasts) };
}

function parseNthWeekday(text: string, day: string, count: string): CronField | string {
  const weekday = parseNumber(day, WEEKDAY_FIELD);
  if (weekday === undefined || !/^[1-5]$/.test(count))
    return `${quoteText(text)} is not understood: # takes one weekday and its number in the month, such as 1#2 for the second Monday`;
  return {
    text,
    kind: WEEKDAY_FIELD,
    values: [normalizeValue(weekday, WEEKDAY_FIELD)],
    isStar: false,
    isLast: false,
    lasts: [],
    nth: Number(count),
  };
}

/** Returns the values of one part of a list, as written: Sunday may be 7. */
function parseValues(part: string, kind: CronFieldKind): number[] | string {
  const [range = "", step, ...more] = part.split("/");
  if (more.length > 0) return `${quoteText(part)} has more than one step`;
  const span = parseRange(range, kind, step);
  if (typeof span === "string") return span;
  if (step !== undefined && !/^0*[1-9]\d{0,3}$/.test(step))
    return `the step ${quoteText(step)} is not a number of 1 or more`;
  const values: number[] = [];
  for (let value = span[0]; value <= span[1]; value += Number(step ?? 1)) values.push(value);
  return values;
}

/** Returns the first and the last value of a range. */
function parseRange(range: string, kind: CronFieldKind, step: string | undefined): [number, number] | string {
  const { least, most } = kind;
  if (range === "*" || range === "?") return [least, kind === WEEKDAY_FIELD ? 6 : most];
  const [from = "", to, ...more] = range.split("-");
  const first = parseNumber(from, kind);
  const named = to === undefined ? first : parseNumber(to, kind);
  if (first === undefined || named === undefined || more.length > 0) return formatRangeFault(range, kind);
  // At the end of a range, Sunday is the day after Saturday.
  const last = kind === WEEKDAY_FIELD && named === 0 && first > 0 ? 7 : named;
  if (step !== undefined && to === undefined)
    return `cron does not support a step after a single number; write ${first}-${kind === WEEKDAY_FIELD ? 6 : most}/${step}`;
  if (first <= last) return [first, last];
  return `the range ${quoteText(range)} runs backwards; write ${unwrapRange(first, last, kind, step)}`;
}

/** Rewrites a range that wraps around the end of its field as valid cron. A step continues across the end. */
function unwrapRange(first: number, last: number, kind: CronFieldKind, step: string | undefined): string {
  const { least } = kind;
  const top = kind === WEEKDAY_FIELD ? 6 : kind.most;
  const stride = Number(step ?? 1);
  const isStepped = Number.isSafeInteger(stride) && stride > 1;
  const start = normalizeValue(first, kind); // 7 is Sunday
  if (start <= last) return `${start}-${last}${isStepped ? `/${stride}` : ""}`;
  if (!isStepped) return [formatRange(start, top), formatRange(least, last)].join(",");
  const cycle = top - least + 1;
  const values = new Set<number>();
  for (let value = start; value <= last + cycle; value += stride)
    values.add(value > top ? value - cycle : value);
  return sortValues(values).join(",");
}

const formatRange = (from: number, to: number) => (from === to ? `${from}` : `${from}-${to}`);

function formatRangeFault(range: string, kind: CronFieldKind): string {
  const { least, most, names } = kind;
  const wanted = `${least} to ${most}${names.length > 0 ? ` or ${names[0]} to ${names.at(-1)}` : ""}, a range, or *`;
  if (range === "") return `something is missing next to a comma, a dash or a slash; use ${wanted}`;
  if (/^\d*w$|^lw$/i.test(range))
    return `${quoteText(range)}: W, the nearest weekday, is not supported; use ${wanted}`;
  if (/^h\b/i.test(range))
    return `${quoteText(range)}: H is not supported; write a time and give the schedule a jitter`;
  if (range.includes("~"))
    return `${quoteText(range)}: ~ is not supported; write a time and give the schedule a jitter`;
  const word = range
    .split("-")
    .find((text) => /^[a-z]{3,}$/i.test(text) && !names.includes(text.toLowerCase()));
  const meant = word === undefined ? undefined : suggestName(word, names);
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
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + least;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}

const normalizeValue = (value: number, kind: CronFieldKind) => (kind === WEEKDAY_FIELD ? value % 7 : value);

const sortValues = (values: ReadonlySet<number>) => [...values].sort((a, b) => a - b);
