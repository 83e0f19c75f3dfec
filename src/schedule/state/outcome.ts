import type { Millis, WallTime } from "../../core/base/clock.ts";
import { isCount, isJsonObject, isUnits, parseObject } from "../../core/base/parse-json.ts";
import { MOST_KEPT, SCHEDULE_DEFAULTS } from "../definition-values.ts";
import { DEVIATIONS, type Deviation } from "../expectation.ts";
import { isMillis, isText } from "../json-fields.ts";

/** Maximum number of dead letters. They wait for an operator, so a definition cannot choose it. */
export const DEAD_LETTERS_LENGTH = 20;

/** Number of outcomes that keep the tail of their output: the newest one, and the newest one that is not `ok`. */
const MAX_KEPT_TAILS = 2;

/** Maximum lengths of texts from handlers, characters. */
const LONGEST_TAIL = 4_096;
/** Maximum length of the last line that dead letters without a tail keep, characters. */
const LONGEST_LAST_LINE = 200;
const LONGEST_REASON = 300;

/** Maximum size of what a handler returned, bytes of JSON, and number of outcomes that keep it. */
export const LARGEST_RESULT = 16_384;
const MAX_KEPT_RESULTS = 10;

export const OCCURRENCE_RESULTS = [
  "ok",
  "failed",
  "timeout",
  "retry",
  "released",
  "lost",
  "replaced",
  "canceled",
  "skipped",
] as const;

/**
 * Result of an occurrence. `ok`: it succeeded. `failed`: the command or handler failed. `timeout`: its timeout passed.
 * `retry`: the handler requested another start later. `released`: the occurrence was given back. `lost`: its worker had to
 * end it, or vanished. `replaced`: the next one was due. `canceled`: somebody canceled it, as the reason says. `skipped`: it was never started.
 */
export type OccurrenceResult = (typeof OCCURRENCE_RESULTS)[number];

/** Results that count as a failure. `retry` (the handler asks for another start), `replaced` and `canceled` do not. */
const FAILED_RESULTS: ReadonlySet<string> = new Set(["failed", "timeout", "lost"]);

export function isFailure(result: OccurrenceResult): boolean {
  return FAILED_RESULTS.has(result);
}

/** Outcome of one start of an occurrence, or of skipped occurrences. */
export interface OccurrenceOutcome {
  scheduled: WallTime;
  result: OccurrenceResult;
  endedAt: WallTime;
  /** Only for starts: id of the run, worker, host, attempt number, start, and delay in ms. */
  run?: string;
  worker?: string;
  host?: string;
  attempt?: number;
  startedAt?: WallTime;
  late?: Millis;
  /** Fencing token of the start. */
  token?: string;
  /** Units that it held, by resource, and how long it waited for them, ms. */
  leases?: Readonly<Record<string, number>>;
  waited?: Millis;
  /** Whether it took longer than expected, or has succeeded sooner. */
  deviation?: Deviation;
  /** Exit code of the command, or status of the response to a request. */
  code?: number;
  reason?: string;
  /** The `code` of the error that a handler threw, such as `ECONNREFUSED`; of a success, why its result is missing. */
  errorCode?: string;
  /** End of the output, sanitized; of a handler that threw an error, its stack. */
  tail?: string;
  /** What the handler returned, if the definition has `keepResult`. */
  value?: unknown;
  /** Only for dead letters: data and variables that the occurrence had beside those of the definition. */
  data?: unknown;
  env?: Readonly<Record<string, string>>;
  /** Only for skipped occurrences: their number and the last one; `scheduled` is the first. */
  count?: number;
  until?: WallTime;
}

/** Outcome history of a schedule, under `outcomes/<id>`. Both lists are newest first. */
export interface OutcomeHistory {
  /** The type of a job that was removed: its definition is gone. */
  type?: string;
  runs: readonly OccurrenceOutcome[];
  /** Dead letters: occurrences that were given up. */
  dead: readonly OccurrenceOutcome[];
}

/** Which outcomes a history keeps, as its definition says. */
export interface OutcomeLimits {
  /** How many. Default: 20. */
  keep?: number;
  /** None that ended so much earlier than the newest one, ms. Default: no limit. */
  keepFor?: Millis;
}

/** Limits what a definition keeps to an age. Undefined: no further limit. */
export function limitAge({ keep, keepFor = Infinity }: OutcomeLimits, age?: Millis): OutcomeLimits {
  return { ...(keep !== undefined && { keep }), keepFor: Math.min(keepFor, age ?? keepFor) };
}

/** The history of a schedule without an ended run. */
export const NO_OUTCOMES: OutcomeHistory = { runs: [], dead: [] };

/** Parses an outcome history. Drops entries that cannot be read. */
export function parseOutcomes(text: string | undefined): OutcomeHistory {
  const { runs, dead, type } = parseObject(text ?? "");
  return {
    ...(isText(type) && { type }),
    runs: filterOutcomes(runs, MOST_KEPT + 2),
    dead: filterOutcomes(dead, DEAD_LETTERS_LENGTH),
  };
}

/** Returns the value to store in etcd, for `parseOutcomes`. */
export function formatOutcomes({ type, runs, dead }: OutcomeHistory): string {
  return JSON.stringify({ v: 1, type, runs, dead: dead.length === 0 ? undefined : dead });
}

