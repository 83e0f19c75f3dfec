import type { WallTime } from "../../core/base/clock.ts";
import { type Definition, isPaused } from "../../schedule/definition.ts";
import type { DueState, OpenOccurrence } from "../../schedule/state/due.ts";
import { listStates, type ShownDue } from "../../schedule/state/host-states.ts";
import { THRESHOLDS } from "./problem.ts";
import type { Execution } from "./snapshot.ts";

/** What was due of a schedule and has not run since: skipped occurrences, or one whose leases are not granted. */
export interface MissedRuns {
  /** The host, if the schedule runs on every host. */
  host: string | undefined;
  /** When the first one was due. */
  since: WallTime;
  count: number;
  /** The rest of a sentence: `were skipped: load 0.5 < 0.1 does not hold`. */
  why: string;
  /** When they begin and cease to count. */
  from: WallTime;
  until: WallTime;
}

/** A start that goes on for longer has its leases: it waits for them for a minute, ms. */
const LEASE_WAIT_MS = 120_000;

/** A schedule, as listings and checks know it. */
interface DueSchedule {
  definition: Definition | undefined;
  due: ShownDue | undefined;
  executions: readonly Execution[];
}

/**
 * Finds what a schedule owes: what was due longer ago than a late run may be, or will never run any more. A pause, and a day that
 * calendars exclude, owe nothing. This decides for listings, problems and checks whether a schedule that seems to wait is healthy.
 */
export function findMissedRuns(schedule: DueSchedule, wall: WallTime): MissedRuns[] {
  return listMissedRuns(schedule, wall).filter(({ from, until }) => from <= wall && wall < until);
}

/** Lists the instants at which `findMissedRuns` changes without a change in etcd. */
export function listMissedTimes(schedule: DueSchedule, wall: WallTime): number[] {
  return listMissedRuns(schedule, wall).flatMap(({ from, until }) => [from, until]);
}

function listMissedRuns({ definition, due, executions }: DueSchedule, wall: WallTime): MissedRuns[] {
  if (definition === undefined || isPaused(definition, due, wall)) return [];
  return listStates(due).flatMap(([host, state]) => {
    const own = executions.filter(({ value }) => host === undefined || value?.host === host);
    return [...toSkipped(state, own, host), ...state.open.flatMap((open) => toRefused(open, own, host))];
  });
}

function toSkipped(
  { skipped, next, open }: DueState,
  executions: readonly Execution[],
  host: string | undefined,
): MissedRuns[] {
  if (skipped === undefined) return [];
  const { since, count, reason = "it was too late to start" } = skipped;
  const isOver = next === undefined && open.length === 0 && executions.length === 0;
  const from = isOver ? since : since + THRESHOLDS.late;
  return [
    { host, since, count, why: `${count === 1 ? "was" : "were"} skipped: ${reason}`, from, until: Infinity },
  ];
}

/** Converts an occurrence whose starts are given back because its leases are not granted. */
function toRefused(
  { scheduled, refusedSince: since }: OpenOccurrence,
  executions: readonly Execution[],
  host: string | undefined,
): MissedRuns[] {
  if (since === undefined) return [];
  const running = executions.find(({ value }) => value?.scheduled === scheduled)?.value;
  const until = running === undefined ? Infinity : running.since + LEASE_WAIT_MS;
  const why = "cannot begin: its leases are not free";
  return [{ host, since, count: 1, why, from: since + THRESHOLDS.late, until }];
}
