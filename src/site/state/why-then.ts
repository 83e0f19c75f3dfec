import { formatInstant, type WallTime } from "../../core/base/clock.ts";
import { collectTexts } from "../../core/base/text.ts";
import { listHostGroups } from "../../core/fleet/groups.ts";
import { type DrainTarget, formatAuditTarget, isSameTarget } from "../../core/protocol/drain.ts";
import { HISTORY_LENGTH } from "../../core/protocol/history.ts";
import { DRAIN_ALL } from "../../core/protocol/keys.ts";
import { NO_CALENDARS } from "../../schedule/calendar/calendar.ts";
import { findCalendarFault } from "../../schedule/calendar/day-rule.ts";
import { formatConditions, getPause, type Pause } from "../../schedule/definition.ts";
import { formatCronText } from "../../schedule/plan.ts";
import type { OccurrenceOutcome } from "../../schedule/state/outcome.ts";
import { createTiming } from "../../schedule/timing.ts";
import { findCommandLocks, listPlainLeases, type RecordedSchedule } from "./forecast.ts";
import { listPastDrains, type PastDrain } from "./past-drains.ts";
import { buildGroupMembers, type Snapshot } from "./snapshot.ts";

/** A reason, or a fact that helps to find it. */
export interface PastReason {
  kind: "plan" | "outcome" | "running" | "pause" | "drain" | "action" | "run" | "unknown";
  at: WallTime;
  /** A sentence. Not cleaned. */
  text: string;
}

/** Actions of operators, drains, and the groups that drains can name. */
type OperatorRecords = Pick<Snapshot, "audit" | "drains" | "groups">;

/** A target of drains, and why a drain of it stops the object; empty if that is obvious. */
interface StoppingTarget extends DrainTarget {
  because: string;
}

const DRAIN_OF_ALL: StoppingTarget = { scope: "all", name: DRAIN_ALL, because: "" };

/** How long before the time actions of operators are listed, ms. */
const ACTIONS_BEFORE = 3_600_000;

/**
 * Explains why a schedule did not run, or how it ran, at a time: by its plan, its outcomes, the run before, a pause,
 * drains and actions of operators. The plan is that of now: an edit after the time is among the actions.
 */
export function explainScheduleAt(
  schedule: RecordedSchedule,
  at: WallTime,
  records: OperatorRecords,
): PastReason[] {
  const { id, definition, runs, calendars = NO_CALENDARS } = schedule;
  const planned = findLastExpected({ id, definition, calendars }, at);
  const outcomes =
    planned === undefined
      ? []
      : runs.filter(({ scheduled, until = scheduled }) => scheduled <= planned && planned <= until);
  const isKnown = outcomes.length > 0;
  return [
    explainPlan(schedule, planned, at),
    ...outcomes.toReversed().map(explainOutcome),
    ...(isKnown ? [] : explainMissing(schedule, planned, at)),
    ...listRunning(runs, at),
    ...explainPause(getPause(definition, schedule.due), at),
    ...listDrainsAt(records, at, listScheduleTargets(schedule, records)),
    ...listActions(
      records,
      at,
      (target) => target.startsWith("schedule") && target.split(/[ ,]+/).includes(id),
    ),
  ];
}

/** Kinds of reasons, the ones that decide first. */
const DECISIVE_KINDS: readonly PastReason["kind"][] = [
  "outcome",
  "run",
  "pause",
  "drain",
  "running",
  "action",
  "unknown",
  "plan",
];

/** Returns the reason that explains most: the answer in one sentence. The others are its evidence. */
export function findMainReason(reasons: readonly PastReason[]): PastReason | undefined {
  return DECISIVE_KINDS.flatMap((kind) => reasons.find((one) => one.kind === kind) ?? [])[0];
}

/** Returns when a schedule last should have started; undefined if it never should. */
export function findLastExpected(
  { id, definition, calendars = NO_CALENDARS }: Omit<RecordedSchedule, "runs" | "due">,
  now: WallTime,
): number | undefined {
  if (findCalendarFault(definition, calendars) !== undefined) return undefined;
  return createTiming(id, definition, calendars).findUntil(now);
}

function explainPlan(
  { id, definition }: RecordedSchedule,
  planned: WallTime | undefined,
  at: WallTime,
): PastReason {
  const text =
    planned === undefined
      ? `its plan ${formatCronText(definition.cron)} has no occurrence until ${formatInstant(at)}`
      : `its plan ${formatCronText(definition.cron)} has its last occurrence until then at ${formatInstant(planned)}`;
  return { kind: "plan", at: planned ?? at, text: `schedule ${id}: ${text}` };
}

function explainOutcome({ result, startedAt, endedAt, reason, code, host }: OccurrenceOutcome): PastReason {
  const why = [reason ?? (code === undefined ? "" : `code ${code}`), host && `on ${host}`]
    .filter(Boolean)
    .join(", ");
  const when = startedAt === undefined ? "it was not started" : `it started ${formatInstant(startedAt)}`;
  const text = `${when}; ${result}${why === "" ? "" : ` (${why})`} at ${formatInstant(endedAt)}`;
  return { kind: "outcome", at: startedAt ?? endedAt, text };
}

