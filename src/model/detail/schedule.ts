import { formatBriefDuration, formatDuration, formatInstant } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import type { Calendars } from "../../schedule/calendar/calendar.ts";
import { listUpcoming } from "../../schedule/calendar/upcoming-days.ts";
import type { UpcomingOccurrence } from "../../schedule/cron/upcoming-occurrences.ts";
import { type Definition, getScheduleType } from "../../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../../schedule/definition-values.ts";
import { explainPlan, parsePlan } from "../../schedule/plan/plan.ts";
import type { Backfill, OpenOccurrence } from "../../schedule/state/due.ts";
import { parseOutcomes } from "../../schedule/state/outcome.ts";
import { computeLag } from "../../schedule/timing.ts";
import { findRunnerLiveness, type SessionLivenessMap } from "../explain/explain-text.ts";
import { findScheduleRow, type ScheduleRow } from "../rows/schedule-row.ts";
import type { Execution, Snapshot } from "../snapshot/snapshot.ts";
import {
  formatExecutionOwner,
  formatMissingWorker,
  formatTimeUntilNext,
  getScheduleTone,
} from "../tables/schedules.ts";
import {
  buildAuditTable,
  buildDetailTable,
  buildFacts,
  buildOwnerCell,
  type Cell,
  type Detail,
  type DetailContext,
  type Fact,
  type ItemColumn,
  type Section,
} from "./detail.ts";
import { buildDeadLetterTable, buildLastOutput, buildLongerOutput, buildOutcomeTable } from "./outcomes.ts";

/** Builds the detail of a schedule: definition, executions, next and last runs. Undefined if it does not exist. */
export function buildScheduleDetail(
  snapshot: Snapshot,
  id: string,
  { wall, sessions }: DetailContext,
): Detail | undefined {
  const row = findScheduleRow(snapshot, id, wall);
  if (row === undefined) return undefined;
  const outcomes = parseOutcomes(snapshot.outcomes.get(id));
  return {
    heading: `schedule ${id}: ${row.states.join(", ")}`,
    tone: getScheduleTone(row.state),
    evidence: buildLastOutput(outcomes),
    facts: buildScheduleFacts(row, wall),
    sections: [
      ...buildExecutionTable(row, wall, sessions),
      ...buildOpenTable(row, wall),
      ...(row.fault === undefined ? buildUpcomingTable(row, snapshot.calendars, wall) : []),
      ...buildOutcomeTable(id, outcomes.runs),
      ...buildDeadLetterTable(id, outcomes.dead),
      ...buildLongerOutput(outcomes),
      ...buildAuditTable(snapshot, (target) => isAboutSchedule(target, id)),
    ],
  };
}

/** Whether an audit target is or includes a schedule. */
export function isAboutSchedule(target: string, id: string): boolean {
  if (target === `schedule ${id}`) return true;
  const [, names] = /^schedules (.*?)(?: and \d+ more)?$/s.exec(target) ?? [];
  return names?.split(", ").includes(id) === true;
}

function buildScheduleFacts(row: ScheduleRow, wall: number): Fact[] {
  const { id, definition, due, fault, next } = row;
  if (definition === undefined) return buildFacts([["malformed", fault, "problem"]]);
  return buildFacts([
    ["malformed", fault, "problem"],
    ["paused", formatPause(definition), "problem"],
    ["when", `${explainPlan(parsePlan(definition.cron))} (${definition.timezone})`],
    ["cron", definition.cron],
    ["followed by", due?.successors?.join(", ")],
    ["backfill", due?.backfill && formatBackfill(due.backfill)],
    ["has ended", due?.arrived?.map(({ id }) => id).join(", ")],
    ["next", next === undefined ? undefined : `${formatTimeUntilNext(next, wall)}, ${formatInstant(next)}`],
    [
      "no worker",
      row.states.includes("no-worker") ? `none ${formatMissingWorker(definition.group)}` : undefined,
      "problem",
    ],
    ["type", definition.command === undefined ? getScheduleType(id, definition) : definition.type],
    ["command", definition.command?.join(" ")],
    ["data", definition.data === undefined ? undefined : JSON.stringify(definition.data)],
    ["environment", Object.keys(definition.env ?? {}).join(" ")],
    ...listRuleFacts(definition),
    ["note", definition.note],
    ["source", definition.source],
    [
      "last",
      due?.last === undefined ? undefined : `${due.last.result}, ${formatAgo(due.last.endedAt, wall)}`,
    ],
  ]);
}

type FactEntry = readonly [label: string, value: string | undefined];

/** Lists the rules of a schedule. Omits unset options, except catch-up and overlap. */
function listRuleFacts(definition: Definition): FactEntry[] {
  const { delay, jitter, deadline, timeout, retries, backoff = SCHEDULE_DEFAULTS.backoff, end } = definition;
  const { keep, keepFor } = definition;
  const formatTime = (ms: number | undefined) => (ms ? formatDuration(ms) : undefined);
  return [
    [
      "after",
      definition.after && `${definition.after.join(", ")} (on ${definition.on ?? SCHEDULE_DEFAULTS.on})`,
    ],
    ["except", definition.except?.join(", ")],
    ["only", definition.only?.join(", ")],
    ["if excluded", definition.ifExcluded],
    ["tags", definition.tags?.join(" ")],
    ["delay", formatTime(delay)],
    ["jitter", jitter ? `up to ${formatDuration(jitter)}` : undefined],
    [
      "catch-up",
      `${definition.catchup ?? SCHEDULE_DEFAULTS.catchup}${deadline ? `, none later than ${formatTime(deadline)}` : ""}`,
    ],
    ["overlap", definition.overlap ?? SCHEDULE_DEFAULTS.overlap],
    ["time-out", formatTime(timeout)],
    ["retries", retries ? `${retries}, the first after ${formatDuration(backoff)}` : undefined],
    ["group", definition.group],
    ["leases", definition.leases?.join(" ")],
    ["hooks", Object.keys(definition.hooks ?? {}).join(" ")],
    ["history", formatLimits(keep, keepFor)],
    ["end", end === undefined ? undefined : formatInstant(end)],
  ];
}

