// Values of fields of a definition, and of jobs, which are schedules that are due once.

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

export const CHAIN_CONDITIONS = ["success", "failure", "end"] as const;
/**
 * Which end of a preceding schedule's occurrence counts for a chain. `success`: it succeeded. `failure`: it was given up.
 * `end`: either.
 */
export type ChainCondition = (typeof CHAIN_CONDITIONS)[number];

/** Value of `on` of a schedule that runs on every host. Versions that do not know it refuse the definition, and run nothing. */
export const EVERY_HOST = "every-host";

/** Rules by which one of the hosts starts an occurrence. Without one, each schedule has an order of hosts of its own. */
export const PLACES = ["least-loaded"] as const;

/** Where an import lets lines run: each on every host, or on one; without either, lines that maintain their host run on every one. */
export const IMPORT_HOSTS = [EVERY_HOST, "one-host"] as const;

export const REMOVAL_CONDITIONS = ["success", "end"] as const;
/**
 * After which end of its last occurrence a schedule is removed by itself. `success`: it succeeded. `end`: it succeeded, or was
 * given up.
 */
export type RemovalCondition = (typeof REMOVAL_CONDITIONS)[number];

export const JOB_CONFLICT_RULES = ["keep", "replaceDead", "update", "replace"] as const;
/**
 * What happens if there is a job with the same key. `keep`: it stays as it is. `replaceDead`: it stays, unless it was given up; then it
 * is replaced, with its dead letter. `update`: it is replaced, but keeps its time while it waits. `replace`: it is replaced; with
 * `delay`, each call moves it (debounce). If it runs, the new one runs after it.
 */
export type JobConflictRule = (typeof JOB_CONFLICT_RULES)[number];

export const JOB_STATES = [
  "delayed",
  "waiting",
  "running",
  "retrying",
  "paused",
  "dead",
  "succeeded",
  "canceled",
] as const;
/**
 * What a job waits for, or how it has ended. `paused`: an operator has paused it. `dead`: it was given up after its retries. `succeeded`
 * and `canceled`: it was removed, and its outcome is kept.
 */
export type JobState = (typeof JOB_STATES)[number];

/** Priorities are whole numbers from minus this to this. */
export const MAX_PRIORITY = 100;

export const HOOK_NAMES = [
  "start",
  "success",
  "failure",
  "failed-first",
  "recovered",
  "dead",
  "late",
  "missed",
  "overrun",
  "too-short",
] as const;
/**
 * Events that call a hook: a start, its success or failure, the first failure after a success, the first success after a
 * failure, an occurrence that is given up, a late start, a skipped occurrence, and a run that takes longer than expected, or
 * has succeeded sooner.
 */
export type HookName = (typeof HOOK_NAMES)[number];

/** An address, as in `parseHookAddress`, or a command as argv. */
export type Hook = string | readonly string[];

/** The hooks of schedules that a worker calls: none, those with an address, or also commands. */
export const HOOK_PERMISSIONS = ["none", "addresses", "all"] as const;
export type HookPermission = (typeof HOOK_PERMISSIONS)[number];

/** Returns whether a worker calls a hook of a schedule. An address of mail is one, though a program sends it. */
export function isHookPermitted(hook: Hook, permission: HookPermission): boolean {
  return permission === "all" || (permission === "addresses" && typeof hook === "string");
}

/** Highest number of outcomes that a definition may keep. */
export const MOST_KEPT = 100;

/** Defaults for fields that a definition does not set. Milliseconds. */
export const SCHEDULE_DEFAULTS = {
  timezone: "UTC",
  catchup: "latest",
  overlap: "forbid",
  on: "success",
  delay: 0,
  jitter: 0,
  retries: 0,
  backoff: 30_000,
  /** Outcomes in the history. */
  keep: 20,
  /** Default deadline of `catchup: none`. */
  missedAfter: 60_000,
} as const;

/** How often a job is started again after a failure, unless its caller says so. */
export const JOB_RETRIES = 3;

/** Services whose messages signalbox can write. `FORMAT+URL` is the address of one. */
const HOOK_FORMATS = ["slack", "teams", "ntfy", "pagerduty", "ping"] as const;
export type HookFormat = (typeof HOOK_FORMATS)[number];

/** Where a hook sends its message. `json`: the JSON document of hooks. The URL may contain `{event}`. */
type HookAddress =
  | { format: "json" | HookFormat; url: string }
  | { format: "mail"; recipients: readonly string[] };

/** How an address is written, for messages. */
export const HOOK_ADDRESS_FORM = `https://…, ${HOOK_FORMATS.map((one) => `${one}+https://…`).join(", ")} or mailto:ADDRESS`;

/** Returns whether a hook is meant as an address, also one that is not possible, and not as a command line. */
export function resemblesHookAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/|^mailto:/i.test(text);
}

/**
 * Parses the address of a hook: an http or https URL, `FORMAT+URL`, or `mailto:` with addresses separated by commas. Call
 * this when a hook is entered or called, not when a definition is read: an invalid hook must not stop a schedule.
 * @returns undefined if it is none
 */
export function parseHookAddress(text: string): HookAddress | undefined {
  const [, list] = /^mailto:(.*)$/is.exec(text) ?? [];
  if (list !== undefined) return parseRecipients(list);
  const [, name, url = ""] = /^(?:([a-z]+)\+)?(https?:\/\/.*)$/is.exec(text) ?? [];
  const format = name === undefined ? "json" : HOOK_FORMATS.find((one) => one === name.toLowerCase());
  return format !== undefined && URL.canParse(url) ? { format, url } : undefined;
}

function parseRecipients(list: string): HookAddress | undefined {
  const recipients = list.split(",");
  return recipients.every((one) => /^[^\s,<>"\\?&%-][^\s,<>"\\?&%]*$/.test(one))
    ? { format: "mail", recipients }
    : undefined;
}
