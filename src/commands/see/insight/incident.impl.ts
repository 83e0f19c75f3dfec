import { UsageError } from "../../../base/errors.ts";
import type { TimeSpan } from "../../../model/insight/forecast.ts";
import {
  type IncidentReport,
  listIncidentEntries,
  listProblemTexts,
} from "../../../model/insight/incident.ts";
import { formatIncidentMarkdown } from "../../../model/insight/incident-text.ts";
import { SNAPSHOT_COLLECTIONS } from "../../../model/snapshot/snapshot.ts";
import { findRevisionAt } from "../../../work/observe/past-revision.ts";
import { getTextFlag } from "../../command-line/flags.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { createReadCommand } from "../../read-command.ts";
import { readSnapshotRanges, retryCompacted } from "../../read-snapshot.ts";
import type { Call } from "../../spec.ts";
import type { CommandContext } from "../../store-command.ts";
import { describeAuthor, describeCluster } from "./incident-source.ts";
import { parsePastTime } from "./past-time.ts";
import { readAllOutcomes } from "./read-outcomes.ts";

export const execute = createReadCommand(async (call, io, context) => {
  if (call.flags.json && call.flags.markdown) throw new UsageError("use either --json or --markdown");
  const now = context.clock.getWallTime();
  const span = parseSpan(call, now);
  const title = getTextFlag(call, "title") ?? "Incident";
  const report = await retryCompacted(() => readReport(context, span, { title, isOver: span.until < now }));
  io.writeOutput(call.flags.json ? formatJsonDocument(report) : formatIncidentMarkdown(report));
});

function parseSpan(call: Call, now: number): TimeSpan {
  const start = getTextFlag(call, "from");
  if (start === undefined)
    throw new UsageError("--from is missing: when did it begin? For example --from 2h");
  const end = getTextFlag(call, "to");
  const span = {
    from: parsePastTime("--from", start, now),
    until: end === undefined ? now : parsePastTime("--to", end, now),
  };
  if (span.from >= span.until) throw new UsageError("--from must be before --to");
  return span;
}

async function readReport(
  context: CommandContext,
  span: TimeSpan,
  { title, isOver }: { title: string; isOver: boolean },
): Promise<IncidentReport> {
  const snapshot = await readSnapshotRanges(context, SNAPSHOT_COLLECTIONS);
  const outcomes = await readAllOutcomes(context, snapshot.revision);
  const { entries, notes } = listIncidentEntries({ snapshot, outcomes }, span);
  const start = await readPastProblems(context, span.from);
  const end = isOver ? await readPastProblems(context, span.until) : listProblemTexts(snapshot, span.until);
  const isKnown = start !== undefined && end !== undefined;
  const missing = "etcd has compacted the state of that time, so the problems then are not known";
  return {
    title,
    ...span,
    entries,
    commands: [],
    problemsAtStart: start,
    problemsAtEnd: end,
    cluster: describeCluster(context),
    by: describeAuthor(context),
    notes: isKnown ? notes : [...notes, missing],
  };
}

/** Reads the problems of a past time from the state of etcd then; undefined if that was compacted. */
async function readPastProblems(context: CommandContext, at: number): Promise<string[] | undefined> {
  const found = await findRevisionAt(context, at, context.signal);
  if (found.kind === "tooOld") return undefined;
  return listProblemTexts(await readSnapshotRanges(context, SNAPSHOT_COLLECTIONS, [], found.revision), at);
}
