import { ConfigError, SignalboxError } from "../base/errors.ts";
import { isJsonObject } from "../base/parse-json.ts";
import { type ParseResult, quoteText } from "../base/text.ts";
import { parseCron } from "./cron/cron.ts";
import { checkZone } from "./cron/zone.ts";
import { isCount, isMillis, isText, isTexts, type JsonFields, parseJsonFields } from "./json-fields.ts";

export const CATCHUPS = ["all", "latest", "none"] as const;
/**
 * What happens to missed occurrences. `all`: all run, one after the other. `latest`: only the latest one runs. `none`: only the
 * latest one runs, and only if it is less than a minute late, or less than the `deadline` of the schedule.
 */
export type Catchup = (typeof CATCHUPS)[number];

export const OVERLAPS = ["forbid", "allow", "replace"] as const;
/**
 * What happens to an occurrence that is due while the previous one runs. `forbid`: it waits. `allow`: it runs in parallel.
 * `replace`: the previous one is ended, then it runs.
 */
export type Overlap = (typeof OVERLAPS)[number];

export const HOOK_NAMES = ["start", "success", "failure", "late", "missed"] as const;
/** Events that call a hook: a start, its success or failure, a late start, and a skipped occurrence. */
export type HookName = (typeof HOOK_NAMES)[number];

/** A URL, or a command as argv. */
export type Hook = string | readonly string[];

/** A pause set by an operator. The schedule fires only when triggered. */
export interface Pause {
  by: string;
  /** ms since the epoch. */
  at: number;
  /** End of the pause, ms since the epoch; the schedule then fires again by itself. */
  until?: number;
  why?: string;
}

/** Definition of a schedule, under `schedules/<id>`. Durations in ms, instants in ms since the epoch. */
export interface Definition {
  /** Selects the handler. Default: the id up to the first dot. */
  type?: string;
  /** A cron expression of five fields, or a macro such as `@daily`. */
  cron: string;
  /** IANA name of the time zone. */
  timezone: string;
  /** Delay after the scheduled time. */
  delay?: number;
  /** Maximum of an additional delay that spreads schedules due at the same time. The delay is constant per schedule. */
  jitter?: number;
  /** There are no occurrences after this instant. */
  end?: number;
  /** Data for the handler. */
  data?: unknown;
  /** Command to run, as argv, instead of a handler. */
  command?: readonly string[];
  env?: Readonly<Record<string, string>>;
  catchup?: Catchup;
  /** An occurrence that is later than this is skipped. */
  deadline?: number;
  overlap?: Overlap;
  /** Only hosts of this group claim the schedule. */
  group?: string;
  /** Leases in the syntax of `--lease`: `db=2:10`. */
  leases?: readonly string[];
  /** A run receives TERM after this time. */
  timeout?: number;
  /** How often a failed occurrence is started again before it is given up. */
  retries?: number;
  /** Pause before the first retry; doubled for each further one. */
  backoff?: number;
  hooks?: Readonly<Partial<Record<HookName, Hook>>>;
  note?: string;
  /** Source of the import. An import owns the schedules with its source. */
  source?: string;
  pause?: Pause;
}

/** Defaults for fields that a definition does not set. Milliseconds. */
export const SCHEDULE_DEFAULTS = {
  timezone: "UTC",
  catchup: "all",
  overlap: "forbid",
  delay: 0,
  jitter: 0,
  retries: 0,
  backoff: 30_000,
  /** Default deadline of `catchup: none`. */
  missedAfter: 60_000,
} as const;

const DURATIONS = ["delay", "jitter", "deadline", "timeout", "backoff"] as const;
const TEXTS = ["type", "group", "note", "source"] as const;

/** Returns the value to store in etcd, for `parseDefinition`. */
export function formatDefinition(definition: Definition): string {
  return JSON.stringify({ v: 1, ...definition });
}

/** Parses a definition from etcd. Keeps unknown fields. */
export function parseDefinition(text: string): ParseResult<Definition> {
  const fields = parseJsonFields(text);
  if (fields === undefined) return { fault: "it is not a JSON object" };
  const { v: _, ...rest } = fields;
  const fault = findDefinitionFault(rest);
  return fault === undefined ? { value: rest as unknown as Definition } : { fault };
}

/**
 * Checks a definition from user input.
 * @throws ConfigError with the field and the value received; CronError
 */