/**
 * Adds outcomes to a history.
 * @param added oldest first
 * @param limits what to keep of the outcomes. Dead letters have a limit of their own
 * @param dead an occurrence that was given up
 */
export function addOutcomes(
  before: OutcomeHistory,
  added: readonly OccurrenceOutcome[],
  limits: OutcomeLimits,
  dead?: OccurrenceOutcome,
): OutcomeHistory {
  const runs = limitRuns([...added.map(limitOutcome).toReversed(), ...before.runs], limits);
  const letters =
    dead === undefined ? before.dead : [limitOutcome(dead), ...before.dead].slice(0, DEAD_LETTERS_LENGTH);
  return { runs: limitTails(runs).map(limitValue), dead: limitTails(letters, keepLastLine) };
}

/**
 * Removes what the limits do not keep. The newest outcome stays, and so do the newest success and the newest failure: whether the
 * next failure is the first one depends on them, and a failure that was healed at night is still known in the morning.
 */
function limitRuns(
  runs: readonly OccurrenceOutcome[],
  { keep = SCHEDULE_DEFAULTS.keep, keepFor = Infinity }: OutcomeLimits,
): OccurrenceOutcome[] {
  const oldest = (runs[0]?.endedAt ?? 0) - keepFor;
  const [success, failure] = [
    runs.find(({ result }) => result === "ok"),
    runs.find(({ result }) => isFailure(result)),
  ];
  return runs.filter(
    (run, at) => at === 0 || run === success || run === failure || (at < keep && run.endedAt >= oldest),
  );
}

function isDecisive({ result }: OccurrenceOutcome): boolean {
  return result === "ok" || isFailure(result);
}

function limitOutcome(outcome: OccurrenceOutcome): OccurrenceOutcome {
  const { tail = "", reason = "" } = outcome;
  if (tail.length <= LONGEST_TAIL && reason.length <= LONGEST_REASON) return outcome;
  return {
    ...outcome,
    ...(tail !== "" && { tail: tail.slice(-LONGEST_TAIL).toWellFormed() }),
    ...(reason !== "" && { reason: reason.slice(0, LONGEST_REASON).toWellFormed() }),
  };
}

/**
 * Returns whether the newest result was a failure. Starts that neither succeeded nor failed do not count.
 * @param besides  the run that does not count
 */
export function isFailing({ runs }: OutcomeHistory, besides?: string): boolean {
  const last = runs.find((one) => (one.run === undefined || one.run !== besides) && isDecisive(one));
  return last !== undefined && last.result !== "ok";
}

/**
 * Shortens all tails but a few: they are the largest part of the value in etcd.
 * @param shorten  removes the tail, or a part of it
 */
function limitTails(
  runs: readonly OccurrenceOutcome[],
  shorten: typeof removeTail = removeTail,
): OccurrenceOutcome[] {
  const withTail = runs.filter(({ tail }) => tail !== undefined);
  const bad = withTail.filter(({ result }) => result !== "ok");
  const kept = new Set(
    [...withTail.slice(0, 1), ...bad.slice(0, 1), ...withTail.slice(1)].slice(0, MAX_KEPT_TAILS),
  );
  return runs.map((run) => (run.tail === undefined || kept.has(run) ? run : shorten(run)));
}

/** Removes what the handlers of older runs returned. @param at  0 is the newest run */
function limitValue(run: OccurrenceOutcome, at: WallTime): OccurrenceOutcome {
  if (run.value === undefined || at < MAX_KEPT_RESULTS) return run;
  const { value: _, ...rest } = run;
  return rest;
}

function removeTail({ tail: _, ...rest }: OccurrenceOutcome): OccurrenceOutcome {
  return rest;
}

/** Dead letters are told apart by what each printed last. */
function keepLastLine({ tail = "", ...rest }: OccurrenceOutcome): OccurrenceOutcome {
  const [last = ""] = tail.trimEnd().split("\n").slice(-1);
  return last === "" ? rest : { ...rest, tail: last.slice(0, LONGEST_LAST_LINE).toWellFormed() };
}

function filterOutcomes(value: unknown, most: number): OccurrenceOutcome[] {
  return Array.isArray(value) ? value.filter(isOutcome).slice(0, most) : [];
}

export function isOutcome(value: unknown): value is OccurrenceOutcome {
  if (!isJsonObject(value) || !OCCURRENCE_RESULTS.some((result) => result === value.result)) return false;
  if (!isMillis(value.scheduled) || !isMillis(value.endedAt)) return false;
  const { run, worker, host, token, reason, errorCode, tail, attempt, code, count } = value;
  const { startedAt, late, until, leases, waited, deviation } = value;
  return (
    areOptional(isText, [run, worker, host, token, reason, errorCode, tail]) &&
    areOptional(isCount, [attempt, code, count]) &&
    areOptional(isMillis, [startedAt, late, until, waited]) &&
    (leases === undefined || isUnits(leases)) &&
    (deviation === undefined || DEVIATIONS.some((one) => one === deviation))
  );
}

/** Returns whether those of the fields that are there are valid. */
function areOptional(isValid: (field: unknown) => boolean, fields: readonly unknown[]): boolean {
  for (const field of fields) if (field !== undefined && !isValid(field)) return false;
  return true;
}
