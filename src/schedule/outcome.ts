import { type Fields, fieldsOf, isCount, isFields, isMillis, isText } from "./fields.ts";

/** Occurrences that a schedule remembers, and dead letters that it keeps. */
export const OUTCOMES_LENGTH = 20;
/** Outcomes that keep the tail of their output: the newest, and the newest that was not well. */
const TAILS = 2;
/** Of what handlers say, so many characters are kept. */
const LONGEST_TAIL = 1_024;
const LONGEST_REASON = 300;

/**
 * How an occurrence came out. `retry`: the handler asked for another start later. `released`: it was given back.
 * `lost`: its worker had to end it, or vanished. `replaced`: the next one was due. `skipped`: it was never started.
 */
export const RESULTS = [
  "ok",
  "failed",
  "timeout",
  "retry",
  "released",
  "lost",
  "replaced",
  "skipped",
] as const;
export type Result = (typeof RESULTS)[number];

/** One start of an occurrence and how it ended, or occurrences that were skipped. Instants in ms since the epoch. */
export interface Outcome {
  scheduled: number;
  result: Result;
  endedAt: number;
  /** Of what was started: the run's id, where, for the how-manieth time, when, and how late in ms. */
  run?: string;
  worker?: string;
  host?: string;
  attempt?: number;
  startedAt?: number;
  late?: number;
  /** The fencing token that it had. */
  token?: string;
  /** The command's exit code. */
  code?: number;
  reason?: string;
  /** The end of its output, made harmless. */
  tail?: string;
  /** Of what was skipped: how many, the last of them; `scheduled` is the first. */
  count?: number;
  until?: number;
}

/** What a schedule remembers, under `outcomes/<id>`: both newest first. */
export interface Outcomes {
  runs: readonly Outcome[];
  /** Dead letters: occurrences that were given up. */
  dead: readonly Outcome[];
}

export const NO_OUTCOMES: Outcomes = { runs: [], dead: [] };

/** What a schedule remembers; what cannot be read of it is dropped. */
export function parseOutcomes(text: string | undefined): Outcomes {
  const fields: Fields = (text === undefined ? undefined : fieldsOf(text)) ?? {};
  return { runs: outcomesIn(fields.runs), dead: outcomesIn(fields.dead) };
}

/** The value to keep in etcd, as `parseOutcomes` reads it. */
export function outcomesText({ runs, dead }: Outcomes): string {
  return JSON.stringify({ v: 1, runs, dead: dead.length === 0 ? undefined : dead });
}

/**
 * A schedule's memory with more outcomes.
 * @param added  oldest first
 * @param dead   one that was given up
 */
export function remembered(before: Outcomes, added: readonly Outcome[], dead?: Outcome): Outcomes {
  const runs = [...added.map(bounded).toReversed(), ...before.runs].slice(0, OUTCOMES_LENGTH);
  const letters =
    dead === undefined ? before.dead : [bounded(dead), ...before.dead].slice(0, OUTCOMES_LENGTH);
  return { runs: withFewTails(runs), dead: withFewTails(letters) };
}

function bounded(outcome: Outcome): Outcome {
  const { tail = "", reason = "" } = outcome;
  if (tail.length <= LONGEST_TAIL && reason.length <= LONGEST_REASON) return outcome;
  return {
    ...outcome,
    ...(tail !== "" && { tail: tail.slice(-LONGEST_TAIL).toWellFormed() }),
    ...(reason !== "" && { reason: reason.slice(0, LONGEST_REASON).toWellFormed() }),
  };
}

/** Tails are what weighs in etcd. */
function withFewTails(runs: readonly Outcome[]): Outcome[] {
  const withTail = runs.filter(({ tail }) => tail !== undefined);
  const bad = withTail.filter(({ result }) => result !== "ok");
  const kept = new Set([...withTail.slice(0, 1), ...bad.slice(0, 1), ...withTail.slice(1)].slice(0, TAILS));
  return runs.map((run) => (run.tail === undefined || kept.has(run) ? run : withoutTail(run)));
}

function withoutTail({ tail: _, ...rest }: Outcome): Outcome {
  return rest;
}

function outcomesIn(value: unknown): Outcome[] {
  return Array.isArray(value) ? value.filter(isOutcome).slice(0, OUTCOMES_LENGTH) : [];
}

function isOutcome(value: unknown): value is Outcome {
  if (!isFields(value) || !RESULTS.some((result) => result === value.result)) return false;
  if (!isMillis(value.scheduled) || !isMillis(value.endedAt)) return false;
  const maybe = (is: (field: unknown) => boolean, ...fields: unknown[]) =>
    fields.every((field) => field === undefined || is(field));
  const { run, worker, host, token, reason, tail, attempt, code, count, startedAt, late, until } = value;
  return (
    maybe(isText, run, worker, host, token, reason, tail) &&
    maybe(isCount, attempt, code, count) &&
    maybe(isMillis, startedAt, late, until)
  );
}
