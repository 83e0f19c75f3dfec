import * as v from "valibot";
import { pickDefined } from "../base/pick-defined.ts";
import type { Definition } from "../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../schedule/definition-values.ts";
import { toJsonData } from "../schedule/json-data.ts";
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
