import { ConfigError, SignalboxError } from "../base/errors.ts";
import { type Parsed, quoted } from "../base/text.ts";
import { parseCron } from "./cron.ts";
import { type Fields, fieldsOf, isCount, isFields, isMillis, isText } from "./fields.ts";
import { checkZone } from "./zone.ts";

/** What becomes of occurrences that were missed: each is made up for, only the newest, or none that is a minute late. */
export const CATCHUPS = ["all", "latest", "none"] as const;
export type Catchup = (typeof CATCHUPS)[number];

/** What becomes of an occurrence that is due while the one before runs: it waits, runs beside it, or ends it. */
export const OVERLAPS = ["forbid", "allow", "replace"] as const;
export type Overlap = (typeof OVERLAPS)[number];

/** When a hook is called: around every start; where something failed, started late, or was skipped. */
export const HOOKS = ["start", "success", "failure", "late", "missed"] as const;
export type HookName = (typeof HOOKS)[number];

/** A URL, or a command as argv. */
export type Hook = string | readonly string[];

/** An operator's word that a schedule fires no more, but for triggers. */
export interface Pause {
  by: string;
  /** ms since the epoch. */
  at: number;
  /** ms since the epoch; it fires again by itself then. */
  until?: number;
  why?: string;
}

/** What operators keep about a schedule, under `schedules/<id>`. Durations in ms, instants in ms since the epoch. */
export interface Definition {
  /** Chooses the handler; a schedule without one has its id up to the first dot. */
  type?: string;
  /** Five fields, or a macro such as `@daily`. */
  cron: string;
  /** An IANA name. */
  timezone: string;
  /** After the nominal time. */
  delay?: number;
  /** Most of a further delay, always the same for this schedule, that spreads what is due together. */
  jitter?: number;
  /** No occurrence is later. */
  end?: number;
  /** What the handler gets. */
  data?: unknown;
  /** What is run, as argv, whatever handlers a worker has. */
  command?: readonly string[];
  env?: Readonly<Record<string, string>>;
  catchup?: Catchup;
  /** What is later than this is skipped. */
  deadline?: number;
  overlap?: Overlap;
  /** Only hosts of this group take it. */
  group?: string;
  /** As `--lease` has them: `db=2:10`. */
  leases?: readonly string[];
  /** A run gets TERM then. */
  timeout?: number;
  /** How often a failed occurrence is started again before it is given up. */
  retries?: number;
  /** Before the first of these; doubled for each further one. */
  backoff?: number;
  hooks?: Readonly<Partial<Record<HookName, Hook>>>;
  note?: string;
  /** Where it was imported from; an import owns what has its word. */
  source?: string;
  pause?: Pause;
}

/** What counts where a definition does not say. Milliseconds. */
export const DEFAULTS = {
  timezone: "UTC",
  catchup: "all",
  overlap: "forbid",
  delay: 0,
  jitter: 0,
  retries: 0,
  backoff: 30_000,
  /** The deadline of `catchup: none`. */
  missedAfter: 60_000,
} as const;

const DURATIONS = ["delay", "jitter", "deadline", "timeout", "backoff"] as const;
const TEXTS = ["type", "group", "note", "source"] as const;

/** The value to keep in etcd, as `parseDefinition` reads it. */
export function definitionText(definition: Definition): string {
  return JSON.stringify({ v: 1, ...definition });
}

/** A definition as it stands in etcd. Unknown fields pass. */
export function parseDefinition(text: string): Parsed<Definition> {
  const fields = fieldsOf(text);
  if (fields === undefined) return { fault: "it is not a JSON object" };
  const { v: _, ...rest } = fields;
  const fault = faultIn(rest);
  return fault === undefined ? { value: rest as unknown as Definition } : { fault };
}

/**
 * A definition that was put together from what users wrote.
 * @throws ConfigError naming the field and the value received; CronError
 */
export function checkedDefinition(definition: Definition): Definition {
  const fault = faultIn({ ...definition });
  if (fault !== undefined) throw new ConfigError(fault);
  return definition;
}

