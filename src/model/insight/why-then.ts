import { formatInstant } from "../../base/duration.ts";
import type { AuditRecord } from "../../protocol/audit.ts";
import { hasEnded } from "../../protocol/drain.ts";
import { HISTORY_LENGTH } from "../../protocol/history.ts";
import { type Calendars, NO_CALENDARS } from "../../schedule/calendar/calendar.ts";
import { findCalendarFault } from "../../schedule/calendar/day-rule.ts";
import type { Definition } from "../../schedule/definition.ts";
import type { DueState } from "../../schedule/state/due.ts";
import type { OccurrenceOutcome } from "../../schedule/state/outcome.ts";
import { createTiming } from "../../schedule/timing.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** A reason, or a fact that helps to find it. Instants in ms since the epoch. */
export interface PastReason {
  kind: "plan" | "outcome" | "running" | "pause" | "drain" | "action" | "run" | "unknown";
  at: number;
  /** A sentence. Not cleaned. */
  text: string;
}

/** What is stored of one schedule. */
export interface PastSchedule {
  id: string;
  definition: Definition;
  due?: DueState | undefined;
  /** All calendars. */
  calendars?: Calendars;
  /** Outcomes, newest first. */
  runs: readonly OccurrenceOutcome[];
}

/** Actions of operators and drains. */
type OperatorRecords = Pick<Snapshot, "audit" | "drains">;

/** How long before the time actions of operators are listed, ms. */
const ACTIONS_BEFORE = 3_600_000;

/**
 * Explains why a schedule did not run, or how it ran, at a time: by its plan, its outcomes, the run before, a pause,
 * drains and actions of operators. The plan is that of now: an edit after the time is among the actions.
 */
export function explainScheduleAt(
  schedule: PastSchedule,
  at: number,
  records: OperatorRecords,
): PastReason[] {
  const { id, definition, runs, calendars = NO_CALENDARS } = schedule;
  const isUnknown = findCalendarFault(definition, calendars) !== undefined;
  const planned = isUnknown ? undefined : createTiming(id, definition, calendars).findUntil(at);
  const outcomes = planned === undefined ? [] : runs.filter((run) => isOutcomeOf(run, planned));
  const isKnown = outcomes.length > 0;
  return [
    explainPlan(schedule, planned, at),
    ...outcomes.toReversed().map(explainOutcome),
    ...(isKnown ? [] : explainMissing(schedule, planned)),
    ...listRunning(runs, at),
    ...explainPause(definition, at),
    ...listDrainsAt(records, at, ["all"]),
    ...listActions(records, at, (target) => target.startsWith("schedule") && hasWord(target, id)),
  ];
}

function isOutcomeOf({ scheduled, until = scheduled }: OccurrenceOutcome, planned: number): boolean {
  return scheduled <= planned && planned <= until;
}

function explainPlan({ id, definition }: PastSchedule, planned: number | undefined, at: number): PastReason {
  const text =
    planned === undefined
      ? `its plan ${definition.cron} has no occurrence until ${formatInstant(at)}`
      : `its plan ${definition.cron} has its last occurrence until then at ${formatInstant(planned)}`;
  return { kind: "plan", at: planned ?? at, text: `schedule ${id}: ${text}` };
}

function explainOutcome({ result, startedAt, endedAt, reason, code, host }: OccurrenceOutcome): PastReason {
  const why = [code === undefined ? "" : `code ${code}`, reason, host && `on ${host}`]
    .filter(Boolean)
    .join(", ");
  const when = startedAt === undefined ? "it was not started" : `it started ${formatInstant(startedAt)}`;
  const text = `${when}; ${result}${why === "" ? "" : ` (${why})`} at ${formatInstant(endedAt)}`;
  return { kind: "outcome", at: startedAt ?? endedAt, text };
}

/** Explains an occurrence without an outcome: still open, due later, or no longer in the history. */
function explainMissing({ due, runs }: PastSchedule, planned: number | undefined): PastReason[] {
  if (planned === undefined) return [];
  if (due?.open.some(({ scheduled }) => scheduled === planned))
    return [
      {
        kind: "outcome",
        at: planned,
        text: "this occurrence is not finished: it runs, or waits for a retry",
      },
    ];
  if (due?.next !== undefined && due.next <= planned)
    return [
      { kind: "outcome", at: planned, text: "this occurrence was not started yet: no worker has claimed it" },
    ];
  const oldest = runs.at(-1);
  const reach =
    oldest === undefined ? "its history is empty" : `its history begins ${formatInstant(oldest.endedAt)}`;
  const text = `no outcome of this occurrence is stored; ${reach}`;
  return [{ kind: "unknown", at: planned, text }];
}

