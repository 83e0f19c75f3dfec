import { formatDuration, parseDuration } from "../core/base/duration.ts";
import { type ParseResult, quoteText } from "../core/base/text.ts";

/** How long a run should take, ms. A missing bound limits nothing. */
interface Expectation {
  least?: number;
  most?: number;
}

export const DEVIATIONS = ["overrun", "too-short"] as const;
/** How a run deviates from what was expected: it takes longer, or has succeeded sooner. */
export type Deviation = (typeof DEVIATIONS)[number];

// Definitions and states are not imported: they use what is here.

/** The part of a definition that says how long a run should take. */
interface Expecting {
  expect?: string;
}

/** The part of a state that says how long a success usually takes, ms. */
interface Usual {
  usual?: number;
}

/** The part of an outcome that says how long it took. Instants in ms since the epoch. */
interface Timed {
  result: string;
  startedAt?: number;
  endedAt: number;
}

/** An upper bound that follows from the runs before. */
const AUTO_BOUND = "auto";
/** Number of outcomes that `auto` looks at, and how many of them must be successes. */
const MAX_EXAMINED_OUTCOMES = 20;
const MIN_SUCCESSES = 5;
/** A run takes at most this many times the usual duration, and `auto` expects no less than this, ms. */
const USUAL_DURATION_FACTOR = 2;
const SHORTEST_BOUND = 10_000;

/** Finds what prevents an expectation from having an effect. @param keep  number of outcomes that are kept */
export function findExpectationNote(
  expect: string | undefined,
  keep = MAX_EXAMINED_OUTCOMES,
): string | undefined {
  if (expect !== AUTO_BOUND || keep >= MIN_SUCCESSES) return undefined;
  return `"expect" ${AUTO_BOUND} needs ${MIN_SUCCESSES} successes, but only ${keep} outcomes are kept: it has no effect; set "keep" to ${MIN_SUCCESSES} or more`;
}

/** Parses `5s..20m`, `5s..`, `..20m`, or `auto`, which has no bounds of its own. */
function parseExpectation(text: string): ParseResult<Expectation> {
  if (text === AUTO_BOUND) return { value: {} };
  const [, from = "", to = ""] = /^(.*?)\.\.(.*)$/s.exec(text) ?? [];
  if (from === "" && to === "")
    return {
      fault: `${quoteText(text)} does not say how long a run takes; write 5s..20m, 5s.. (at least), ..20m (at most), or ${AUTO_BOUND}`,
    };
  const least = parseDuration(from === "" ? "0" : from);
  const most = to === "" ? { value: Infinity } : parseDuration(to);
  if ("fault" in least) return least;
  if ("fault" in most) return most;
  if (least.value >= most.value)
    return { fault: `${quoteText(text)} must begin with the shorter duration, such as 5s..20m` };
  return { value: { ...(from !== "" && { least: least.value }), ...(to !== "" && { most: most.value }) } };
}

/** Returns what is wrong with the text of an expectation; undefined if nothing is. */
export function findExpectationFault(text: string): string | undefined {
  const parsed = parseExpectation(text);
  return "fault" in parsed ? parsed.fault : undefined;
}

/** Returns how long a run of a schedule should take. @param due  the state of the schedule; of the host, if each has one */
export function getExpectation({ expect }: Expecting, due: Usual | undefined): Expectation {
  if (expect === undefined) return {};
  if (expect !== AUTO_BOUND) {
    const parsed = parseExpectation(expect);
    return "value" in parsed ? parsed.value : {};
  }
  return due?.usual === undefined
    ? {}
    : { most: Math.max(SHORTEST_BOUND, USUAL_DURATION_FACTOR * due.usual) };
}

/** Formats it for people: `5s to 20m`; undefined without bounds. */
export function formatExpectation({ least, most }: Expectation): string | undefined {
  if (most === undefined) return least === undefined ? undefined : `at least ${formatDuration(least)}`;
  return least === undefined
    ? `at most ${formatDuration(most)}`
    : `${formatDuration(least)} to ${formatDuration(most)}`;
}

/** Judges a run that has ended. Only a success can be too short. @param took  ms */
export function findDeviation(
  { least = 0, most = Infinity }: Expectation,
  result: string,
  took: number,
): Deviation | undefined {
  if (took > most) return "overrun";
  return result === "ok" && took < least ? "too-short" : undefined;
}

/** Writes the usual duration into the state of a schedule, if its expectation depends on it. @param runs  newest first */
export function updateUsual<State extends Usual>(
  { expect }: Expecting,
  due: State,
  runs: readonly Timed[],
): State {
  if (expect !== AUTO_BOUND && due.usual === undefined) return due;
  const usual = expect === AUTO_BOUND ? computeUsual(runs) : undefined;
  const { usual: _, ...rest } = due;
  return { ...rest, ...(usual !== undefined && { usual }) } as State;
}

/** Returns the median duration of the last successes, ms; undefined if there are too few. */
function computeUsual(runs: readonly Timed[]): number | undefined {
  const durations = runs
    .slice(0, MAX_EXAMINED_OUTCOMES)
    .flatMap(({ result, startedAt, endedAt }) =>
      result === "ok" && startedAt !== undefined ? [Math.max(0, endedAt - startedAt)] : [],
    )
    .sort((a, b) => a - b);
  return durations.length < MIN_SUCCESSES ? undefined : durations[Math.floor((durations.length - 1) / 2)];
}
