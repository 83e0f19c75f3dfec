import { formatBriefDuration, formatInstant, type WallTime } from "../../../core/base/clock.ts";
import { EXIT, SignalboxError, UsageError } from "../../../core/base/errors.ts";
import { quoteText } from "../../../core/base/text.ts";
import { isHolding } from "../../../core/protocol/admission.ts";
import type { PastRun } from "../../../core/protocol/history.ts";
import { validateName } from "../../../core/protocol/names.ts";
import { toSingleKeyRange } from "../../../core/protocol/txn.ts";
import { type Definition, isPaused, runsAtBoot } from "../../../schedule/definition.ts";
import { getExpectation } from "../../../schedule/expectation.ts";
import { parsePlan } from "../../../schedule/plan.ts";
import type { DueState } from "../../../schedule/state/due.ts";
import { listStates } from "../../../schedule/state/host-states.ts";
import { isFailure, NO_OUTCOMES, type OccurrenceOutcome } from "../../../schedule/state/outcome.ts";
import { findMissedRuns, type MissedRuns } from "../../../site/state/missed-runs.ts";
import { type Execution, findNamedQueue, type Snapshot } from "../../../site/state/snapshot.ts";
import type { CommandExecutor } from "../../frame/command.ts";
import { readSnapshotRanges, throwUnknownName } from "../../frame/read-snapshot.ts";
import { type CommandContext, createStoreCommand } from "../../frame/store-command.ts";
import {
  computeTimeSinceSuccess,
  type EndedRun,
  judgeRecentRuns,
  type RecentRuns,
} from "../../views/checks/recent-runs.ts";
import {
  findNextStart,
  findOverruns,
  findStoredFault,
  formatExpectation,
  formatMissedRuns,
} from "../../views/schedules.ts";
import type { CheckLockFlags, CheckScheduleFlags } from "./check-recent.ts";
import { type CheckFigure, type CheckReport, printReport, reportErrorsToNagios } from "./findings.ts";

export const checkSchedules = createRecentRunsCommand(reportSchedules);

/** Reports on the schedules that arguments and flags name. @throws SignalboxError 1, UsageError, StoreError */
export async function reportSchedules(context: CommandContext<CheckScheduleFlags>): Promise<CheckReport> {
  return toReport(
    context,
    await readSchedules(context),
    "no schedule is selected; see: signalbox ls schedules",
  );
}

/** The names of the schedules to check, and what was read of them. */
interface ChosenSchedules {
  names: readonly string[];
  snapshot: Snapshot;
}

/** @throws SignalboxError 1 for a schedule that does not exist */
async function readSchedules(context: CommandContext<CheckScheduleFlags>): Promise<RecentJobs> {
  const { args, flags } = context;
  const given = [...new Set(args.map((name) => validateName("schedule", name)))];
  const tags = flags.tag ?? [];
  const isSelection = flags.all === true || tags.length > 0;
  if (!isSelection && given.length === 0)
    throw new UsageError("ID is missing; name schedules, or use --tag or --all");
  const { names, snapshot } = isSelection
    ? await readSelected(context, given, tags)
    : await readNamed(context, given);
  const wall = context.clock.getWallTime();
  const jobs = names.flatMap((name) => listScheduleRuns(snapshot, name, wall));
  const { revision } = snapshot;
  if (flags.expect !== true) return { jobs, revision };
  const lacking = given.find((name) => isUnbounded(snapshot.schedules.get(name)?.value));
  if (lacking !== undefined)
    throw new UsageError(
      `schedule ${quoteText(lacking)} does not say how long a run should take; leave out --expect, or set it: signalbox schedule edit`,
    );
  return { jobs: jobs.map((job) => ({ ...job, deviation: findDeviation(snapshot, job, wall) })), revision };
}

/** Reads all schedules, and selects named ones and those with these tags. */
async function readSelected(
  context: CommandContext,
  given: readonly string[],
  tags: readonly string[],
): Promise<ChosenSchedules> {
  const more = [context.keys.outcomeHistories()];
  const snapshot = await readSnapshotRanges(context, ["schedules", "dues", "runnings"], more);
  const wall = context.clock.getWallTime();
  const selected = [...snapshot.schedules].filter(([, { value }]) =>
    value === undefined
      ? tags.length === 0 // it cannot be read, so its tags are not known
      : isCheckable(value, wall) && tags.every((tag) => value.tags?.includes(tag)),
  );
  const unknown = given.find((name) => !snapshot.schedules.has(name));
  if (unknown !== undefined) return throwUnknownName("schedule", unknown, snapshot.schedules.keys());
  return { names: [...new Set([...given, ...selected.map(([name]) => name)])].sort(), snapshot };
}

