import type { WallTime } from "../../core/base/clock.ts";
import { EXIT, SignalboxError, UsageError } from "../../core/base/errors.ts";
import { findNearest, quoteText } from "../../core/base/text.ts";
import { isCompacted } from "../../core/etcd/store.ts";
import { formatAuditTime } from "../../core/protocol/audit.ts";
import type { KeyRange } from "../../core/protocol/txn.ts";
import { mergeOutcomes } from "../../schedule/state/host-states.ts";
import { type OutcomeHistory, parseOutcomes } from "../../schedule/state/outcome.ts";
import { findSchemaFault } from "../../site/check/schema.ts";
import { load, readAll, readPages } from "../../site/observe/read.ts";
import {
  type RunnerKey,
  readRunnerLiveness,
  selectFirstSessions,
} from "../../site/observe/runner-liveness.ts";
import { type Claim, type ClaimIndex, findClaimsByWord } from "../../site/state/claims.ts";
import type { SessionLivenessMap } from "../../site/state/explain.ts";
import type { Collection, Snapshot } from "../../site/state/snapshot.ts";
import { SnapshotBuilder } from "../../site/state/snapshot-builder.ts";
import { formatTicketOwner } from "../views/claims.ts";
import type { CommandExecutor } from "./command.ts";
import { type CommandContext, createStoreCommand, type StoreWork } from "./store-command.ts";

/** Largest number of sessions to check; more would take too long. */
const MOST_SESSIONS = 50;

/** How often a read in several steps is started, if its revision is compacted in between. */
const MAX_READ_TRIES = 3;

/** How far back audit records are read, in ms. */
const AUDIT_SPAN = 30 * 86_400_000;

/**
 * Reads the current snapshot of some collections. For a preview, an existing up-to-date snapshot is used.
 * @throws StoreError
 */
export async function readSnapshot(
  context: CommandContext,
  collections: readonly Collection[],
): Promise<Snapshot> {
  return context.knownSnapshot ?? (await readSnapshotRanges(context, collections));
}

/**
 * Reads the snapshot of some collections at a revision that the operator saw.
 * @param now  a current snapshot
 * @throws UsageError for a revision in the future; SignalboxError 75 for a compacted revision
 */
export async function readSnapshotAt(
  context: CommandContext,
  collections: readonly Collection[],
  revision: bigint,
  now: Snapshot,
): Promise<Snapshot> {
  return await readAtRevision(revision, now.revision, () =>
    readSnapshotRanges(context, collections, [], revision),
  );
}

/**
 * Reads at a revision that the operator saw.
 * @param now  the current revision
 * @throws UsageError for a revision in the future; SignalboxError 75 for a compacted revision
 */
export async function readAtRevision<T>(revision: bigint, now: bigint, read: () => Promise<T>): Promise<T> {
  checkPastRevision("--expect-revision", revision, now);
  try {
    return await read();
  } catch (error) {
    if (!isCompacted(error)) throw error;
    throw new SignalboxError(
      EXIT.changed,
      `nothing was changed: etcd has compacted revision ${revision}, so later changes are unknown; run with --dry-run again`,
      { cause: error },
    );
  }
}

/** @param now  the current revision. @throws UsageError for a revision in the future */
export function checkPastRevision(flag: string, revision: bigint, now: bigint): void {
  if (revision > now)
    throw new UsageError(`${flag} must not be in the future: etcd is at revision ${now}; got ${revision}`);
}

/** The collections that decide what is held in the scope of a drain. */
export const SCOPE_COLLECTIONS: readonly Collection[] = [
  "locks",
  "resources",
  "runnings",
  "groups",
  "drains",
];

/** The collections that decide who holds, who waits and who is next. */
export const QUEUE_COLLECTIONS: readonly Collection[] = [
  "locks",
  "resources",
  "resourceConfigs",
  "groups",
  "drains",
];

/**
 * Reads collections, and key ranges of others, at one revision.
 * @param revision  that of an earlier read; undefined for the current one
 */
export async function readSnapshotRanges(
  context: CommandContext,
  collections: readonly Collection[],
  more: readonly Required<KeyRange>[] = [],
  revision?: bigint,
): Promise<Snapshot> {
  if (context.followedSnapshot !== undefined) return context.followedSnapshot;
  const builder = new SnapshotBuilder(context.keys, collections, more);
  await load(context, builder, { signal: context.signal, revision });
  return builder.getSnapshot();
}

/** Reads in several steps, and starts again if a compaction comes between them. @throws StoreError */
export async function retryCompacted<T>(read: () => Promise<T>): Promise<T> {
  for (let left = MAX_READ_TRIES; ; left -= 1) {
    try {
      return await read();
    } catch (error) {
      if (!isCompacted(error) || left <= 1) throw error;
    }
  }
}

/** Reads the liveness of the runners of these tickets from their sessions; of many, only the first ones. */
export function readEntryLiveness(
  context: CommandContext,
  entries: readonly RunnerKey[],
): Promise<SessionLivenessMap> {
  return readRunnerLiveness(context, selectFirstSessions(entries, MOST_SESSIONS), context.signal);
}

