import type { EndedRun, RecentRuns } from "../../../model/checks/recent-runs.ts";
import { findNamedQueue, type Snapshot } from "../../../model/snapshot/snapshot.ts";
import { isHolding } from "../../../protocol/admission.ts";
import type { PastRun } from "../../../protocol/history.ts";
import { validateName } from "../../../protocol/names.ts";
import { readSnapshotRanges, toSingleKeyRange } from "../../read-snapshot.ts";
import type { Call } from "../../spec.ts";
import type { CommandContext } from "../../store-command.ts";
import { createRecentRunsCommand, type RecentJobs } from "./recent-report.ts";

export const execute = createRecentRunsCommand(readLocks);

async function readLocks(context: CommandContext, { args }: Call): Promise<RecentJobs> {
  const names = [...new Set(args.map((name) => validateName("lock", name)))];
  const ranges = names.flatMap((name) => [
    toSingleKeyRange(context.keys.history(name)),
    context.keys.getQueueRange("lock", name),
  ]);
  const snapshot = await readSnapshotRanges(context, [], ranges);
  return { jobs: names.map((name) => toRecentRuns(snapshot, name)), revision: snapshot.revision };
}

function toRecentRuns(snapshot: Snapshot, name: string): RecentRuns {
  const holder = findNamedQueue(snapshot, "lock", name)?.entries.find(isHolding);
  const isRunning = holder !== undefined && holder.ticket?.state !== "grace";
  return {
    kind: "lock",
    name,
    runs: (snapshot.histories.get(name) ?? []).map(toEndedRun),
    runningSince: isRunning ? holder.ticket?.grantedAt : undefined,
  };
}

function toEndedRun({ endedAt, exit, host, reason }: PastRun): EndedRun {
  const why = reason === undefined ? "" : ` (${reason})`;
  return { endedAt, isSuccess: exit === 0, text: `exit ${exit} on ${host}${why}` };
}
