import { isDeepStrictEqual } from "node:util";
import { formatDuration, type WallTime } from "../../../core/base/clock.ts";
import { quoteShellWords } from "../../../core/base/shell.ts";
import { collectTexts, formatShortList, pluralize, quoteText } from "../../../core/base/text.ts";
import { isBlackoutText } from "../../../schedule/calendar/blackout.ts";
import { type Calendars, NO_CALENDARS } from "../../../schedule/calendar/calendar.ts";
import {
  type CalendarFields,
  findCalendarFault,
  listCalendarNames,
} from "../../../schedule/calendar/day-rule.ts";
import {
  listExcludedDays,
  listUpcoming,
  type PlannedFields,
} from "../../../schedule/calendar/upcoming-days.ts";
import type { UpcomingOccurrence } from "../../../schedule/cron/upcoming-occurrences.ts";
import {
  type Definition,
  DURATION_FIELDS,
  getCatchup,
  getDeadline,
  getPause,
  getScheduleType,
  type Pause,
  runsOnEveryHost,
} from "../../../schedule/definition.ts";
import { EVERY_HOST, SCHEDULE_DEFAULTS } from "../../../schedule/definition-values.ts";
import { getExpectation } from "../../../schedule/expectation.ts";
import {
  explainEventPlan,
  explainPlan,
  formatCronText,
  MANUAL_PLAN,
  parsePlan,
} from "../../../schedule/plan.ts";
import type { DueState } from "../../../schedule/state/due.ts";
import { computeLag } from "../../../schedule/timing.ts";
import type { PlannedChange } from "../../../site/operate/stored-schedules.ts";
import { formatInstantUtc } from "../../frame/command-line/instant.ts";
import type { FieldChange, ScheduleChangeKind, ScheduleChangeRecord } from "../../frame/outcome.ts";
import { formatExpectation } from "../../views/schedules.ts";

/** Converts a planned change to the record that programs get. */
export function toScheduleChange(change: PlannedChange): ScheduleChangeRecord {
  const { before, definition, due } = change;
  const fields = definition && computeFieldChanges(before.definition, definition);
  const { id, host } = before;
  return { id, ...(host !== undefined && { host }), kind: getChangeKind(change), fields, definition, due };
}

function getChangeKind({ before, definition, due, isDeleted }: PlannedChange): ScheduleChangeKind {
  if (isDeleted) return "deleted";
  if (before.definitionMod === 0n) return "added";
  if (definition === undefined) {
    if (before.due?.pause !== undefined && due?.pause === undefined) return "resumed";
    return listTriggeredTimes(before.due, due).length === 0 ? "changed" : "triggered";
  }
  const fields = computeFieldChanges(before.definition, definition);
  if (fields.length !== 1 || fields[0]?.field !== "pause") return "changed";
  return definition.pause === undefined ? "resumed" : "paused";
}

/**
 * Formats a change as one line:
 * `schedule backup changed: cron "0 3 * * *" -> "0 4 * * *"; next 2026-11-22 04:00:00 UTC`.
 */
export function formatScheduleChange(change: PlannedChange, isNextTold = true): string {
  return formatChange(change, "", isNextTold);
}

/** Formats a change that may be made: `schedule backup would be deleted: …`. */
export function formatPlannedChange(change: PlannedChange): string {
  return formatChange(change, "would be ", true);
}

/** @param be  before the verb */
function formatChange(change: PlannedChange, be: string, isNextTold: boolean): string {
  const { before, definition, due } = change;
  const what = `schedule ${before.id}${before.host === undefined ? "" : ` on ${before.host}`}`;
  // What follows tells times only. For a host, `before` may have another plan than the schedule has now.
  const isTold = due?.next === undefined ? before.host === undefined : isNextTold;
  const next = isTold ? formatNextDue(due, definition ?? before.definition) : "";
  switch (getChangeKind(change)) {
    case "deleted":
      return `${what} ${be}deleted${before.definition === undefined ? "" : `: ${formatDefinitionSummary(before.definition)}`}`;
    case "added":
      return `${what} ${be}added: ${definition === undefined ? "" : formatDefinitionSummary(definition)}${next}`;
    case "paused":
      return `${what} ${be}paused${formatSchedulePause(definition?.pause)}`;
    case "resumed":
      return `${what} ${be}resumed${next}`;
    case "triggered": {
      const times = listTriggeredTimes(before.due, due).map(formatInstantUtc);
      const count = times.length === 1 ? "one run" : `${times.length} runs`;
      return `${what} ${be}triggered: ${count} of ${formatShortList(times, 5)}`;
    }
    case "changed": {
      const buried = (before.due?.dead ?? 0) - (due?.dead ?? 0);
      if (definition === undefined && due !== undefined && buried > 0)
        return `${what}: ${pluralize(buried, "dead letter")} ${be}deleted`;
      if (definition === undefined && !isDeepStrictEqual(before.due?.successors, due?.successors))
        return due?.successors === undefined
          ? `${what}: no schedule follows it`
          : `${what}: followed by ${due.successors.join(", ")}`;
      if (definition === undefined && before.due?.backfill !== due?.backfill)
        return `${what}: ${due?.backfill === undefined ? `backfill ${be}canceled` : `backfill of ${due.backfill.total} occurrences`}`;
      const isCanceled = due?.open.some(({ canceled }) => canceled !== undefined);
      if (
        definition === undefined &&
        (isCanceled || (due?.open.length ?? 0) < (before.due?.open.length ?? 0))
      )
        return `${what} ${be}canceled${next}`;
      const fields = definition === undefined ? [] : computeFieldChanges(before.definition, definition);
      const told = fields.map((one) => `${one.field} ${one.before ?? "none"} -> ${one.after ?? "none"}`);
      return `${what} ${be}changed${told.length === 0 ? "" : `: ${told.join(", ")}`}${next}`;
    }
  }
}