/** Formats a backfill: `12 of 30 started, next 2026-11-21T03:00:00Z, 2 at a time`. */
function formatBackfill({ started, total, next, parallel }: Backfill): string {
  return `${started} of ${total} started, next ${formatInstant(next)}, ${parallel} at a time`;
}

function formatLimits(keep: number | undefined, keepFor: number | undefined): string | undefined {
  const count = keep === undefined ? "" : `${keep} outcomes`;
  const age = keepFor === undefined ? "" : `of ${formatDuration(keepFor)}`;
  return `${count} ${age}`.trim() || undefined;
}

function formatPause({ pause }: Definition): string | undefined {
  if (pause === undefined) return undefined;
  const until = pause.until === undefined ? "" : ` until ${formatInstant(pause.until)}`;
  return `by ${pause.by}, since ${formatInstant(pause.at)}${until}${pause.why === undefined ? "" : `: ${pause.why}`}`;
}

const formatAgo = (at: number, wall: number) => `${formatBriefDuration(wall - at)} ago`;

const PROGRESS: ItemColumn<Execution> = {
  title: "PROGRESS",
  priority: 2,
  getCell: ({ value }) => value?.progress,
};

/** Builds the table of current executions. */
function buildExecutionTable(
  { executions }: ScheduleRow,
  wall: number,
  sessions: SessionLivenessMap,
): Section[] {
  const columns: ItemColumn<Execution>[] = [
    { title: "WHO", priority: 1, getCell: buildExecutionOwnerCell },
    { title: "WORKER", priority: 2, getCell: (execution) => buildWorkerCell(execution, sessions) },
    { title: "SCHEDULED", priority: 1, getCell: ({ value }) => value && formatInstant(value.scheduled) },
    { title: "ATTEMPT", priority: 3, align: "right", getCell: ({ value }) => value && String(value.attempt) },
    {
      title: "SINCE",
      priority: 1,
      align: "right",
      getCell: ({ value }) => value && formatBriefDuration(wall - value.since),
    },
    {
      title: "LATE",
      priority: 3,
      align: "right",
      getCell: ({ value }) => value && formatBriefDuration(value.late),
    },
    ...(executions.some(({ value }) => value?.progress !== undefined) ? [PROGRESS] : []),
    { title: "TOKEN", priority: 5, align: "right", getCell: ({ token }) => String(token) },
  ];
  return buildDetailTable("runs now", columns, executions);
}

function buildExecutionOwnerCell(execution: Execution): Cell {
  if (execution.value !== undefined) return buildOwnerCell(formatExecutionOwner(execution));
  return { text: `key ${execution.key}: ${execution.fault}`, tone: "problem" };
}

function buildWorkerCell(execution: Execution, sessions: SessionLivenessMap): Cell {
  const alive = findRunnerLiveness(execution, sessions);
  return { text: alive?.verdict ?? "", tone: alive?.verdict === "alive" ? "plain" : "problem" };
}

/** Builds the table of open occurrences, planned or triggered, that wait for a start. */
function buildOpenTable({ due, executions }: ScheduleRow, wall: number): Section[] {
  const running = new Set(executions.map(({ value }) => value?.scheduled));
  const waiting = (due?.open ?? []).filter(({ scheduled }) => !running.has(scheduled));
  const columns: ItemColumn<OpenOccurrence>[] = [
    { title: "SCHEDULED", priority: 1, getCell: ({ scheduled }) => formatInstant(scheduled) },
    { title: "KIND", priority: 2, getCell: ({ kind }) => kind },
    { title: "DUE", priority: 1, getCell: ({ runAt }) => formatTimeUntilNext(runAt, wall) },
    { title: "STARTS", priority: 3, align: "right", getCell: ({ attempt }) => String(attempt) },
    { title: "FAILURES", priority: 3, align: "right", getCell: ({ failures }) => String(failures) },
  ];
  return buildDetailTable("to be started", columns, waiting);
}

/** Number of occurrences shown. */
const COUNT = 5;

/** Builds the table of the next occurrences, with notes on clock changes (daylight saving time) and excluded days. */
function buildUpcomingTable(
  { id, definition, due }: ScheduleRow,
  calendars: Calendars,
  wall: number,
): Section[] {
  const first = due?.next;
  if (definition === undefined || first === undefined) return [];
  const lag = computeLag(id, definition);
  const { end = Number.POSITIVE_INFINITY } = definition;
  const found = listUpcoming(definition, calendars, {
    after: first - 1,
    count: COUNT,
    since: Math.min(first, wall),
  });
  const columns: ItemColumn<UpcomingOccurrence>[] = [
    { title: "SCHEDULED", priority: 1, getCell: ({ local }) => local },
    { title: "MAY RUN", priority: 2, getCell: ({ at }) => formatInstant(at + lag) },
    { title: "IN", priority: 1, align: "right", getCell: ({ at }) => formatBriefDuration(at + lag - wall) },
    { title: "NOTE", priority: 3, getCell: buildNoteCell },
  ];
  return buildDetailTable(
    `next runs; more: signalbox schedule next ${quoteShellWord(id)}`,
    columns,
    found.filter(({ at }) => at <= end),
  );
}

function buildNoteCell({ note, mark }: UpcomingOccurrence): Cell {
  return { text: note ?? mark ?? "", tone: mark === undefined ? "plain" : "waiting" };
}