/** Whether a schedule is to run by itself, and again. One that has paused itself after failures is. */
function isCheckable(definition: Definition, wall: WallTime): boolean {
  const { cron, removeAfter, end = wall } = definition;
  const { kind } = parsePlan(cron);
  const isOver = kind === "boot" && end < wall;
  return kind !== "manual" && !isOver && removeAfter === undefined && !isPaused(definition, undefined, wall);
}

async function readNamed(context: CommandContext, names: readonly string[]): Promise<ChosenSchedules> {
  const { keys } = context;
  const ranges = names.flatMap(keys.listScheduleRanges);
  const snapshot = await readSnapshotRanges(context, [], ranges);
  const unknown = names.find((name) => !snapshot.schedules.has(name));
  if (unknown !== undefined) {
    const all = await readSnapshotRanges(context, ["schedules"], [], snapshot.revision);
    return throwUnknownName("schedule", unknown, all.schedules.keys());
  }
  return { names, snapshot };
}

function isUnbounded(definition: Definition | undefined): boolean {
  return definition !== undefined && definition.expect === undefined;
}

/** Finds a run that takes longer than expected; or else the last run, if it did or was too short. @param wall  ms */
function findDeviation(
  { schedules, executions, outcomes }: Snapshot,
  { name, host }: RecentRuns,
  wall: WallTime,
): RecentRuns["deviation"] {
  const definition = schedules.get(name)?.value;
  if (definition === undefined) return undefined;
  const isHere = (one: { host?: string } | undefined) => host === undefined || one?.host === host;
  const overruns = findOverruns({ definition, executions: executions.get(name) ?? [] }, wall);
  const overrun = overruns.find(({ running }) => isHere(running));
  const expected = `; expected: ${formatExpectation(getExpectation(definition))}`;
  if (overrun !== undefined) {
    const detail = `has run for ${formatBriefDuration(wall - overrun.running.since)} on ${overrun.running.host}${expected}`;
    return { isRunning: true, detail };
  }
  const last = outcomes.get(name)?.runs.find((one) => one.result !== "skipped" && isHere(one));
  if (last?.deviation === undefined) return undefined;
  const took = formatBriefDuration(last.endedAt - (last.startedAt ?? last.endedAt));
  return { isRunning: false, detail: `its last run took ${took} (${last.deviation})${expected}` };
}

/** Lists the runs of a schedule; if it runs on every host, those of each host. */
function listScheduleRuns(snapshot: Snapshot, name: string, wall: WallTime): RecentRuns[] {
  const [kept, due] = [snapshot.schedules.get(name), snapshot.dues.get(name)];
  const fault = kept && findStoredFault(kept, due);
  if (fault !== undefined) return [{ kind: "schedule", name, fault, runs: [], runningSince: undefined }];
  const states = listStates(due?.value);
  const isAtBoot = runsAtBoot(kept?.value);
  const outcomes = (snapshot.outcomes.get(name) ?? NO_OUTCOMES).runs;
  const executions = snapshot.executions.get(name) ?? [];
  const missed = findMissedRuns({ definition: kept?.value, due: due?.value, executions }, wall);
  return states.map(([host, state]) => {
    const isHere = (one: { host?: string } | undefined) => host === undefined || one?.host === host;
    const own = outcomes.filter(isHere);
    const running = executions.filter(({ value }) => isHere(value));
    const [first] = missed.filter((one) => one.host === host);
    return {
      ...(host !== undefined && { host }),
      ...(first !== undefined && { missed: describeMissedRuns(first) }),
      ...toScheduleRuns(name, state, own, running, isAtBoot),
    };
  });
}

function describeMissedRuns(missed: MissedRuns): string {
  return `nothing has run since ${formatInstant(missed.since)}: ${formatMissedRuns(missed)}`;
}

/** Lists runs. The last result of the state is included even if its outcomes were lost. */
function toScheduleRuns(
  name: string,
  due: DueState,
  outcomes: readonly OccurrenceOutcome[],
  [oldest]: readonly Execution[],
  isAtBoot: boolean,
): RecentRuns {
  const { last } = due;
  const runs = outcomes.filter(({ result }) => result !== "skipped");
  const isKnown = last === undefined || runs.some(({ run }) => run === last.run);
  return {
    kind: "schedule",
    name,
    runningSince: oldest?.value?.since,
    firstDue:
      runs.length === 0 || isAtBoot
        ? ((isAtBoot ? undefined : due.skipped?.since) ?? findNextStart(due))
        : undefined,
    ...(isAtBoot && { isAtBoot }),
    runs: [...(isKnown || last === undefined ? [] : [last]), ...runs].map(toEndedRun),
  };
}

function toEndedRun(outcome: Pick<OccurrenceOutcome, "endedAt" | "result" | "host" | "code">): EndedRun {
  const { endedAt, result, host, code } = outcome;
  const exit = code === undefined ? "" : ` with exit ${code}`;
  const where = host === undefined ? "" : ` on ${host}`;
  const isSuccess = result === "ok";
  const isNeutral = !isSuccess && !isFailure(result);
  return { endedAt, isSuccess, isNeutral, text: `${result}${exit}${where}` };
}