/** Lists the fields that differ, in the order of their declaration. */
function computeFieldChanges(before: Definition | undefined, after: Definition): FieldChange[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])] as (keyof Definition)[];
  return names.flatMap((field) => {
    const [was, is] = [before?.[field], after[field]];
    if (isDeepStrictEqual(was, is)) return [];
    return [{ field, before: formatField(field, was), after: formatField(field, is) }];
  });
}

/** Says which schedules must end first: `after extract, when it has succeeded`. */
function formatPredecessors({ after = [], on = SCHEDULE_DEFAULTS.on }: Definition): string {
  const end = { success: "succeeded", failure: "been given up", end: "ended", [EVERY_HOST]: "" }[on];
  return `after ${after.join(", ")}, when ${after.length === 1 ? "it" : "each"} has ${end}`;
}

/** Summarizes a definition: `"0 3 * * *" UTC, runs db-dump --all`. */
function formatDefinitionSummary(definition: Definition): string {
  const { cron, timezone, command, type, after } = definition;
  const runs =
    command === undefined
      ? type === undefined
        ? ""
        : `, type ${type}`
      : `, runs ${quoteShellWords(command)}`;
  const when =
    after !== undefined && cron === MANUAL_PLAN ? "" : `${quoteText(formatCronText(cron))} ${timezone}`;
  const chain = after === undefined ? "" : `${when === "" ? "" : ", "}${formatPredecessors(definition)}`;
  return `${when}${chain}${runs}${runsOnEveryHost(definition) ? formatHosts(definition) : ""}`;
}

function formatField(field: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (DURATION_FIELDS.has(field)) return formatDuration(value as number);
  if (field === "end") return formatInstantUtc(value as number);
  if (field === "command") return quoteShellWords(value as readonly string[]);
  if (field === "pause") return formatSchedulePause(value as Pause).trim();
  if (field === "except" || field === "only") return (value as readonly string[]).join(",");
  if (["timezone", "ifExcluded", "group", "expect", "catchup", "overlap"].includes(field))
    return String(value);
  return quoteText(JSON.stringify(value), 200).replace(/^"(.*)"$/s, (_, inner: string) =>
    inner.replaceAll('\\"', '"'),
  );
}

export function formatSchedulePause(pause: Pause | undefined): string {
  if (pause === undefined) return "";
  const until = pause.until === undefined ? "" : ` until ${formatInstantUtc(pause.until)}`;
  return `${until} by ${pause.by}${pause.why === undefined ? "" : ` (${pause.why})`}`;
}

function formatNextDue(due: DueState | undefined, definition: Definition | undefined): string {
  if (due === undefined) return "";
  if (due.next === undefined) {
    const then = definition && explainEventPlan(parsePlan(definition.cron));
    return definition?.cron === MANUAL_PLAN
      ? ""
      : `; ${then === undefined ? "it never fires again" : `next ${then}`}`;
  }
  const later = due.runAt === due.next ? "" : `, run at ${formatInstantUtc(due.runAt)}`;
  return `; next ${formatInstantUtc(due.next)}${later}`;
}

/** Lists the scheduled times of the runs that a trigger added. */
function listTriggeredTimes(before: DueState | undefined, after: DueState | undefined): number[] {
  const old = new Set(before?.open.map(({ scheduled }) => scheduled));
  const added = after?.open.filter(({ kind, scheduled }) => kind === "trigger" && !old.has(scheduled));
  return (added ?? []).map(({ scheduled }) => scheduled);
}

