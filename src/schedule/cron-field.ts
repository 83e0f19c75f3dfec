import { nearest, quoted } from "../base/text.ts";

/** What one of the five fields may hold. */
export interface FieldKind {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Names of its values from `least` on. */
  readonly names: readonly string[];
}

/** What a field lets pass. */
export interface Field {
  readonly text: string;
  readonly kind: FieldKind;
  /** In order, each once; Sunday is 0. */
  readonly values: readonly number[];
  /** It begins with `*`: cron then takes it for unrestricted, even where a step follows. */
  readonly isStar: boolean;
  /** Day of the month: `L`, the last one. */
  readonly isLast: boolean;
  /** Day of the week: weekdays of which only the last in a month counts. */
  readonly lasts: readonly number[];
  /** Day of the week: which one in a month, 1 to 5, as in `1#2`. */
  readonly nth?: number;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

export const MINUTE: FieldKind = { name: "minute", least: 0, most: 59, names: [] };
export const HOUR: FieldKind = { name: "hour", least: 0, most: 23, names: [] };
export const DAY: FieldKind = { name: "day of the month", least: 1, most: 31, names: [] };
export const MONTH: FieldKind = { name: "month", least: 1, most: 12, names: MONTHS };
export const WEEKDAY: FieldKind = { name: "day of the week", least: 0, most: 7, names: DAYS };
export const KINDS = [MINUTE, HOUR, DAY, MONTH, WEEKDAY] as const;

/** @returns what a field lets pass, or what is wrong with it and what to write instead */
export function readField(text: string, kind: FieldKind): Field | string {
  const values = new Set<number>();
  const lasts = new Set<number>();
  const isStar = /^[*?]/.test(text);
  let isLast = false;
  const nth = kind === WEEKDAY ? /^([^#,]*)#([^#]*)$/.exec(text) : null;
  if (nth !== null) return nthField(text, nth[1] ?? "", nth[2] ?? "");
  for (const part of text.split(",")) {
    const weekday = kind === WEEKDAY ? /^(.+)l$/i.exec(part)?.[1] : undefined;
    if (kind === DAY && /^l$/i.test(part)) {
      isLast = true;
      continue;
    }
    const read = valuesOf(weekday ?? part, kind);
    if (typeof read === "string") return read;
    if (weekday !== undefined && read.length > 1)
      return `${quoted(part)} is not understood: L follows one weekday, such as 5L for the last Friday of a month`;
    for (const value of read) (weekday === undefined ? values : lasts).add(folded(value, kind));
  }
  return { text, kind, values: inOrder(values), isStar, isLast, lasts: inOrder(lasts) };
}

function nthField(text: string, day: string, count: string): Field | string {
  const weekday = numberOf(day, WEEKDAY);
  if (weekday === undefined || !/^[1-5]$/.test(count))
    return `${quoted(text)} is not understood: # wants one weekday and which one of a month, such as 1#2 for the second Monday`;
  return {
    text,
    kind: WEEKDAY,
    values: [folded(weekday, WEEKDAY)],
    isStar: false,
    isLast: false,
    lasts: [],
    nth: Number(count),
  };
}

/** The values of one part of a list, as written: Sunday may be 7. */
function valuesOf(part: string, kind: FieldKind): number[] | string {
  const [range = "", step, ...more] = part.split("/");
  if (more.length > 0) return `${quoted(part)} has more than one step`;
  const span = spanOf(range, kind, step);
  if (typeof span === "string") return span;
  if (step !== undefined && !/^0*[1-9]\d{0,3}$/.test(step))
    return `the step ${quoted(step)} is not a number from 1 on`;
  const values: number[] = [];
  for (let value = span[0]; value <= span[1]; value += Number(step ?? 1)) values.push(value);
  return values;
}

/** The first and the last value of a range. */
function spanOf(range: string, kind: FieldKind, step: string | undefined): [number, number] | string {
  const { least, most } = kind;
  if (range === "*" || range === "?") return [least, kind === WEEKDAY ? 6 : most];
  const [from = "", to, ...more] = range.split("-");
  const first = numberOf(from, kind);
  const named = to === undefined ? first : numberOf(to, kind);
  if (first === undefined || named === undefined || more.length > 0) return misread(range, kind);
  // Sunday is also the day after Saturday.
  const last = kind === WEEKDAY && named === 0 && first > 0 ? 7 : named;
  if (step !== undefined && to === undefined)
    return `a step after a single number means nothing to cron; write ${first}-${kind === WEEKDAY ? 6 : most}/${step}`;
  if (first <= last) return [first, last];
  const top = kind === WEEKDAY ? 6 : most;
  const head = first === top ? `${first}` : `${first}-${top}`;
  const tail = least === last ? `${least}` : `${least}-${last}`;
  return `the range ${quoted(range)} runs backwards; write ${head},${tail}`;
}

function misread(range: string, kind: FieldKind): string {
  const { least, most, names } = kind;
  const wanted = `${least} to ${most}${names.length > 0 ? ` or ${names[0]} to ${names.at(-1)}` : ""}, a range, or *`;
  if (range === "") return `something is missing next to a comma, a dash or a slash: ${wanted} is wanted`;
  if (/^\d*w$|^lw$/i.test(range))
    return `${quoted(range)}: W, the nearest weekday, is not supported; ${wanted} is wanted`;
  if (/^h\b/i.test(range))
    return `${quoted(range)}: H is not supported; write a time and give the schedule a jitter`;
  if (range.includes("~"))
    return `${quoted(range)}: ~ is not supported; write a time and give the schedule a jitter`;
  const word = range
    .split("-")
    .find((text) => /^[a-z]{3,}$/i.test(text) && !names.includes(text.toLowerCase()));
  const meant = word === undefined ? undefined : meantBy(word, names);
  return `${quoted(range)} is not understood: ${meant === undefined ? `${wanted} is wanted` : `did you mean ${meant}?`}`;
}

function meantBy(word: string, names: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const letters = (text: string) => [...text].sort().join("");
  return (
    names.find((name) => lower.startsWith(name) || letters(name) === letters(lower)) ??
    nearest(lower, names) ??
    nearest(lower.slice(0, 3), names)
  );
}

function numberOf(text: string, { least, most, names }: FieldKind): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + least;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}

const folded = (value: number, kind: FieldKind) => (kind === WEEKDAY ? value % 7 : value);

const inOrder = (values: ReadonlySet<number>) => [...values].sort((a, b) => a - b);