export const checkLocks = createRecentRunsCommand(reportLocks);

/** Reports on the locks that arguments name. @throws UsageError, StoreError */
export async function reportLocks(context: CommandContext<CheckLockFlags>): Promise<CheckReport> {
  return toReport(context, await readLocks(context), "no lock has a history");
}

async function readLocks(context: CommandContext<CheckLockFlags>): Promise<RecentJobs> {
  const { args, flags, keys } = context;
  const given = [...new Set(args.map((name) => validateName("lock", name)))];
  if (!flags.all && given.length === 0) throw new UsageError("LOCK is missing; name locks, or use --all");
  const ranges = given.flatMap((name) => [
    toSingleKeyRange(keys.history(name)),
    keys.getQueueRange("lock", name),
  ]);
  const snapshot = await readSnapshotRanges(context, flags.all ? ["histories", "locks"] : [], ranges);
  const names = flags.all ? [...new Set([...given, ...snapshot.histories.keys()])].sort() : given;
  const isUntimed = flags.all === true && flags.within === undefined;
  return {
    jobs: names.map((name) => ({ ...toLockRuns(snapshot, name), isUntimed })),
    revision: snapshot.revision,
  };
}

/** Reports on all schedules, or those with tags, and without tags on all locks with a history. @throws as the others */
export async function reportAll(context: CommandContext<CheckScheduleFlags>): Promise<CheckReport> {
  const all = { ...context, args: [], flags: { ...context.flags, all: true as const } };
  const schedules = await readSchedules(all);
  const locks = context.flags.tag === undefined ? (await readLocks(all)).jobs : [];
  const jobs = [...schedules.jobs, ...locks];
  return toReport(context, { ...schedules, jobs }, "there is no schedule, and no lock with a history");
}

function toLockRuns(snapshot: Snapshot, name: string): RecentRuns {
  const holder = findNamedQueue(snapshot, "lock", name)?.entries.find(isHolding);
  const isRunning = holder !== undefined && holder.ticket?.state !== "grace";
  return {
    kind: "lock",
    name,
    runs: (snapshot.histories.get(name) ?? []).map(toEndedHold),
    runningSince: isRunning ? holder.ticket?.grantedAt : undefined,
  };
}

function toEndedHold({ endedAt, exit, host, reason }: PastRun): EndedRun {
  const why = reason === undefined ? "" : ` (${reason})`;
  return { endedAt, isSuccess: exit === 0, text: `exit ${exit} on ${host}${why}` };
}

/** Default of `--within`: a day and an hour, since a daily job may be an hour late. In ms. */
const DEFAULT_WITHIN_MS = 25 * 3_600_000;

/** The recent runs of the named jobs, read at one revision. */
interface RecentJobs {
  jobs: readonly RecentRuns[];
  revision: bigint;
}

function createRecentRunsCommand<F extends CheckLockFlags>(
  report: (context: CommandContext<F>) => Promise<CheckReport>,
): CommandExecutor<F> {
  return reportErrorsToNagios(
    createStoreCommand<F>(async (context) => printReport(await report(context), context)),
  );
}

/** @param lack  the message if there is no job. @throws SignalboxError 1 then */
function toReport(
  { flags: { within = DEFAULT_WITHIN_MS }, clock }: CommandContext<CheckLockFlags>,
  { jobs, revision }: RecentJobs,
  lack: string,
): CheckReport {
  if (jobs.length === 0) throw new SignalboxError(EXIT.undone, lack);
  const wall = clock.getWallTime();
  const limit = { within, wall };
  const findings = jobs.map((job) => judgeRecentRuns(job, limit));
  const count = (level: string) => findings.filter((finding) => finding.level === level).length;
  const timed = jobs.filter(({ isAtBoot, isUntimed }) => !isAtBoot && !isUntimed);
  const ages = timed.map((job) => computeTimeSinceSuccess(job, limit));
  const oldest: CheckFigure[] =
    ages.length > 0 && ages.every((age) => age !== undefined)
      ? [{ name: "oldest_success", value: Math.max(...ages), unit: "ms", critical: limit.within }]
      : [];
  return {
    findings,
    revision,
    summary: formatSummary(findings),
    figures: [
      { name: "jobs", value: jobs.length },
      { name: "overdue", value: count("failure"), critical: 0 },
      { name: "failed_since", value: count("warning"), warning: 0 },
      ...oldest,
    ],
  };
}

function formatSummary(findings: CheckReport["findings"]): string {
  const [only] = findings;
  if (only !== undefined && findings.length === 1) return `${only.check} ${only.detail}`;
  return `each of ${findings.length} succeeded in time`;
}
