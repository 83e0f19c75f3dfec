import { ConfigError } from "../base/errors.ts";
import { nearest, quoted } from "../base/text.ts";
import { parseCron } from "../schedule/cron.ts";
import { DEFAULTS, type Definition } from "../schedule/definition.ts";
import type { First } from "../schedule/plan.ts";
import type { Duration } from "./claim-types.ts";
import type { Instant, NewSchedule, ScheduleChanges } from "./schedule-types.ts";
import { carriable, defined, durationOf, instantOf } from "./values.ts";

const DURATIONS = ["delay", "jitter", "deadline", "timeout", "backoff"];
const PLAIN = ["cron", "type", "timezone", "retries", "catchup", "overlap", "group", "leases", "command"];
const OTHERS = ["env", "hooks", "note"];
const FIELDS = [...PLAIN, ...OTHERS, ...DURATIONS, "data", "end"];

/** A new schedule as it is kept, and when it begins. @throws ConfigError, CronError, NotSupportedError */
export function definitionOf({ start, at, ...fields }: NewSchedule): {
  definition: Definition;
  first: First;
} {
  const { cron, ...rest } = fieldsOf(fields);
  const definition = { timezone: DEFAULTS.timezone, ...rest, cron } as Definition;
  const first = defined({
    start: start === undefined ? undefined : instantOf("start", start),
    at: at === undefined ? undefined : instantOf("at", at),
  });
  return { definition, first };
}

/** A definition with changes. @throws ConfigError, CronError, NotSupportedError */
export function changed(before: Definition | undefined, changes: ScheduleChanges): Definition {
  const merged = { ...before, ...fieldsOf(changes) };
  const kept = Object.entries(merged).filter(([, value]) => value !== null);
  return { timezone: DEFAULTS.timezone, ...Object.fromEntries(kept) } as Definition;
}

/** Fields as they are kept: durations in ms, instants in ms since the epoch. What they hold is checked by others. */
function fieldsOf(given: ScheduleChanges): Record<string, unknown> {
  const fields = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields.map(([name, value]) => [name, value === null ? null : kept(name, value)]));
}

function kept(name: string, value: unknown): unknown {
  if (DURATIONS.includes(name)) return durationOf(name, value as Duration);
  if (name === "end") return instantOf(name, value as Instant);
  if (name === "data") return carriable(name, value);
  if (name === "cron" && typeof value === "string") parseCron(value); // for its own error, which names the field
  if (FIELDS.includes(name)) return value;
  const meant = nearest(name, [...FIELDS, "start", "at"]);
  const hint = meant === undefined ? "" : `; did you mean ${quoted(meant)}?`;
  throw new ConfigError(`${quoted(name)} is no field of a schedule${hint}`);
}
