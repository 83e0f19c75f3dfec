import { EXIT, SignalboxError, UsageError } from "../base/errors.ts";
import { isCompacted } from "../etcd/retry.ts";
import type { Collection, Snapshot } from "../model/snapshot/snapshot.ts";
import { SnapshotBuilder } from "../model/snapshot/snapshot-builder.ts";
import { load } from "../work/observe/read.ts";
import type { CommandContext } from "./store-command.ts";

/**
 * Reads the current snapshot of some collections. For a preview, an existing up-to-date snapshot is used.
 * @throws StoreError
 */
export async function readSnapshot(
  context: CommandContext,
  collections: readonly Collection[],
): Promise<Snapshot> {
  if (context.knownSnapshot !== undefined) return context.knownSnapshot;
  const builder = new SnapshotBuilder(context.keys, collections);
  await load(context, builder, { signal: context.signal });
  return builder.getSnapshot();
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
  const builder = new SnapshotBuilder(context.keys, collections);
  await readAtRevision(revision, now, () => load(context, builder, { revision, signal: context.signal }));
  return builder.getSnapshot();
}

/** The collections that decide who holds, who waits and who is next. */
export const QUEUE_COLLECTIONS: readonly Collection[] = [
  "locks",
  "resources",
  "resourceConfigs",
  "groups",
  "drains",
];

async function readAtRevision<T>(revision: bigint, now: Snapshot, read: () => Promise<T>): Promise<T> {
  if (revision > now.revision)
    throw new UsageError(
      `--expect-revision must not be in the future: etcd is at revision ${now.revision}; got ${revision}`,
    );
  try {
    return await read();
  } catch (error) {
    if (!isCompacted(error)) throw error;
    throw new SignalboxError(
      EXIT.changed,
      `nothing was done: etcd has compacted revision ${revision}, so later changes are unknown; run with --dry-run again`,
      { cause: error },
    );
  }
}