const OVERLAP = {
  forbid: "the next run waits until the current run has ended",
  allow: "runs may overlap",
  replace: "a run that is still active when the next one is due is ended",
};
const CATCHUP = {
  all: "missed occurrences are run later, one after the other",
  latest: "of missed occurrences, only the latest is run",
  none: "missed occurrences are skipped",
};

export function describeDefinition(id: string, definition: Definition, due?: DueState): string[] {
  const pause = getPause(definition, due);
  return [
    describeTiming(id, definition),
    ...(definition.after === undefined ? [] : [`runs ${formatPredecessors(definition)}`]),
    ...describeCalendars(definition),
    ...(definition.if === undefined
      ? []
      : [
          `starts only on a host with ${definition.if.join(" and ")}; hosts that do not fulfil it check again every few seconds`,
        ]),
    describeWork(id, definition),
    ...describeRules(definition),
    ...describeLimits(definition),
    ...describeExpectation(definition),
    ...(pause === undefined ? [] : [`the schedule is paused${formatSchedulePause(pause)}`]),
    ...(definition.note === undefined ? [] : [`note: ${definition.note}`]),
  ];
}

function describeTiming(id: string, { cron, timezone, end, ...rest }: Definition): string {
  const lag = computeLag(id, rest);
  const later = lag === 0 ? "" : `, ${formatDuration(lag)} later`;
  const until = end === undefined ? "" : `, until ${formatInstantUtc(end)}`;
  return `${explainPlan(parsePlan(cron))}, ${timezone}${later}${until}`;
}

function describeWork(id: string, definition: Definition): string {
  const { command, leases = [] } = definition;
  const work =
    command === undefined
      ? `runs the handler for type ${quoteText(getScheduleType(id, definition))}`
      : `runs: ${quoteShellWords(command)}`;
  return `${work}${formatHosts(definition)}${leases.length === 0 ? "" : `, holding ${leases.join(", ")}`}`;
}

/** Says on which hosts a schedule runs: `, on every host of group web`. */
function formatHosts(definition: Definition): string {
  const { group } = definition;
  const ofGroup = group === undefined ? "" : ` of group ${group}`;
  if (runsOnEveryHost(definition)) return `, on every host${ofGroup}`;
  if (definition.place === "least-loaded") return `, on the host${ofGroup} with the least load`;
  return group === undefined ? "" : `, on hosts of group ${group}`;
}

function describeRules(definition: Definition): string[] {
  const { overlap = SCHEDULE_DEFAULTS.overlap } = definition;
  return [OVERLAP[overlap], describeCatchup(definition)];
}

function describeCatchup(definition: Definition): string {
  const late = getDeadline(definition);
  return `${CATCHUP[getCatchup(definition)]}${late === undefined ? "" : `; occurrences more than ${formatDuration(late)} late are skipped`}`;
}

/** Says what becomes of the times that workers miss: undefined for a schedule that has no times, or only one. */
export function describeOutage(definition: Definition): string | undefined {
  const { kind } = parsePlan(definition.cron);
  return kind === "cron" || kind === "every" ? `after an outage: ${describeCatchup(definition)}` : undefined;
}

function describeLimits({
  timeout,
  retries = 0,
  backoff = SCHEDULE_DEFAULTS.backoff,
  keep,
  keepFor,
  pauseAfterFailures,
}: Definition): string[] {
  const times = retries === 1 ? "once" : `${retries} times`;
  return [
    ...(timeout === undefined ? [] : [`a run that takes longer than ${formatDuration(timeout)} is ended`]),
    retries === 0
      ? "a run that fails is given up, and kept as a dead letter"
      : `a run that fails is retried ${times}, first after ${formatDuration(backoff)}, then after longer delays; then it is kept as a dead letter`,
    ...(pauseAfterFailures === undefined
      ? []
      : [
          `it pauses itself after ${pauseAfterFailures === 1 ? "a run that was given up" : `${pauseAfterFailures} runs in a row that were given up`}`,
        ]),
    ...(keep === undefined ? [] : [`the history keeps ${keep === 1 ? "one outcome" : `${keep} outcomes`}`]),
    ...(keepFor === undefined
      ? []
      : [`the history keeps no outcome that ended ${formatDuration(keepFor)} before the newest one`]),
  ];
}

function describeExpectation(definition: Definition): string[] {
  const bounds = formatExpectation(getExpectation(definition));
  return bounds === undefined ? [] : [`a run should take ${bounds}; what does not is reported`];
}

/** Days ahead in which excluded days are listed. */
const EXCLUDED_DAYS_AHEAD = 366;

