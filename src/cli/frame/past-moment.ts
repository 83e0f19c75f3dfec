import { formatInstant, type WallTime } from "../../core/base/clock.ts";
import {
  findRevisionAt,
  readCurrentRevision,
  readTimeOfRevision,
  type TimedRevision,
} from "../../site/observe/past-revision.ts";
import { countKeys, load, type ReadProgress } from "../../site/observe/read.ts";
import { SNAPSHOT_COLLECTIONS, type Snapshot } from "../../site/state/snapshot.ts";
import { SnapshotBuilder } from "../../site/state/snapshot-builder.ts";
import type { PastTarget } from "./command-line/past-target.ts";
import type { CommandContext } from "./store-command.ts";

/** A past moment, and how exactly it is known. */
export interface PastMoment {
  revision: bigint;
  /** The time that is shown. */
  at: WallTime;
  /** Times of the last change before it, and of the first one after it, as far as they are known. */
  from: WallTime | undefined;
  until: WallTime | undefined;
}

/** Why there is no state of a wanted moment. The message is a sentence for the user. */
export class PastRefusal extends Error {}

/** Finds the moment of a time or revision. @throws PastRefusal; StoreError; the signal's reason */
export async function findPastMoment(
  context: CommandContext,
  target: PastTarget,
  signal: AbortSignal,
): Promise<PastMoment> {
  if ("revision" in target) {
    const current = await readCurrentRevision(context, signal);
    if (target.revision > current)
      throw new PastRefusal(`there is no revision ${target.revision} yet: etcd is at ${current}`);
    return await readMoment(context, target.revision, signal);
  }
  const { at } = target;
  const found = await findRevisionAt(context, at, signal);
  if (found.kind === "tooOld") throw new PastRefusal(describeTooOld(formatInstant(at), found.oldest));
  const { revision, from, until } = found;
  return { revision, at, from, until };
}

/** Reads the moment of a revision. Its time is that of the last change in it. */
export async function readMoment(
  context: CommandContext,
  revision: bigint,
  signal: AbortSignal,
): Promise<PastMoment> {
  const { at } = await readTimeOfRevision(context, revision, signal);
  return { revision, at: at ?? context.clock.getWallTime(), from: at, until: undefined };
}

/** Reads the whole state at a moment. @throws StoreError, also if etcd has compacted it; the signal's reason */
export async function readPastSnapshot(
  context: CommandContext,
  { revision }: PastMoment,
  signal: AbortSignal,
  onProgress: (progress: ReadProgress) => void = () => {},
): Promise<Snapshot> {
  const builder = new SnapshotBuilder(context.keys, SNAPSHOT_COLLECTIONS);
  let total: number | undefined;
  const onPage = () => onProgress({ read: builder.revisions.size, total });
  countKeys(context, builder.ranges, { revision, signal }).then(
    (count) => {
      total = count;
      onPage();
    },
    () => {}, // what prevents it prevents the read too
  );
  await load(context, builder, { revision, signal, onPage });
  return builder.getSnapshot();
}

/** Says what the oldest available state is. Earlier queues are stored nowhere. */
export function describeTooOld(what: string, { revision, at }: TimedRevision): string {
  const since = at === undefined ? "" : ` of ${formatInstant(at)}`;
  return `etcd has compacted ${what}: the oldest state is revision ${revision}${since}; see History and Audit`;
}
