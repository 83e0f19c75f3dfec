import { EXIT, SignalboxError, UsageError } from "../base/errors.ts";
import { isCompacted } from "../etcd/persist.ts";
import { differences } from "../model/differences.ts";
import { Fold } from "../model/fold.ts";
import type { Picture, Room } from "../model/picture.ts";
import { queueIn } from "../model/picture.ts";
import type { QueueKind } from "../protocol/keys.ts";
import { queueOf } from "../protocol/ticket.ts";
import { load, readAll } from "../work/observe/read.ts";
import type { Desk } from "./with-store.ts";

/** Reads a picture of some rooms as they are now; for a preview, one that is kept up to date will do. @throws StoreError */
export async function pictureOf(desk: Desk, rooms: readonly Room[]): Promise<Picture> {
  if (desk.known !== undefined) return desk.known;
  const fold = new Fold(desk.keys, rooms);
  await load(desk, fold, { signal: desk.signal });
  return fold.picture();
}

/**
 * The picture of some rooms as it was at a revision that the operator saw.
 * @param now  a picture as it is now
 * @throws as `changesSince`
 */
export async function pictureThen(
  desk: Desk,
  rooms: readonly Room[],
  revision: bigint,
  now: Picture,
): Promise<Picture> {
  const fold = new Fold(desk.keys, rooms);
  await remembered(revision, now, () => load(desk, fold, { revision, signal: desk.signal }));
  return fold.picture();
}

/** Everything that decides who holds, who waits and who is next. */
export const QUEUE_ROOMS: readonly Room[] = ["locks", "resources", "resourceConfigs", "groups", "drains"];

/**
 * What has happened in a queue since a revision that the operator saw, as sentences.
 * @throws UsageError for a revision that is still to come; SignalboxError 75 for one that nobody remembers
 */
export async function changesSince(
  desk: Desk,
  picture: Picture,
  queue: { kind: QueueKind; name: string },
  revision: bigint,
): Promise<string[]> {
  const range = desk.keys.queue(queue.kind, queue.name);
  const read = () => readAll(desk, range, { revision, signal: desk.signal });
  const before = queueOf(await remembered(revision, picture, read));
  return differences(before, queueIn(picture, queue.kind, queue.name)?.places ?? []);
}

async function remembered<T>(revision: bigint, now: Picture, read: () => Promise<T>): Promise<T> {
  if (revision > now.revision)
    throw new UsageError(`--expect-revision: ${revision} is still to come, etcd is at ${now.revision}`);
  try {
    return await read();
  } catch (error) {
    if (!isCompacted(error)) throw error;
    throw new SignalboxError(
      EXIT.changed,
      `nothing was done: etcd has forgotten revision ${revision}, so nobody can say what has changed since; look again`,
      { cause: error },
    );
  }
}
