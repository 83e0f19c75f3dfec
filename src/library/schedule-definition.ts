import * as v from "valibot";
import { pickDefined } from "../base/pick-defined.ts";
import { clean } from "../base/text.ts";
import type { Definition } from "../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../schedule/definition-values.ts";
import { NotSupportedError } from "../schedule/errors.ts";
import { isTexts } from "../schedule/json-fields.ts";
import { parsePlan } from "../schedule/plan.ts";
import type { FirstOccurrenceOptions } from "../schedule/state/due-transitions.ts";
import { DURATION, INSTANT, parseOptions } from "./options-schema.ts";
import type { NewSchedule, ScheduleChanges, ScheduleFields } from "./types.ts";

/** Fields of a schedule as programs write them; null removes one. The output is their stored form. */
const FIELDS = {
  cron: v.pipe(v.optional(v.unknown()), v.transform(checkCron)),
  ...v.entriesFromList(
    ["delay", "jitter", "deadline", "timeout", "backoff", "keepFor", "keepResult"],
    v.nullish(DURATION),
  ),
  end: v.nullish(INSTANT),
  data: v.nullish(v.pipe(v.unknown(), v.transform(copyData))),
  // The schedule operations check these.
  ...v.entriesFromList(
    [
      "type",
      "timezone",
      "expect",
      "retries",
      "pauseAfterFailures",
      "keep",
      "catchup",
      "overlap",
      "group",
      "place",
      "if",
      "leases",
      "command",
      "env",
      "hooks",
      "note",
      "after",
      "on",
      "tags",
      "priority",
      "removeAfter",
      "except",
      "only",
      "ifExcluded",
    ],
    v.optional(v.unknown()),
  ),
} satisfies Record<keyof ScheduleFields, v.GenericSchema>;
const NEW_SCHEDULE = { ...FIELDS, start: v.optional(INSTANT), at: v.optional(INSTANT) };

/**
 * Converts a new schedule to its stored definition and its first occurrence.
 * @param call  the function that was called, for messages
 * @throws ConfigError, CronError, NotSupportedError
 */
export function buildDefinition(
  call: string,
  schedule: NewSchedule,
): {
  definition: Definition;
  first: FirstOccurrenceOptions;
} {
  const { start, at, ...fields } = pickDefined(parseOptions(call, schedule, NEW_SCHEDULE));
  const definition = { timezone: SCHEDULE_DEFAULTS.timezone, ...fields } as Definition;
  return { definition, first: pickDefined({ start, at }) };
}

/** Applies changes to a definition. @throws ConfigError, CronError, NotSupportedError */
export function applyChanges(before: Definition | undefined, changes: ScheduleChanges): Definition {
  const merged = { ...before, ...pickDefined(parseOptions("modify", changes, FIELDS)) };
  const kept = Object.entries(merged).filter(([, value]) => value !== null);
  return { timezone: SCHEDULE_DEFAULTS.timezone, ...Object.fromEntries(kept) } as Definition;
}

/** @throws CronError, which names the part of the expression; the schedule operations refuse other types */
function checkCron(cron: unknown): unknown {
  if (typeof cron === "string" || isTexts(cron)) parsePlan(cron);
  return cron;
}

/** @throws NotSupportedError */
function copyData(data: unknown): unknown {
  return toJsonData("data", data);
}

/**
 * Checks that JSON preserves a value, so that a task receives exactly what was given.
 * @param name  name of the option, for the message
 * @returns a copy of the value
 * @throws NotSupportedError that names the path of a value that JSON drops or changes: `undefined`, `NaN`, `-0`, a
 *   `Map`, a `Date`, …
 */
export function toJsonData(name: string, given: unknown): unknown {
  return copy(given, name, new Set());
}

/** @param parents  the objects that contain the value, to detect cycles */
function copy(value: unknown, path: string, parents: Set<object>): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value) && !Object.is(value, -0)) return value;
  if (typeof value !== "object") throw createNotSupportedError(path, value);
  if (parents.has(value))
    throw new NotSupportedError(`${path}: JSON cannot represent an object that contains itself`);
  if (!Array.isArray(value) && !isPlain(value)) throw createNotSupportedError(path, value);
  parents.add(value);
  const result = Array.isArray(value) ? copyItems(value, path, parents) : copyFields(value, path, parents);
  parents.delete(value);
  return result;
}

/** Copies the items of a list. A hole reads as undefined and is refused. */
function copyItems(list: readonly unknown[], path: string, parents: Set<object>): unknown[] {
  return Array.from(list, (item, index) => copy(item, `${path}[${index}]`, parents));
}

function copyFields(fields: object, path: string, parents: Set<object>): object {
  const entries = Object.entries(fields).map(([key, value]) => [key, copy(value, `${path}.${key}`, parents)]);
  return Object.fromEntries(entries);
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  const isObject = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isObject && !("toJSON" in value) && Object.getOwnPropertySymbols(value).length === 0;
}

function createNotSupportedError(path: string, value: unknown): NotSupportedError {
  return new NotSupportedError(`${clean(path, 200)}: JSON cannot represent ${describe(value)}`);
}

function describe(value: unknown): string {
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "object" && value !== null) {
    const { name = "" } = value.constructor ?? {};
    return `a ${clean(name === "" || name === "Object" ? "special object" : name, 60)}`;
  }
  if (typeof value === "function") return "a function";
  return clean(typeof value === "bigint" ? `${value}n` : String(value), 60);
}
