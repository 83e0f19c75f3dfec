import type { WallTime } from "../../core/base/clock.ts";
import { UsageError } from "../../core/base/errors.ts";
import { memoize } from "../../core/base/memoize.ts";
import { findNearest, pluralize, quoteText } from "../../core/base/text.ts";
import {
  CRON_FIELD_KINDS,
  type CronField,
  type CronFieldKind,
  type CronFields,
  parseCronField,
  SECOND_FIELD,
} from "./cron-field.ts";
import { buildWallTimes, findWallFrom, type WallTimes } from "./wall-times.ts";

/** Times on the wall clock of a zone. */
export interface WallPlan {
  /** As written, with single spaces. */
  readonly text: string;
  readonly walls: WallTimes;
  /** Seconds of each of its minutes, sorted; undefined: at their beginning. */
  readonly seconds?: readonly number[];
  /**
   * Whether the expression names one minute of the day, without a wildcard or a step. See `findOccurrenceAfter` for the
   * effect of clock changes on it.
   */
  readonly isFixed: boolean;
  /** The last instant at which it may be due. Default: none. */
  readonly until?: WallTime;
  /** In plain English, if it is no cron expression. */
  readonly explanation?: string;
}

/** A valid cron expression. */
export interface Cron extends WallPlan {
  readonly fields: CronFields;
}

export function isCron(plan: WallPlan): plan is Cron {
  return "fields" in plan;
}

/** Thrown for a cron expression that is invalid or never fires (exit 64). */
export class CronError extends UsageError {
  override readonly code = "CRON";
  /** Name of the field at fault, if any: "minute", "hour", "day of the month", "month", "day of the week". */
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.field = field;
  }
}

/** Macros and the expressions that they stand for. */
export const CRON_MACROS: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

/** Word before an expression of six fields, which begins with seconds. */
const SECONDS_WORD = "@seconds";

/** Marks a text of six fields as one with seconds; other texts stay. */
export function markSeconds(text: string): string {
  return text.trim().split(/\s+/).length === 6 ? `${SECONDS_WORD} ${text.trim()}` : text;
}

/** Longest cron expression, characters. A list of every minute, hour and day is shorter. */
const MAX_CRON_LENGTH = 500;
/**
 * Maximum number of cached expressions; the cache must hold those of 100,000 schedules. It is cleared when it is full.
 */
const MAX_CACHED_EXPRESSIONS = 200_000;
/** Maximum number of cached fields of a kind. Expressions share fields, which keeps the cache small. */
const MAX_CACHED_FIELDS = 10_000;
const getFieldParser = memoize((kind: CronFieldKind) =>
  memoize((text: string) => parseCronField(text, kind), MAX_CACHED_FIELDS),
);

/**
 * Parses a cron expression: minute, hour, day of the month, month, day of the week; or a macro such as `@daily`; or
 * `@seconds`, a field of seconds, and these five.
 *
 * Each field is `*` (or `?`), a number, a range or a list; a step may follow `*` or a range. Months and weekdays have
 * names. A range may wrap (`22-2`), and a step may follow a single value (`5/15`: from there to the end). `L` is the last
 * day of a month, `L-3` three days before, `15W` the weekday nearest to the 15th, `LW` the last weekday, `5L` or `FRI#L` the last
 * Friday, `1#2` the second Monday. If both day fields are restricted, a day matches if either field matches. A field that begins with `*` is not restricted, so a step on `*`
 * and a weekday must both match, as in Vixie's cron.
 * @returns the same object for the same text, while it is cached
 * @throws CronError with the field, the text received and the remedy
 */
export const parseCron = memoize(parseUncached, MAX_CACHED_EXPRESSIONS);

function parseUncached(text: string): Cron {
  if (text.length > MAX_CRON_LENGTH)
    throw new CronError(
      `the cron text has ${text.length} characters; at most ${MAX_CRON_LENGTH} are allowed`,
    );
  const trimmed = text.trim().replace(/\s+/g, " ");
  const [, second, rest] = /^@seconds (\S+)(.*)$/i.exec(trimmed) ?? [];
  const plain = rest === undefined ? trimmed : rest.trim();
  const fields = parseCronFields(plain.startsWith("@") ? expandMacro(plain) : plain);
  const cron: Cron = {
    text: trimmed,
    fields,
    walls: buildWallTimes(fields),
    isFixed: isFixed(fields),
    ...(second !== undefined && { seconds: parseField(second, SECOND_FIELD, trimmed).values }),
  };
  // Every 100 years contain all dates. The rarest, 29 February on a given weekday, occurs within 40 years.
  if (findWallFrom(cron.walls, Date.UTC(2000, 0), Date.UTC(2100, 0)) === undefined)
    throw new CronError(
      `cron text ${quoteText(trimmed)} never fires: ${explainNever(fields)}`,
      fields.day.kind.name,
    );
  return cron;
}

function expandMacro(macro: string): string {
  const known = CRON_MACROS[macro.toLowerCase()];
  if (known !== undefined) return known;
  const meant = findNearest(macro, Object.keys(CRON_MACROS));
  throw new CronError(
    `cron text ${quoteText(macro)} is not a macro: ${
      meant === undefined ? `use one of ${Object.keys(CRON_MACROS).join(", ")}` : `did you mean ${meant}?`
    }`,
  );
}

function parseCronFields(text: string): CronFields {
  const parts = text === "" ? [] : text.split(" ");
  if (parts.length !== 5) throw new CronError(formatCountFault(text, parts));
  const [minute, hour, day, month, weekday] = CRON_FIELD_KINDS.map((kind, at) =>
    parseField(parts[at] ?? "", kind, text),
  );
  if (!minute || !hour || !day || !month || !weekday) throw new CronError("five fields are required");
  return { minute, hour, day, month, weekday };
}

function formatCountFault(text: string, parts: readonly string[]): string {
  const wanted = "five are required: minute, hour, day of the month, month, day of the week";
  if (parts.length === 0) return `the cron text is empty: ${wanted}, or a macro such as @daily`;
  const remedy =
    parts.length === 6
      ? `; to fire at seconds, add --seconds, or write ${quoteText(`${SECONDS_WORD} ${text}`)} in a file; or leave them out: ${quoteText(parts.slice(1).join(" "))}`
      : "";
  return `cron text ${quoteText(text)} has ${pluralize(parts.length, "field")}, ${wanted}${remedy}`;
}

function parseField(part: string, kind: CronFieldKind, text: string): CronField {
  const field = getFieldParser(kind)(part);
  if (typeof field !== "string") return field;
  throw new CronError(`cron text ${quoteText(text)}, ${kind.name}: ${field}`, kind.name);
}

function isFixed({ minute, hour }: CronFields): boolean {
  return [minute, hour].every(({ text, values }) => values.length === 1 && !/[*?/]/.test(text));
}

function explainNever({ day, month, weekday }: CronFields): string {
  if (weekday.values.length === 7)
    return `no month ${quoteText(month.text)} has a day ${quoteText(day.text)}; L is a month's last day`;
  return `day of the month ${quoteText(day.text)} and day of the week ${quoteText(weekday.text)} are never the same day`;
}
