import { EXIT, SignalboxError } from "../../../base/errors.ts";
import { isCompacted } from "../../../etcd/retry.ts";
import type { NamedQueue, Snapshot } from "../../../model/snapshot/snapshot.ts";
import { SnapshotBuilder } from "../../../model/snapshot/snapshot-builder.ts";
import { buildEmptyTableRows } from "../../../model/tables/empty-rows.ts";
import {
  type AnyView,
  CONTEXT_COLLECTIONS,
  type QueueView,
  type ViewContext,
} from "../../../model/views/view.ts";
import { buildViewContext } from "../../../model/views/view-context.ts";
import { load, readPages } from "../../../observe/read.ts";
import type { QueueKind } from "../../../protocol/keys.ts";
import { toQueue } from "../../../protocol/ticket.ts";
import type { KeyValue } from "../../../protocol/txn.ts";
import { readRecordedLocks } from "../../read-snapshot.ts";
import type { CommandContext } from "../../store-command.ts";

/** Rows as they are read, and their common revision. */
export interface ViewRows<R> {
  revision: bigint;
  scene: ViewContext;
  rows: AsyncIterable<R>;
}

/** What to read besides the collections of the view. */
export interface RowsToRead {
  /** Also locks and resources that are free. */
  all: boolean;
  /** Also histories, for columns that draw them. */
  needsHistories: boolean;
}

/**
 * Reads the rows of a view. Rows of queues are read queue by queue, so memory does not depend on their number.
 * @throws StoreError
 */
export async function readViewRows<R>(
  context: CommandContext,
  view: AnyView<R>,
  { all, needsHistories }: RowsToRead,
): Promise<ViewRows<R>> {
  const own = view.of === "queue" ? CONTEXT_COLLECTIONS : view.collections;
  const collections = needsHistories ? [...new Set([...own, "histories" as const])] : own;
  const builder = new SnapshotBuilder(context.keys, collections);
  const revision = await load(context, builder, { signal: context.signal });
  const snapshot = builder.getSnapshot();
  const scene = buildViewContext(snapshot, context.clock.getWallTime());
  if (view.of === "queue")
    return { revision, scene, rows: streamQueueRows(context, view, { snapshot, scene, all }) };
  const rows = view.buildRows(snapshot, scene);
  return {
    revision,
    scene,
    rows: (async function* () {
      yield* rows;
    })(),
  };
}

interface QueueRowContext {
  snapshot: Snapshot;
  scene: ViewContext;
  all: boolean;
}

async function* streamQueueRows<R>(
  context: CommandContext,
  view: QueueView<R>,
  around: QueueRowContext,
): AsyncGenerator<R> {
  for (const kind of ["lock", "resource"] as const) {
    if (!view.collections.includes(`${kind}s`)) continue;
    const seen = new Set<string>();
    for await (const queue of streamQueues(context, kind, around.snapshot.revision)) {
      seen.add(queue.name);
      yield* view.buildRows(queue, around.scene);
    }
    // Only the views of locks and resources have rows for empty queues.
    if (view.hasEmpty)
      yield* buildEmptyTableRows(
        kind,
        seen,
        await readKnownNames(context, kind, around),
        around.scene,
      ) as R[];
  }
}

/** Reads the queues of one kind, one at a time: the keys of a queue are adjacent. */
async function* streamQueues(
  context: CommandContext,
  kind: QueueKind,
  revision: bigint,
): AsyncGenerator<NamedQueue> {
  let name: string | undefined;
  let kvs: KeyValue[] = [];
  const buildQueue = (): NamedQueue[] =>
    name === undefined || kvs.length === 0 ? [] : [{ kind, name, entries: toQueue(kvs) }];
  try {
    for await (const page of readPages(context, context.keys[`${kind}s`](), {
      revision,
      signal: context.signal,
    })) {
      for (const kv of page.kvs) {
        const at = context.keys.parseQueueKey(kv.key);
        if (at?.name !== name) {
          yield* buildQueue();
          [name, kvs] = [at?.name, []];
        }
        kvs.push(kv);
      }
    }
  } catch (error) {
    if (!isCompacted(error)) throw error;
    const message = "etcd was compacted during the read, so the list is incomplete; run the command again";
    throw new SignalboxError(EXIT.changed, message, { cause: error });
  }
  yield* buildQueue();
}

/** Reads the locks with a history, or the configured resources. Returns none without `--all`. */
async function readKnownNames(
  context: CommandContext,
  kind: QueueKind,
  { snapshot, all }: QueueRowContext,
): Promise<Iterable<string>> {
  if (!all) return [];
  return kind === "lock" ? await readRecordedLocks(context, snapshot.revision) : snapshot.resources.keys();
}
