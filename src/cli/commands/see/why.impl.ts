import { clean, findNameFault, quoteText } from "../../../core/base/text.ts";
import { isHolding } from "../../../core/protocol/admission.ts";
import { formatAuditTime } from "../../../core/protocol/audit.ts";
import { validateName } from "../../../core/protocol/names.ts";
import { toSingleKeyRange } from "../../../core/protocol/txn.ts";
import { NO_OUTCOMES } from "../../../schedule/state/outcome.ts";
import { type Claim, type ClaimIndex, followClaims } from "../../../site/state/claims.ts";
import { explain } from "../../../site/state/explain.ts";
import { findNamedQueue, type Snapshot } from "../../../site/state/snapshot.ts";
import {
  explainLockAt,
  explainScheduleAt,
  findMainReason,
  type PastReason,
} from "../../../site/state/why-then.ts";
import type { WrittenPastTime } from "../../frame/command-line/instant.ts";
import { printResult } from "../../frame/json-output.ts";
import {
  createReadCommand,
  findOnlyClaim,
  QUEUE_COLLECTIONS,
  readEntryLiveness,
  readSnapshotRanges,
  retryCompacted,
  throwUnknownName,
} from "../../frame/read-snapshot.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import { formatTicketOwner } from "../../views/claims.ts";
import { formatExplanation } from "../../views/explanation.ts";
import { wrapProseLines } from "./detail.ts";
import { detectOutputStyle } from "./paint.ts";
import type { WhyFlags } from "./show.ts";
import { addHistories, listConcernedEntries, readLockSnapshot, toExplanationJson } from "./show-json.ts";

/** Largest number of waiting runs of a queue to explain; runs further back have the same reasons. */
const MAX_EXPLAINED_RUNS = 3;

/** The waiting runs that a word matches, and notes about them. */
interface WordMatch {
  claims: readonly Claim[];
  notes: readonly string[];
}

export const execute = createReadCommand<WhyFlags>(async (context) => {
  const [word = ""] = context.args;
  const time = context.flags.at;
  if (time !== undefined) return await printWhyAt(context, time);
  const { snapshot, claims, notes } = await retryCompacted(() => readMatch(context, word));
  const wall = context.clock.getWallTime();
  const explanations = claims.map((claim) => explain(snapshot, claim, wall));
  const liveness = await readEntryLiveness(context, listConcernedEntries(explanations));
  const documents = explanations.map((one) => toExplanationJson(one, liveness));
  printResult(context, { revision: snapshot.revision, explanations: documents, notes }, () => {
    const lines = explanations.flatMap((one) => formatExplanation(one, { wall, sessions: liveness }));
    const style = detectOutputStyle(context.io);
    return `${wrapProseLines([...lines, ...notes], style).join("\n")}\n`;
  });
  return undefined;
});

/** Reads the necessary snapshot and finds what the word matches. */
async function readMatch(context: CommandContext, word: string): Promise<WordMatch & { snapshot: Snapshot }> {
  const near = findNameFault(word) === undefined ? await readLockSnapshot(context, word) : undefined;
  if (near !== undefined) return { ...(await matchWord(context, near, word)), snapshot: near };
  const all = await readSnapshotRanges(context, QUEUE_COLLECTIONS);
  const found = await matchWord(context, all, word);
  return { ...found, snapshot: await addHistories(context, all, found.claims) };
}

/**
 * Finds the runs that a word matches: those that wait for a lock or resource of this name, otherwise the run with this
 * name.
 */
async function matchWord(context: CommandContext, snapshot: Snapshot, word: string): Promise<WordMatch> {
  const all = followClaims(snapshot);
  const queues = (["lock", "resource"] as const).map((kind) => findWaiters(snapshot, all, kind, word));
  if (queues.some((queue) => queue !== undefined)) {
    return {
      claims: [...new Set(queues.flatMap((queue) => queue?.claims ?? []))],
      notes: queues.flatMap((queue) => queue?.notes ?? []),
    };
  }
  const claim = findOnlyClaim(word, all);
  if (claim !== undefined) return { claims: [claim], notes: [] };
  const free = await explainFree(context, snapshot, word);
  if (free !== undefined) return { claims: [], notes: [free] };
  const names = [...snapshot.queues.values()].map(({ name }) => name);
  return throwUnknownName(
    "run",
    word,
    names,
    ", and no lock or resource has this name (for a schedule, add --at TIME)",
  );
}