/** Lists the runs that were running at a time: they delay the next one, unless overlaps are allowed. */
function listRunning(runs: readonly OccurrenceOutcome[], at: number): PastReason[] {
  return runs.flatMap(({ scheduled, startedAt, endedAt }): PastReason[] => {
    if (startedAt === undefined || startedAt > at || endedAt <= at) return [];
    const text = `the run of ${formatInstant(scheduled)} was running, until ${formatInstant(endedAt)}`;
    return [{ kind: "running", at: startedAt, text }];
  });
}

function explainPause({ pause }: Definition, at: number): PastReason[] {
  if (pause === undefined || pause.at > at || (pause.until !== undefined && pause.until <= at)) return [];
  return [
    { kind: "pause", at: pause.at, text: `it was paused by ${pause.by} at ${formatInstant(pause.at)}` },
  ];
}

/** Explains who held a lock at a time, and who waited. */
export function explainLockAt(
  lock: string,
  at: number,
  snapshot: OperatorRecords & Pick<Snapshot, "histories">,
): PastReason[] {
  const runs = snapshot.histories.get(lock) ?? [];
  const held = runs.flatMap(({ enqueuedAt, grantedAt, endedAt, host, pid, exit }): PastReason[] => {
    if (enqueuedAt > at || endedAt <= at) return [];
    const did =
      grantedAt <= at
        ? `held it from ${formatInstant(grantedAt)}`
        : `waited; it got it ${formatInstant(grantedAt)}`;
    const text = `${host}:${pid} ${did} until ${formatInstant(endedAt)}, exit code ${exit}`;
    return [{ kind: "run", at: enqueuedAt, text: `lock ${lock}: ${text}` }];
  });
  const start = runs[HISTORY_LENGTH - 1]?.endedAt;
  const none: PastReason = { kind: "unknown", at, text: `lock ${lock}: no run of this time is stored` };
  const isLost = start !== undefined && start > at;
  const gap: PastReason = { kind: "unknown", at, text: `its history begins ${formatInstant(start ?? at)}` };
  return [
    ...(held.length === 0 ? [none] : held),
    ...(isLost ? [gap] : []),
    ...listDrainsAt(snapshot, at, ["all", `lock ${lock}`]),
    ...listActions(snapshot, at, (target) => target === `lock ${lock}`),
  ];
}

/** Lists drains that were active at a time: stored ones, and those that the audit says were set before and lifted after. */
function listDrainsAt(
  { audit, drains }: OperatorRecords,
  at: number,
  targets: readonly string[],
): PastReason[] {
  const stored = [...drains.values()].filter(
    (drain) =>
      targets.includes(drain.scope === "all" ? "all" : `${drain.scope} ${drain.name}`) &&
      drain.at <= at &&
      !hasEnded(drain, at),
  );
  const lifted = targets.flatMap((target) => findLiftedDrain([...audit.values()], target, at) ?? []);
  return [
    ...stored.map(
      ({ by, at: since }): PastReason => ({ kind: "drain", at: since, text: `a drain of ${by} was active` }),
    ),
    ...lifted.map(({ user, host, at: since, target }): PastReason => {
      return {
        kind: "drain",
        at: since,
        text: `a drain of ${target} by ${user}@${host} was active; it was lifted later`,
      };
    }),
  ];
}

function findLiftedDrain(audit: readonly AuditRecord[], target: string, at: number): AuditRecord | undefined {
  const own = audit.filter(
    (one) => one.target === target && (one.action === "drain" || one.action === "undrain"),
  );
  const before = own.filter((one) => one.at <= at).sort((a, b) => b.at - a.at)[0];
  const isLifted = own.some((one) => one.action === "undrain" && one.at > at);
  return before?.action === "drain" && isLifted ? before : undefined;
}

function listActions(
  { audit }: OperatorRecords,
  at: number,
  isOwn: (target: string) => boolean,
): PastReason[] {
  return [...audit.values()]
    .filter((one) => isOwn(one.target) && one.at >= at - ACTIONS_BEFORE)
    .sort((a, b) => a.at - b.at)
    .map(({ at: then, action, target, user, host, outcome }) => {
      const text = `${formatInstant(then)}: ${action} of ${target} by ${user}@${host}: ${outcome}`;
      return { kind: "action", at: then, text };
    });
}

function hasWord(text: string, word: string): boolean {
  return text.split(/[ ,]+/).includes(word);
}