/** Explains an occurrence without an outcome: still open, due later, or no longer in the history. */
function explainMissing(
  { definition, due, runs }: RecordedSchedule,
  planned: WallTime | undefined,
  at: WallTime,
): PastReason[] {
  if (planned === undefined) return [];
  if (due?.open.some(({ scheduled }) => scheduled === planned))
    return [
      {
        kind: "outcome",
        at: planned,
        text: "this occurrence is not finished: it runs, or waits for a retry",
      },
    ];
  if (due?.next !== undefined && due.next <= planned) {
    const needs = formatConditions(definition);
    const why = due.runAt > at ? `it may start from ${formatInstant(due.runAt)}` : "no worker has claimed it";
    const text = `this occurrence was not started yet: ${why}`;
    return [{ kind: "outcome", at: planned, text: needs === undefined ? text : `${text}; ${needs}` }];
  }
  const oldest = runs.at(-1);
  const reach =
    oldest === undefined ? "its history is empty" : `its history begins ${formatInstant(oldest.endedAt)}`;
  const text = `no outcome of this occurrence is stored; ${reach}`;
  return [{ kind: "unknown", at: planned, text }];
}

/** Lists the runs that were running at a time: they delay the next one, unless overlaps are allowed. */
function listRunning(runs: readonly OccurrenceOutcome[], at: WallTime): PastReason[] {
  return runs.flatMap(({ scheduled, startedAt, endedAt }): PastReason[] => {
    if (startedAt === undefined || startedAt > at || endedAt <= at) return [];
    const text = `the run of ${formatInstant(scheduled)} was running, until ${formatInstant(endedAt)}`;
    return [{ kind: "running", at: startedAt, text }];
  });
}

function explainPause(pause: Pause | undefined, at: WallTime): PastReason[] {
  if (pause === undefined || pause.at > at || (pause.until !== undefined && pause.until <= at)) return [];
  return [
    { kind: "pause", at: pause.at, text: `it was paused by ${pause.by} at ${formatInstant(pause.at)}` },
  ];
}

/** Explains who held a lock at a time, and who waited. */
export function explainLockAt(
  lock: string,
  at: WallTime,
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
  const before = runs.find(({ endedAt }) => endedAt <= at);
  const after = runs.findLast(({ enqueuedAt }) => enqueuedAt > at);
  const near = collectTexts([
    before && `the run before ended ${formatInstant(before.endedAt)}, exit code ${before.exit}`,
    after && `the next one began ${formatInstant(after.enqueuedAt)}, exit code ${after.exit}`,
  ]);
  const text = [`lock ${lock}: no run of this time is stored`, ...near].join("; ");
  const none: PastReason = { kind: "unknown", at, text };
  const isLost = start !== undefined && start > at;
  const gap: PastReason = { kind: "unknown", at, text: `its history begins ${formatInstant(start ?? at)}` };
  return [
    ...(held.length === 0 ? [none] : held),
    ...(isLost ? [gap] : []),
    ...listDrainsAt(snapshot, at, [
      DRAIN_OF_ALL,
      { scope: "lock", name: lock, because: "" },
      ...listHostTargets(
        runs.map(({ host }) => host),
        snapshot,
      ),
    ]),
    ...listActions(snapshot, at, (target) => target === `lock ${lock}`),
  ];
}

/** Lists the targets whose drain can stop a schedule: what its runs use, its group, and the hosts of its last runs. */
function listScheduleTargets(
  { definition, runs }: RecordedSchedule,
  records: OperatorRecords,
): StoppingTarget[] {
  const { group, command = [] } = definition;
  const locks = findCommandLocks(command);
  return [
    DRAIN_OF_ALL,
    ...listPlainLeases(definition).map(
      ({ resource }): StoppingTarget => ({ scope: "resource", name: resource, because: "it leases this" }),
    ),
    ...locks.map((name): StoppingTarget => ({ scope: "lock", name, because: "it takes this lock" })),
    ...(group === undefined
      ? []
      : [{ scope: "group" as const, name: group, because: "it runs in this group" }]),
    ...listHostTargets(
      runs.flatMap(({ host }) => host ?? []),
      records,
    ),
  ];
}

/** Lists hosts of past runs, and the groups that have them as members now. */
function listHostTargets(hosts: readonly string[], { groups }: OperatorRecords): StoppingTarget[] {
  const members = buildGroupMembers({ groups });
  return [...new Set(hosts)].flatMap((host): StoppingTarget[] => [
    { scope: "host", name: host, because: "runs were on this host" },
    ...listHostGroups(members, host).map(
      (name): StoppingTarget => ({ scope: "group", name, because: `runs were on ${host}, a member` }),
    ),
  ]);
}

/** Lists drains of some targets that were active at a time: stored ones, and those that actions of operators show. */
function listDrainsAt(
  records: OperatorRecords,
  at: WallTime,
  targets: readonly StoppingTarget[],
): PastReason[] {
  return listPastDrains(records, Infinity).flatMap((drain): PastReason[] => {
    const target = targets.find((one) => isSameTarget(one, drain));
    if (target === undefined || drain.from > at || (drain.until ?? Infinity) <= at) return [];
    const because = target.because === "" ? "" : `; ${target.because}`;
    const text = `a drain of ${drain.by} was active (${formatAuditTarget(drain)}${because})${describeEnd(drain)}`;
    return [{ kind: "drain", at: drain.from, text }];
  });
}

function describeEnd({ end, until = 0 }: PastDrain): string {
  if (end === "active") return "";
  if (end === "unknown") return "; or it had ended: its end is not recorded";
  return end === "lifted"
    ? `; it was lifted later, at ${formatInstant(until)}`
    : `, until ${formatInstant(until)}`;
}

function listActions(
  { audit }: OperatorRecords,
  at: WallTime,
  isOwn: (target: string) => boolean,
): PastReason[] {
  return [...audit.values()]
    .filter((one) => isOwn(one.target) && one.at >= at - ACTIONS_BEFORE)
    .sort((a, b) => a.at - b.at)
    .map(({ at: then, action, target, user, host, outcome }) => {
      const what = target.startsWith(action) ? target : `${action} of ${target}`;
      const text = `${formatInstant(then)}: ${what} by ${user}@${host}: ${outcome}`;
      return { kind: "action", at: then, text };
    });
}
