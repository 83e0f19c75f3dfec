import { formatDuration } from "../../../base/duration.ts";
import { quoteText } from "../../../base/text.ts";
import { type Definition, getScheduleType } from "../../../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../../../schedule/definition-values.ts";
import { explainPlan, parsePlan } from "../../../schedule/plan/plan.ts";
import { computeLag } from "../../../schedule/timing.ts";
import { formatInstantUtc } from "../../command-line/instant.ts";
import { formatArgv, formatPredecessors, formatSchedulePause } from "../describe-schedule.ts";
import { describeCalendars } from "./calendar-lines.ts";

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

/** Describes a definition in sentences. */
export function describeDefinition(id: string, definition: Definition): string[] {
  return [
    describeTiming(id, definition),
    ...(definition.after === undefined ? [] : [`runs ${formatPredecessors(definition)}`]),
    ...describeCalendars(definition),
    describeWork(id, definition),
    ...describeRules(definition),
    ...describeLimits(definition),
  ];
}

function describeTiming(id: string, { cron, timezone, end, ...rest }: Definition): string {
  const lag = computeLag(id, rest);
  const later = lag === 0 ? "" : `, ${formatDuration(lag)} later`;
  const until = end === undefined ? "" : `, until ${formatInstantUtc(end)}`;
  return `${explainPlan(parsePlan(cron))}, ${timezone}${later}${until}`;
}

function describeWork(id: string, definition: Definition): string {
  const { command, group, leases = [] } = definition;
  const work =
    command === undefined
      ? `runs the handler for type ${quoteText(getScheduleType(id, definition))}`
      : `runs: ${formatArgv(command)}`;
  const where = group === undefined ? "" : `, on hosts of group ${group}`;
  return `${work}${where}${leases.length === 0 ? "" : `, holding ${leases.join(", ")}`}`;
}

function describeRules({
  overlap = SCHEDULE_DEFAULTS.overlap,
  catchup = SCHEDULE_DEFAULTS.catchup,
  deadline,
}: Definition): string[] {
  const late = deadline ?? (catchup === "none" ? SCHEDULE_DEFAULTS.missedAfter : undefined);
  return [
    OVERLAP[overlap],
    `${CATCHUP[catchup]}${late === undefined ? "" : `; occurrences more than ${formatDuration(late)} late are skipped`}`,
  ];
}

function describeLimits({
  timeout,
  retries = 0,
  backoff = SCHEDULE_DEFAULTS.backoff,
  keep,
  keepFor,
  pause,
  note,
}: Definition): string[] {
  const times = retries === 1 ? "once" : `${retries} times`;
  return [
    ...(timeout === undefined ? [] : [`a run that takes longer than ${formatDuration(timeout)} is ended`]),
    retries === 0
      ? "a run that fails is given up, and kept as a dead letter"
      : `a run that fails is retried ${times}, first after ${formatDuration(backoff)}, then after longer delays; then it is kept as a dead letter`,
    ...(keep === undefined ? [] : [`the history keeps ${keep === 1 ? "one outcome" : `${keep} outcomes`}`]),
    ...(keepFor === undefined
      ? []
      : [`the history keeps no outcome that ended ${formatDuration(keepFor)} before the newest one`]),
    ...(pause === undefined ? [] : [`the schedule is paused${formatSchedulePause(pause)}`]),
    ...(note === undefined ? [] : [`note: ${note}`]),
  ];
}