/** The type that chooses the handler. */
export function typeOf(id: string, { type }: Pick<Definition, "type">): string {
  return type ?? id.split(".", 1)[0] ?? id;
}

/** Whether a schedule is paused at an instant. */
export function isPaused({ pause }: Definition, now: number): boolean {
  return pause !== undefined && (pause.until === undefined || pause.until > now);
}

function faultIn(fields: Fields): string | undefined {
  return (
    timeFault(fields) ?? textFault(fields) ?? numberFault(fields) ?? ruleFault(fields) ?? partFault(fields)
  );
}

function timeFault({ cron, timezone }: Fields): string | undefined {
  if (!isText(cron)) return `cron ${shown(cron)} is not a text such as "*/5 * * * *"`;
  if (!isText(timezone)) return `timezone ${shown(timezone)} is not a name such as Europe/Berlin`;
  return messageOf(() => {
    parseCron(cron);
    checkZone(timezone);
  });
}

function textFault(fields: Fields): string | undefined {
  const bad = TEXTS.find((name) => fields[name] !== undefined && !isText(fields[name]));
  return bad === undefined ? undefined : `${bad} ${shown(fields[bad])} is not a text`;
}

function numberFault(fields: Fields): string | undefined {
  const bad = DURATIONS.find((name) => fields[name] !== undefined && !isMillis(fields[name]));
  if (bad !== undefined) return `${bad} ${shown(fields[bad])} is not a duration in whole ms`;
  const { retries, end } = fields;
  if (retries !== undefined && !isCount(retries))
    return `retries ${shown(retries)} is not a whole number from 0 on`;
  if (end !== undefined && !isMillis(end)) return `end ${shown(end)} is not an instant in ms since the epoch`;
  return undefined;
}

function ruleFault({ catchup, overlap }: Fields): string | undefined {
  if (catchup !== undefined && !CATCHUPS.some((one) => one === catchup))
    return `catchup ${shown(catchup)} is none of ${CATCHUPS.join(", ")}`;
  if (overlap !== undefined && !OVERLAPS.some((one) => one === overlap))
    return `overlap ${shown(overlap)} is none of ${OVERLAPS.join(", ")}`;
  return undefined;
}

function partFault({ command, env, leases, hooks, pause }: Fields): string | undefined {
  if (command !== undefined && !isArgv(command)) return `command ${shown(command)} is not a list of words`;
  if (env !== undefined && !(isFields(env) && Object.values(env).every(isText)))
    return `env ${shown(env)} is not an object of texts`;
  if (leases !== undefined && !isTexts(leases))
    return `leases ${shown(leases)} is not a list of texts such as db=2:10`;
  if (pause !== undefined && !isPause(pause)) return `pause ${shown(pause)} cannot be read`;
  if (hooks === undefined) return undefined;
  if (!isFields(hooks)) return `hooks ${shown(hooks)} is not an object`;
  const bad = Object.entries(hooks).find(([name, hook]) => !isHook(name, hook));
  return bad && `hook ${quoted(bad[0])} is none of ${HOOKS.join(", ")}, or is not a URL or a list of words`;
}

/** An address that a hook can call. Asked where hooks enter, not where they are read: a bad hook stops no schedule. */
export function isHookUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

function isHook(name: string, hook: unknown): boolean {
  return HOOKS.some((one) => one === name) && (isText(hook) || isArgv(hook));
}

function isPause(value: unknown): boolean {
  if (!isFields(value) || !isMillis(value.at)) return false;
  const { until, by, why } = value;
  return (
    (until === undefined || isMillis(until)) && [by, why].every((one) => one === undefined || isText(one))
  );
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isArgv = (value: unknown): boolean => isTexts(value) && (value as string[]).length > 0;

function shown(value: unknown): string {
  return isText(value) ? quoted(value) : quoted(JSON.stringify(value) ?? "nothing");
}

function messageOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof SignalboxError) return error.message;
    throw error;
  }
}