export function checkDefinition(definition: Definition): Definition {
  const fault = findDefinitionFault({ ...definition });
  if (fault !== undefined) throw new ConfigError(fault);
  return definition;
}

/** Returns the type, which selects the handler. */
export function getScheduleType(id: string, { type }: Pick<Definition, "type">): string {
  return type ?? id.split(".", 1)[0] ?? id;
}

/** Returns whether a schedule is paused at an instant. */
export function isPaused({ pause }: Definition, now: number): boolean {
  return pause !== undefined && (pause.until === undefined || pause.until > now);
}

/** Returns the first fault of a definition's fields, with the value received; undefined if there is none. */
export function findDefinitionFault(fields: JsonFields): string | undefined {
  return (
    findTimeFault(fields) ??
    findTextFault(fields) ??
    findNumberFault(fields) ??
    findRuleFault(fields) ??
    findPartFault(fields)
  );
}

function findTimeFault({ cron, timezone }: JsonFields): string | undefined {
  if (!isText(cron)) return `cron ${formatValue(cron)} is not a string such as "*/5 * * * *"`;
  if (!isText(timezone)) return `timezone ${formatValue(timezone)} is not a name such as Europe/Berlin`;
  return catchMessage(() => {
    parseCron(cron);
    checkZone(timezone);
  });
}

function findTextFault(fields: JsonFields): string | undefined {
  const bad = TEXTS.find((name) => fields[name] !== undefined && !isText(fields[name]));
  return bad === undefined ? undefined : `${bad} ${formatValue(fields[bad])} is not a string`;
}

function findNumberFault(fields: JsonFields): string | undefined {
  const bad = DURATIONS.find((name) => fields[name] !== undefined && !isMillis(fields[name]));
  if (bad !== undefined) return `${bad} ${formatValue(fields[bad])} is not a duration in whole ms`;
  const { retries, end } = fields;
  if (retries !== undefined && !isCount(retries))
    return `retries ${formatValue(retries)} is not a whole number of 0 or more`;
  if (end !== undefined && !isMillis(end))
    return `end ${formatValue(end)} is not an instant in ms since the epoch`;
  return undefined;
}

function findRuleFault({ catchup, overlap }: JsonFields): string | undefined {
  if (catchup !== undefined && !CATCHUPS.some((one) => one === catchup))
    return `catchup must be one of ${CATCHUPS.join(", ")}; got ${formatValue(catchup)}`;
  if (overlap !== undefined && !OVERLAPS.some((one) => one === overlap))
    return `overlap must be one of ${OVERLAPS.join(", ")}; got ${formatValue(overlap)}`;
  return undefined;
}

function findPartFault({ command, env, leases, hooks, pause }: JsonFields): string | undefined {
  if (command !== undefined && !isArgv(command))
    return `command ${formatValue(command)} is not a list of words`;
  if (env !== undefined && !(isJsonObject(env) && Object.values(env).every(isText)))
    return `env ${formatValue(env)} is not an object of strings`;
  if (leases !== undefined && !isTexts(leases))
    return `leases ${formatValue(leases)} is not a list of strings such as db=2:10`;
  if (pause !== undefined && !isPause(pause)) return `pause ${formatValue(pause)} cannot be read`;
  if (hooks === undefined) return undefined;
  if (!isJsonObject(hooks)) return `hooks ${formatValue(hooks)} is not an object`;
  const bad = Object.entries(hooks).find(([name, hook]) => !isHook(name, hook));
  return (
    bad &&
    `hook ${quoteText(bad[0])} must be one of ${HOOK_NAMES.join(", ")}, and its value a URL or a list of words`
  );
}

/**
 * Returns whether a hook can call a URL. Call this when a hook is entered, not when a definition is read: an invalid
 * hook must not stop a schedule.
 */
export function isHookUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

function isHook(name: string, hook: unknown): boolean {
  return HOOK_NAMES.some((one) => one === name) && (isText(hook) || isArgv(hook));
}

function isPause(value: unknown): boolean {
  if (!isJsonObject(value) || !isMillis(value.at)) return false;
  const { until, by, why } = value;
  return (
    (until === undefined || isMillis(until)) && [by, why].every((one) => one === undefined || isText(one))
  );
}

const isArgv = (value: unknown): boolean => isTexts(value) && value.length > 0;

function formatValue(value: unknown): string {
  return isText(value) ? quoteText(value) : quoteText(JSON.stringify(value) ?? "nothing");
}

function catchMessage(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof SignalboxError) return error.message;
    throw error;
  }
}
