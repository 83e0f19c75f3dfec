import type { WallTime } from "../../core/base/clock.ts";
import { type Calendars, NO_CALENDARS } from "../../schedule/calendar/calendar.ts";
import { findCalendarFault } from "../../schedule/calendar/day-rule.ts";
import { type Definition, getPause, isPaused } from "../../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../../schedule/definition-values.ts";
import type { DueState } from "../../schedule/state/due.ts";
import type { OccurrenceOutcome } from "../../schedule/state/outcome.ts";
import { createTiming, NEVER_DUE } from "../../schedule/timing.ts";
import { computePercentile } from "./statistics.ts";

/** What is stored of one schedule. */
export interface RecordedSchedule {
  id: string;
  definition: Definition;
  due?: DueState | undefined;
  calendars?: Calendars;
  /** Outcomes, newest first. */
  runs: readonly OccurrenceOutcome[];
}

/** A span of time: from `from`, and before `until`. */
export interface TimeSpan {
  from: WallTime;
  until: WallTime;
}

/** Units of a resource that each run of a schedule holds. */
interface ForecastLease {
  resource: string;
  count: number;
  /** The total that the schedule states. */
  total?: number;
}

/** The planned starts of one schedule, and what each run uses. Instants in ms since the epoch. */
export interface ScheduleForecast {
  id: string;
  definition: Definition;
  /** When its runs may start, in order: scheduled time, delay and jitter. */
  starts: readonly number[];
  /** How long a run usually takes, ms; undefined if no run is recorded. */
  usual: number | undefined;
  /** Leases with plain names and numbers. Those with macros differ between hosts, and are left out. */
  leases: readonly ForecastLease[];
  /** Locks that its command takes with `signalbox run --lock`. */
  locks: readonly string[];
  /** Whether it shares them. */
  isShared: boolean;
}

/** Largest number of starts of one schedule; later ones are left out. */
const MOST_STARTS = 2_000;

/** Computes when a schedule starts in a span, and what its runs use. A schedule without times has no starts. */
export function forecastSchedule(input: RecordedSchedule, span: TimeSpan): ScheduleForecast {
  const { id, definition } = input;
  return {
    id,
    definition,
    starts: listStarts(input, span),
    usual: computeUsualDuration(input),
    leases: listPlainLeases(definition),
    locks: findCommandLocks(definition.command ?? []),
    isShared: listRunOptions(definition.command ?? []).includes("--shared"),
  };
}

function listStarts(
  { id, definition, due, calendars }: RecordedSchedule,
  { from, until }: TimeSpan,
): number[] {
  const begin = isPaused(definition, due, from) ? (getPause(definition, due)?.until ?? Infinity) : from;
  const isUnknown = findCalendarFault(definition, calendars ?? NO_CALENDARS) !== undefined;
  const timing = isUnknown ? NEVER_DUE : createTiming(id, definition, calendars);
  const starts: number[] = [];
  if (begin >= until) return starts;
  const first = Math.max(due?.next ?? 0, begin - timing.lag);
  // When a run that has not started will end, nobody knows.
  let at = timing.wait === undefined ? timing.findFrom(first) : due?.next && first;
  while (at !== undefined && at + timing.lag < until && starts.length < MOST_STARTS) {
    starts.push(at + timing.lag);
    at = timing.findAfter(at);
  }
  return starts;
}

/** Returns the median duration of the recorded runs, ms. */
function computeUsualDuration({ runs, due }: RecordedSchedule): number | undefined {
  const started = runs.flatMap(({ startedAt, endedAt }) =>
    startedAt === undefined ? [] : [endedAt - startedAt],
  );
  const last = due?.last === undefined ? [] : [due.last.endedAt - due.last.startedAt];
  const durations = (started.length > 0 ? started : last).map((ms) => Math.max(0, ms));
  return computePercentile(
    durations.sort((a, b) => a - b),
    0.5,
  );
}

/** Lists the leases of a schedule that have plain names and numbers. */
export function listPlainLeases({ leases = [] }: Definition): ForecastLease[] {
  return leases.flatMap((text) => parsePlainLease(text) ?? []);
}

function parsePlainLease(text: string): ForecastLease | undefined {
  const {
    resource = "",
    count,
    total,
  } = /^(?<resource>[^=]+)=(?<count>\d+)(?::(?<total>\d+))?$/.exec(text)?.groups ?? {};
  if (count === undefined || /[A-Z]/.test(resource)) return undefined;
  return { resource, count: Number(count), ...(total !== undefined && { total: Number(total) }) };
}

/** Finds the values of `--lock` in a command that starts with `signalbox run`. */
export function findCommandLocks(command: readonly string[]): string[] {
  const words = listRunOptions(command);
  return words.flatMap((word, at) => {
    if (word.startsWith("--lock=")) return [word.slice("--lock=".length)];
    return word === "--lock" || word === "-l" ? (words[at + 1] ?? []) : [];
  });
}

/** Lists the words before `--` of a command that starts with `signalbox run`. */
function listRunOptions(command: readonly string[]): readonly string[] {
  const [program = "", verb] = command;
  if (!/(^|\/)signalbox$/.test(program) || verb !== "run") return [];
  const end = command.indexOf("--");
  return end < 0 ? command : command.slice(0, end);
}

/** Returns whether a schedule lets its next run wait while one is running, or replaces that. */
export function hasExclusiveRuns({ definition }: ScheduleForecast): boolean {
  return (definition.overlap ?? SCHEDULE_DEFAULTS.overlap) !== "allow";
}
