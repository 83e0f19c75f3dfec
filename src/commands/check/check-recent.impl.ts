import { EXIT, SignalboxError, UsageError } from "../../base/errors.ts";
import type { EndedRun, RecentRuns } from "../../model/checks/recent-runs.ts";
import type { Snapshot } from "../../model/snapshot/snapshot.ts";
import { validateName } from "../../protocol/names.ts";
import { type Definition, isPaused } from "../../schedule/definition.ts";
import { parsePlan } from "../../schedule/plan/plan.ts";
import type { DueState } from "../../schedule/state/due.ts";
import { type OccurrenceOutcome, parseOutcomes } from "../../schedule/state/outcome.ts";
import { getListFlag } from "../command-line/flags.ts";
import { readSnapshotRanges, throwUnknownName, toSingleKeyRange } from "../read-snapshot.ts";
import type { Call } from "../spec.ts";
import type { CommandContext } from "../store-command.ts";
import { createRecentRunsCommand, type RecentJobs } from "./recent/recent-report.ts";

export const execute = createRecentRunsCommand(readSchedules);

/** @throws SignalboxError 1 for a schedule that does not exist */
async function readSchedules(context: CommandContext, call: Call): Promise<RecentJobs> {
  const given = [...new Set(call.args.map((name) => validateName("schedule", name)))];
  const tags = getListFlag(call, "tag");
  if (call.flags.all === true || tags.length > 0) return await readSelected(context, given, tags);
  if (given.length === 0) throw new UsageError("ID is missing; name schedules, or use --tag or --all");
  return await readNamed(context, given);
}

/** Reads all schedules, and selects named ones and those with these tags. */
async function readSelected(
  context: CommandContext,
  given: readonly string[],
  tags: readonly string[],
): Promise<RecentJobs> {
  const more = [context.keys.getOutcomesRange()];
  const snapshot = await readSnapshotRanges(context, ["schedules", "dues", "runnings"], more);
  const wall = context.clock.getWallTime();
  const selected = [...snapshot.schedules].flatMap(([name, { value }]) =>
    value !== undefined && isCheckable(value, wall) && tags.every((tag) => value.tags?.includes(tag))
      ? [name]
      : [],
  );
  const unknown = given.find((name) => !snapshot.schedules.has(name));
  if (unknown !== undefined) return throwUnknownName("schedule", unknown, snapshot.schedules.keys());
  const names = [...new Set([...given, ...selected])].sort();
  if (names.length === 0)
    throw new SignalboxError(EXIT.undone, "no schedule is selected; see: signalbox ls schedules");
  return { jobs: names.map((name) => toRecentRuns(snapshot, name)), revision: snapshot.revision };
}

/** Whether a schedule runs by itself, and again. */
function isCheckable(definition: Definition, wall: number): boolean {
  const { cron, removeAfter } = definition;
  return parsePlan(cron).kind !== "manual" && removeAfter === undefined && !isPaused(definition, wall);
}

async function readNamed(context: CommandContext, names: readonly string[]): Promise<RecentJobs> {
  const { keys } = context;
  const ranges = names.flatMap((name) => [
    ...[keys.schedule(name), keys.due(name), keys.running(name), keys.outcomes(name)].map(toSingleKeyRange),
    keys.getOccurrenceRange(name),
  ]);
  const snapshot = await readSnapshotRanges(context, [], ranges);
  const unknown = names.find((name) => !snapshot.schedules.has(name));
  if (unknown !== undefined) {
    const all = await readSnapshotRanges(context, ["schedules"], [], snapshot.revision);
    return throwUnknownName("schedule", unknown, all.schedules.keys());
  }
  return { jobs: names.map((name) => toRecentRuns(snapshot, name)), revision: snapshot.revision };
}

/** Lists the runs of a schedule. The last result of the state is included even if its outcomes were lost. */
function toRecentRuns(snapshot: Snapshot, name: string): RecentRuns {
  const due = snapshot.dues.get(name)?.value;
  const last = due?.last;
  const outcomes = parseOutcomes(snapshot.outcomes.get(name)).runs;
  const runs = outcomes.filter(({ result }) => result !== "skipped");
  const isKnown = last === undefined || runs.some(({ run }) => run === last.run);
  const [oldest] = snapshot.executions.get(name) ?? [];
  return {
    kind: "schedule",
    name,
    runningSince: oldest?.value?.since,
    firstDue: outcomes.length === 0 ? due && findFirstDue(due) : undefined,
    runs: [...(isKnown || last === undefined ? [] : [last]), ...runs].map(toEndedRun),
  };
}

/** Returns when the first run of a schedule without outcomes is or was due; undefined if none is. */
function findFirstDue({ next, runAt, open }: DueState): number | undefined {
  const times = [...open.map((one) => one.runAt), ...(next === undefined ? [] : [runAt])];
  return times.length === 0 ? undefined : Math.min(...times);
}

function toEndedRun(outcome: Pick<OccurrenceOutcome, "endedAt" | "result" | "host" | "code">): EndedRun {
  const { endedAt, result, host, code } = outcome;
  const exit = code === undefined ? "" : ` with exit ${code}`;
  const where = host === undefined ? "" : ` on ${host}`;
  return { endedAt, isSuccess: result === "ok", text: `${result}${exit}${where}` };
}
