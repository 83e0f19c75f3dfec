import { findNearest, quoteText } from "../../base/text.ts";

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
export function parseValues(part: string, kind: CronFieldKind): number[] | string {
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
