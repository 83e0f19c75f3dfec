import { quoteText } from "../base/text.ts";

export interface ScheduleFault {
  /**
   * Cron refuses the schedule, or it never fires. Otherwise the schedule is valid but may not be what the user
   * intended.
   */
  isFatal: boolean;
  detail: string;
}

interface CrontabField {
  what: string;
  least: number;
  most: number;
  names: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: readonly CrontabField[] = [
  { what: "minute", least: 0, most: 59, names: [] },
  { what: "hour", least: 0, most: 23, names: [] },
  { what: "day of the month", least: 1, most: 31, names: [] },
  { what: "month", least: 1, most: 12, names: MONTHS },
  { what: "day of the week", least: 0, most: 7, names: DAYS },
];
/** Maximum days of each month, with the longest February. */
const LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Checks the five fields of a schedule. Returns a fault if it is not a valid schedule or never fires. */
export function findScheduleFault(fields: readonly string[]): ScheduleFault | undefined {
  const values: Set<number>[] = [];
  for (const [index, field] of FIELDS.entries()) {
    const read = parseField(fields[index] ?? "", field);
    if (typeof read === "string")
      return { isFatal: true, detail: `${field.what} ${quoteText(fields[index] ?? "")}: ${read}` };
    values.push(read);
  }
  const [, , days = new Set(), months = new Set()] = values;
  const [, , dayText = "", , weekdayText = ""] = fields;
  // If both day fields are restricted, either one is enough. Otherwise both must match.
  if (!dayText.startsWith("*") && !weekdayText.startsWith("*")) return undefined;
  return findDateFault(days, months);
}

function findDateFault(days: ReadonlySet<number>, months: ReadonlySet<number>): ScheduleFault | undefined {
  const first = Math.min(...days);
  const lengths = [...months].map((month) => LENGTHS[month - 1] ?? 31);
  if (first > Math.max(...lengths))
    return { isFatal: true, detail: `it never fires: none of these months has a day ${first}` };
  const isLeapDay = first === 29 && Math.max(...lengths) === 29;
  return isLeapDay
    ? { isFatal: false, detail: "it fires only in leap years, on the 29th of February" }
    : undefined;
}

/** @returns the values that a field matches, or what is wrong with it */
function parseField(text: string, field: CrontabField): Set<number> | string {
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const [, range = "", step] = /^([^/]*)(?:\/(.*))?$/.exec(part) ?? [];
    const span = parseRange(range, field, step !== undefined);
    if (typeof span === "string") return span;
    if (step !== undefined && !/^0*[1-9]\d{0,3}$/.test(step))
      return `the step ${quoteText(step)} is not a number of 1 or more`;
    for (let value = span[0]; value <= span[1]; value += Number(step ?? 1)) found.add(value);
  }
  return found;
}

/** Parses the first and last value of a range. */
function parseRange(text: string, field: CrontabField, hasStep: boolean): [number, number] | string {
  const { least, most } = field;
  if (text === "*" || text === "~") return [least, most]; // cronie and OpenBSD accept `~`, which means any value
  const [from = "", to, ...more] = text.split(/[-~]/);
  const first = parseNumber(from, field);
  const last = to === undefined ? first : parseNumber(to, field);
  if (more.length > 0 || first === undefined || last === undefined)
    return `use a number from ${least} to ${most}, a range of them, or *`;
  if (hasStep && to === undefined)
    return `cron does not support a step after a single number; write ${first}-${most}/…`;
  return first <= last ? [first, last] : `the range runs backwards (${first} to ${last})`;
}

function parseNumber(text: string, { least, most, names }: CrontabField): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + least;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}
