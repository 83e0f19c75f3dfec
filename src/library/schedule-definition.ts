import { ConfigError } from "../base/errors.ts";
import { findNearest, quoteText } from "../base/text.ts";
import { parseCron } from "../schedule/cron/cron.ts";
import type { Definition } from "../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../schedule/definition-values.ts";
import type { FirstOccurrenceOptions } from "../schedule/state/due-transitions.ts";
import type { Duration } from "./claim-types.ts";
import { toJsonData } from "./json-data.ts";
import { parseDurationOption, parseInstantOption, pickDefined } from "./option-values.ts";
import type { Instant, NewSchedule, ScheduleChanges } from "./schedule-types.ts";

const DURATIONS = ["delay", "jitter", "deadline", "timeout", "backoff"];
const PLAIN = ["cron", "type", "timezone", "retries", "catchup", "overlap", "group", "leases", "command"];
const OTHERS = ["env", "hooks", "note"];
const FIELDS = [...PLAIN, ...OTHERS, ...DURATIONS, "data", "end"];

/**
 * Converts a new schedule to its stored definition and its first occurrence.
 * @throws ConfigError, CronError, NotSupportedError
 */
export function buildDefinition({ start, at, ...fields }: NewSchedule): {
  definition: Definition;
  first: FirstOccurrenceOptions;
} {
  const { cron, ...rest } = toStoredFields(fields);
  const definition = { timezone: SCHEDULE_DEFAULTS.timezone, ...rest, cron } as Definition;
  const first = pickDefined({
    start: start === undefined ? undefined : parseInstantOption("start", start),
    at: at === undefined ? undefined : parseInstantOption("at", at),
  });
  return { definition, first };
}

/** Applies changes to a definition. @throws ConfigError, CronError, NotSupportedError */
export function applyChanges(before: Definition | undefined, changes: ScheduleChanges): Definition {
  const merged = { ...before, ...toStoredFields(changes) };
  const kept = Object.entries(merged).filter(([, value]) => value !== null);
  return { timezone: SCHEDULE_DEFAULTS.timezone, ...Object.fromEntries(kept) } as Definition;
}

/**
 * Converts fields to their stored form: durations in ms, instants in ms since the epoch. Does not validate most values:
 * the schedule operations do.
 */
function toStoredFields(given: ScheduleChanges): Record<string, unknown> {
  const fields = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, value === null ? null : toStoredValue(name, value)]),
  );
}

function toStoredValue(name: string, value: unknown): unknown {
  if (DURATIONS.includes(name)) return parseDurationOption(name, value as Duration);
  if (name === "end") return parseInstantOption(name, value as Instant);
  if (name === "data") return toJsonData(name, value);
  if (name === "cron" && typeof value === "string") parseCron(value); // for its error, which names the field
  if (FIELDS.includes(name)) return value;
  const meant = findNearest(name, [...FIELDS, "start", "at"]);
  const hint = meant === undefined ? "" : `; did you mean ${quoteText(meant)}?`;
  throw new ConfigError(`unknown schedule field ${quoteText(name)}${hint}`);
}