/** Reads the names of the locks that have a history. @param revision  that of an earlier read */
export async function readRecordedLocks(context: CommandContext, revision?: bigint): Promise<string[]> {
  if (context.followedSnapshot !== undefined) return [...context.followedSnapshot.histories.keys()];
  const options = { keysOnly: true, signal: context.signal, revision };
  const kvs = await readAll(context, context.keys.histories(), options);
  return kvs.flatMap(({ key }) => {
    const parsed = context.keys.parse(key);
    return parsed.kind === "history" ? [parsed.name] : [];
  });
}

/** Returns the range of recent audit records. Their ids are in the order of time. */
export function buildRecentAuditRange({ keys, clock }: CommandContext): Required<KeyRange> {
  const { rangeEnd } = keys.audits();
  return { key: keys.audit(formatRecentAuditStart(clock.getWallTime())), rangeEnd };
}

/** Formats the lowest id that a recent audit record can have. */
function formatRecentAuditStart(wall: WallTime): string {
  return formatAuditTime(wall - AUDIT_SPAN);
}

/** Leaves out audit records that are not recent, as reads of details do. */
export function selectRecentAudit(snapshot: Snapshot, wall: WallTime): Snapshot {
  const start = formatRecentAuditStart(wall);
  return { ...snapshot, audit: new Map([...snapshot.audit].filter(([id]) => id >= start)) };
}

/** @throws SignalboxError 1 with a suggestion */
export function throwUnknownName(kind: string, name: string, known: Iterable<string>, more = ""): never {
  const meant = findNearest(name, known);
  const hint = meant === undefined ? `see: signalbox ls ${kind}s` : `did you mean ${quoteText(meant)}?`;
  throw new SignalboxError(EXIT.undone, `there is no ${kind} ${quoteText(name)}${more}; ${hint}`);
}

/**
 * Finds the claim that a word matches; undefined if it matches none.
 * @throws SignalboxError 1 if there are several
 */
export function findOnlyClaim(word: string, among: ClaimIndex): Claim | undefined {
  const claims = findClaimsByWord(among, word);
  if (claims.length < 2) return claims[0];
  const names = claims
    .slice(0, 5)
    .map(({ run, entries: [first] }) => `${run}${first && ` (${formatTicketOwner(first.entry)})`}`);
  throw new SignalboxError(
    EXIT.undone,
    `${quoteText(word)} matches ${claims.length} runs: ${names.join(", ")}; type more characters of the id`,
  );
}

export type OutcomeHistories = ReadonlyMap<string, OutcomeHistory>;

/** Reads the outcome histories of all schedules by id, page by page, without output. @throws StoreError */
export async function readAllOutcomes(
  context: CommandContext,
  revision?: bigint,
): Promise<Map<string, OutcomeHistory>> {
  const outcomes = await readOutcomes(context, [context.keys.outcomeHistories()], revision, context.signal);
  return new Map([...outcomes].map(([id, history]) => [id, removeTails(history)]));
}

/** Reads the outcome histories in ranges, page by page; those of the hosts of a schedule as one. @throws StoreError */
export async function readOutcomes(
  context: CommandContext,
  ranges: readonly Required<KeyRange>[],
  revision: bigint | undefined,
  signal: AbortSignal,
): Promise<OutcomeHistories> {
  const parts = new Map<string, OutcomeHistory[]>();
  for (const range of ranges)
    for await (const { kvs } of readPages(context, range, { revision, signal }))
      for (const { key, value } of kvs) {
        const parsed = context.keys.parse(key);
        if (parsed.kind !== "outcomes") continue;
        const histories = parts.get(parsed.name) ?? [];
        histories.push(parseOutcomes(value));
        parts.set(parsed.name, histories);
      }
  return new Map([...parts].map(([name, histories]) => [name, mergeOutcomes(histories)]));
}

/** Removes the output: it is the largest part, and no summary uses it. */
function removeTails({ runs, dead }: OutcomeHistory): OutcomeHistory {
  const removeTail = <T extends { tail?: string }>({ tail: _, ...rest }: T) => rest;
  return { runs: runs.map(removeTail), dead: dead.map(removeTail) };
}

/** Creates a command that shows what etcd contains. It warns if newer programs may have written more than it knows. */
export function createReadCommand<F extends object>(work: StoreWork<F>): CommandExecutor<F> {
  return createStoreCommand(async (context) => {
    const [exitCode] = await Promise.all([work(context), warnOfNewerSchema(context)]);
    return exitCode;
  });
}

/** Never rejects: what prevents this read prevents the command too, and is reported there. */
async function warnOfNewerSchema(context: CommandContext): Promise<void> {
  const fault = await findSchemaFault(context, context.signal).catch(() => undefined);
  if (fault !== undefined) context.printMessage(`this may be incomplete: ${fault}`);
}
