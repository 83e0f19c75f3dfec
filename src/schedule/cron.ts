import { UsageError } from "../base/errors.ts";
import { nearest, quoted } from "../base/text.ts";
import { type Calendar, calendarOf, wallFrom } from "./calendar.ts";
import { type Field, type FieldKind, KINDS, readField } from "./cron-field.ts";

/** A cron text that was checked. */
export interface Cron {
  /** As it was written, with single spaces. */
  readonly text: string;
  readonly fields: CronFields;
  readonly calendar: Calendar;
  /** It names one time of the day, without a wildcard or a step: see `occurrenceAfter` for what clock changes do to it. */
  readonly isFixed: boolean;
}

export interface CronFields {
  readonly minute: Field;
  readonly hour: Field;
  readonly day: Field;
  readonly month: Field;
  readonly weekday: Field;
}

/** A cron text that cannot be read, or never comes to pass (exit 64). */
export class CronError extends UsageError {
  override readonly code = "CRON";
  /** Name of the field at fault, where it is one: "minute", "hour", "day of the month", "month", "day of the week". */
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.field = field;
  }
}

/** What the macros stand for. */
export const CRON_MACROS: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

/** A list of every minute, hour and day has less. */
const LONGEST = 500;
/** More distinct texts than this are read again when they are met again: 100,000 schedules must fit. */
const CACHED = 200_000;
const cache = new Map<string, Cron>();
/** Texts share their fields; that keeps what is remembered small. */
const SHARED = 10_000;
const shared = new Map<string, Field>();

/**
 * Reads a cron text: minute, hour, day of the month, month, day of the week; or a macro such as `@daily`.
 *
 * Each field is `*` (or `?`), a number, a range, a list, with a step after `*` or a range. Months and weekdays have names. `L` is the
 * last day of a month, `5L` its last Friday, `1#2` its second Monday. Where both days are restricted either will do; a
 * field that begins with `*` is not restricted, so that a step on `*` and a weekday must both hold, as in Vixie's cron.
 * @returns the same object for the same text, while it is remembered
 * @throws CronError naming the field, the text received and the remedy
 */
export function parseCron(text: string): Cron {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const cron = read(text);
  if (cache.size >= CACHED) cache.clear();
  cache.set(text, cron);
  return cron;
}

function read(text: string): Cron {
  if (text.length > LONGEST)
    throw new CronError(`cron text of ${text.length} characters: at most ${LONGEST} are allowed`);
  const trimmed = text.trim().replace(/\s+/g, " ");
  const fields = fieldsOf(trimmed.startsWith("@") ? expanded(trimmed) : trimmed);
  const cron: Cron = { text: trimmed, fields, calendar: calendarOf(fields), isFixed: isFixed(fields) };
  // Any 100 years have every date that there is: the rarest, the 29th of February on a given weekday, comes within 40.
  if (wallFrom(cron.calendar, Date.UTC(2000, 0), Date.UTC(2100, 0)) === undefined)
    throw new CronError(
      `cron text ${quoted(trimmed)} never comes to pass: ${neverBecause(fields)}`,
      fields.day.kind.name,
    );
  return cron;
}

function expanded(macro: string): string {
  const known = CRON_MACROS[macro.toLowerCase()];
  if (known !== undefined) return known;
  if (macro.toLowerCase() === "@reboot")
    throw new CronError('cron text "@reboot" is not a time: start it with the host, by a systemd unit');
  const meant = nearest(macro, Object.keys(CRON_MACROS));
  throw new CronError(
    `cron text ${quoted(macro)} is no macro: ${
      meant === undefined ? `known are ${Object.keys(CRON_MACROS).join(", ")}` : `did you mean ${meant}?`
    }`,
  );
}

function fieldsOf(text: string): CronFields {
  const parts = text === "" ? [] : text.split(" ");
  if (parts.length !== 5) throw new CronError(countFault(text, parts));
  const [minute, hour, day, month, weekday] = KINDS.map((kind, at) => fieldOf(parts[at] ?? "", kind, text));
  if (!minute || !hour || !day || !month || !weekday) throw new CronError("five fields are wanted");
  return { minute, hour, day, month, weekday };
}

function countFault(text: string, parts: readonly string[]): string {
  const wanted = "five are wanted: minute, hour, day of the month, month, day of the week";
  if (parts.length === 0) return `the cron text is empty: ${wanted}, or a macro such as @daily`;
  const remedy =
    parts.length === 6 ? `; with seconds in front, leave them out: ${quoted(parts.slice(1).join(" "))}` : "";
  return `cron text ${quoted(text)} has ${parts.length} field${parts.length === 1 ? "" : "s"}, ${wanted}${remedy}`;
}

function fieldOf(part: string, kind: FieldKind, text: string): Field {
  const key = `${kind.name} ${part}`;
  const known = shared.get(key);
  if (known !== undefined) return known;
  const field = readField(part, kind);
  if (typeof field !== "string") {
    if (shared.size >= SHARED) shared.clear();
    shared.set(key, field);
    return field;
  }
  throw new CronError(`cron text ${quoted(text)}, ${kind.name}: ${field}`, kind.name);
}

function isFixed({ minute, hour }: CronFields): boolean {
  return [minute, hour].every(({ text, values }) => values.length === 1 && !/[*?/]/.test(text));
}

function neverBecause({ day, month, weekday }: CronFields): string {
  if (weekday.values.length === 7 && weekday.nth === undefined)
    return `no month ${quoted(month.text)} has a day ${quoted(day.text)}; L is a month's last day`;
  return `day of the month ${quoted(day.text)} and day of the week ${quoted(weekday.text)} are never the same day`;
}