/** Finds the runs that wait for a lock or resource; undefined if its queue is empty. */
function findWaiters(
  snapshot: Snapshot,
  claims: ClaimIndex,
  kind: "lock" | "resource",
  name: string,
): WordMatch | undefined {
  const queue = findNamedQueue(snapshot, kind, name);
  if (queue === undefined) return undefined;
  const waiting = queue.entries.filter((entry) => !isHolding(entry));
  const found = [...new Set(waiting.map(({ run }) => run))].flatMap((run) => claims.get(run) ?? []);
  const holders = queue.entries.filter(isHolding);
  const who = holders.length === 1 && holders[0] ? formatTicketOwner(holders[0]) : `${holders.length} runs`;
  if (found.length === 0)
    return { claims: [], notes: [`nobody waits for ${kind} ${quoteText(name)}; it is held by ${who}`] };
  const more = found.length - MAX_EXPLAINED_RUNS;
  const notes =
    more > 0 ? [`and ${more} more ${more === 1 ? "waits" : "wait"} for ${kind} ${quoteText(name)}`] : [];
  return { claims: found.slice(0, MAX_EXPLAINED_RUNS), notes };
}

/** Describes a lock or resource that is known but has an empty queue. */
async function explainFree(
  context: CommandContext,
  snapshot: Snapshot,
  word: string,
): Promise<string | undefined> {
  if (findNameFault(word) !== undefined) return undefined;
  const { revision } = snapshot;
  const { histories } = await readSnapshotRanges(
    context,
    [],
    [toSingleKeyRange(context.keys.history(word))],
    revision,
  );
  const drain = [...snapshot.drains.values()].find(
    ({ scope, name }) => name === word && (scope === "lock" || scope === "resource"),
  );
  const kind =
    drain?.scope ?? (snapshot.resources.has(word) ? "resource" : histories.size > 0 ? "lock" : undefined);
  if (kind === undefined) return undefined;
  const drained = drain === undefined ? "" : `; it is drained by ${drain.by}`;
  return `nobody waits for ${kind} ${quoteText(word)}, and nobody holds it${drained}`;
}

/** How far before the time actions of operators are read, ms: a drain may be that old. */
const AUDIT_BEFORE = 30 * 86_400_000;

/**
 * Prints why a schedule or lock did not run at a time, as history shows it.
 * @throws UsageError; SignalboxError 1 if neither a schedule nor the history of a lock has this name; StoreError
 */
async function printWhyAt(context: CommandContext<WhyFlags>, time: WrittenPastTime): Promise<undefined> {
  const name = validateName("schedule", context.args[0] ?? "");
  const at = time(context.clock.getWallTime());
  const snapshot = await readPast(context, name, at);
  const definition = snapshot.schedules.get(name)?.value;
  const hasLock = snapshot.histories.has(name);
  if (definition === undefined && !hasLock)
    throwUnknownName("schedule", name, [], ", and no lock of this name has recorded runs");
  const { runs } = snapshot.outcomes.get(name) ?? NO_OUTCOMES;
  const due = snapshot.dues.get(name)?.value;
  const reasons: PastReason[] = [
    ...(definition === undefined
      ? []
      : explainScheduleAt({ id: name, definition, due, runs, calendars: snapshot.calendars }, at, snapshot)),
    ...(hasLock ? explainLockAt(name, at, snapshot) : []),
  ];
  const { revision } = snapshot;
  const document = { revision, at, main: findMainReason(reasons)?.text ?? null, reasons };
  printResult(context, document, () => `${reasons.map(({ text }) => clean(text)).join("\n")}\n`);
}

function readPast(context: CommandContext, name: string, at: number) {
  const { keys } = context;
  const audits = { key: keys.audit(formatAuditTime(at - AUDIT_BEFORE)), rangeEnd: keys.audits().rangeEnd };
  const own = [...keys.listScheduleRanges(name), toSingleKeyRange(keys.history(name))];
  return readSnapshotRanges(context, ["drains", "calendars", "groups"], [audits, ...own]);
}