/** Largest number of excluded days that are named. */
const MAX_NAMED_DAYS = 5;

const RULES = {
  skip: "what is due on another day is skipped",
  next: "what is due on another day moves to the next day that is allowed",
  previous: "what is due on another day moves to the day before that is allowed",
};

/** Describes the calendars of a schedule: `not on days of holidays; what is due on another day is skipped`. */
function describeCalendars({ except = [], only = [], ifExcluded = "skip" }: CalendarFields): string[] {
  const [days, times] = [listCalendarNames({ except }), except.filter(isBlackoutText)];
  const parts = collectTexts([
    only.length > 0 && `only on days of ${only.join(", ")}`,
    days.length > 0 && `not on days of ${days.join(", ")}`,
  ]);
  return collectTexts([
    parts.length > 0 && `${parts.join(", ")}; ${RULES[ifExcluded]}`,
    times.length > 0 &&
      `not at ${times.join(", ")}; what is due then is skipped, and what is late starts afterwards`,
  ]);
}

/** Lists the next days that calendars exclude, or says why the schedule does not fire. */
export function describeExcludedDays(fields: PlannedFields, calendars: Calendars, now: WallTime): string[] {
  const fault = findCalendarFault(fields, calendars);
  if (fault !== undefined) return [`it does not fire: ${fault}`];
  const days = listExcludedDays(fields, calendars, now, EXCLUDED_DAYS_AHEAD);
  if (days.length === 0) return [];
  const more = days.length > MAX_NAMED_DAYS ? ` and ${days.length - MAX_NAMED_DAYS} more in a year` : "";
  return [`next excluded days: ${days.slice(0, MAX_NAMED_DAYS).join(", ")}${more}`];
}

/** A future occurrence. */
export interface UpcomingRun extends UpcomingOccurrence {
  /** When it may start: its time plus delay and jitter. */
  runAt: WallTime;
}

/**
 * Computes the next occurrences of a schedule, assuming that it does not change.
 * @param due  its current state; the first occurrence may be in the past if it is late
 * @param marks.since  excluded days are marked from this instant on, ms since the epoch
 */
export function computeNextRuns(
  id: string,
  definition: Definition,
  due: DueState,
  count: number,
  marks: CalendarMarks = {},
): UpcomingRun[] {
  if (due.next === undefined) return [];
  const all = computeRunsFrom(id, definition, due.next, count, marks);
  return all.map((one) => (one.at === due.next ? { ...one, runAt: due.runAt } : one));
}

/** What is needed to mark excluded days. */
interface CalendarMarks {
  calendars?: Calendars;
  /** Default: the start of the list. */
  since?: WallTime;
}

/** Computes the occurrences from a time on. @throws ConfigError if a calendar is missing or cannot be read */
export function computeRunsFrom(
  id: string,
  definition: Definition,
  from: number,
  count: number,
  { calendars = NO_CALENDARS, since = from }: CalendarMarks = {},
): UpcomingRun[] {
  const lag = computeLag(id, definition);
  const { end = Number.POSITIVE_INFINITY } = definition;
  const range = { after: from - 1, count, since: Math.min(since, from) };
  return listUpcoming(definition, calendars, range)
    .filter(({ at }) => at <= end)
    .map((one) => ({ ...one, runAt: one.at + lag }));
}

/** Formats the next runs as lines: `next: 2026-11-22 04:00 CET (+01:00), 2026-11-22 03:00:00 UTC`. */
export function formatUpcomingRuns(
  id: string,
  definition: Definition,
  due: DueState,
  count: number,
  marks: CalendarMarks = {},
): string[] {
  return computeNextRuns(id, definition, due, count, marks).map(
    (one, index) => `${index === 0 ? "next:" : "then:"} ${formatUpcomingRun(one)}`,
  );
}

function formatUpcomingRun({ at, local, runAt, mark, note }: UpcomingRun): string {
  const lag = runAt - at;
  const started =
    lag === 0
      ? ""
      : lag > 0
        ? `, started ${formatDuration(lag)} later`
        : `, started ${formatInstantUtc(runAt)}`;
  const inUtc = local.endsWith("(+00:00)") ? "" : `, ${formatInstantUtc(at)}`;
  return `${local}${inUtc}${started}${formatClockMark({ mark, note })}`;
}

/** Formats how a clock change affects an occurrence. */
export function formatClockMark({
  mark,
  note,
}: {
  mark?: UpcomingOccurrence["mark"] | undefined;
  note?: string | undefined;
}): string {
  if (mark === undefined && note === undefined) return "";
  return `  [${[mark, note].filter((part) => part !== undefined).join(": ")}]`;
}
