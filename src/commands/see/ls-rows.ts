import { EXIT, SignalboxError } from "../../base/errors.ts";
import { isCompacted } from "../../etcd/persist.ts";
import { Fold } from "../../model/fold.ts";
import type { NamedQueue, Picture } from "../../model/picture.ts";
import { emptyLines } from "../../model/tables/empty-lines.ts";
import { sceneOf } from "../../model/tables/scene.ts";
import { type AnyView, type QueueView, SCENE_ROOMS, type Scene } from "../../model/tables/view.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import { queueOf } from "../../protocol/ticket.ts";
import type { KeyValue } from "../../protocol/txn.ts";
import { load, pages } from "../../work/observe/read.ts";
import type { Desk } from "../with-store.ts";

/** Rows as they come, and the revision that all of them are true at. */
export interface Reading<R> {
  revision: bigint;
  scene: Scene;
  rows: AsyncIterable<R>;
}

/** Reads the rows of a view. Those of queues come queue by queue, so their number does not matter. @throws StoreError */
export async function readRows<R>(desk: Desk, view: AnyView<R>, all: boolean): Promise<Reading<R>> {
  const rooms = view.of === "queue" ? SCENE_ROOMS : view.rooms;
  const fold = new Fold(desk.keys, rooms);
  const revision = await load(desk, fold, { signal: desk.signal });
  const picture = fold.picture();
  const scene = sceneOf(picture, desk.clock.wall());
  if (view.of === "queue") return { revision, scene, rows: queueRows(desk, view, { picture, scene, all }) };
  const rows = view.rows(picture, scene);
  return {
    revision,
    scene,
    rows: (async function* () {
      yield* rows;
    })(),
  };
}

interface Around {
  picture: Picture;
  scene: Scene;
  all: boolean;
}

async function* queueRows<R>(desk: Desk, view: QueueView<R>, around: Around): AsyncGenerator<R> {
  for (const kind of ["lock", "resource"] as const) {
    if (!view.rooms.includes(`${kind}s`)) continue;
    const seen = new Set<string>();
    for await (const queue of queuesOf(desk, kind, around.picture.revision)) {
      seen.add(queue.name);
      yield* view.rows(queue, around.scene);
    }
    // Only views of locks and resources themselves have rows for queues in which nobody stands.
    if (view.hasEmpty)
      yield* emptyLines(kind, seen, await knownNames(desk, kind, around), around.scene) as R[];
  }
}

/** Queues of one kind, each whole: the keys of one stand together. */
async function* queuesOf(desk: Desk, kind: QueueKind, revision: bigint): AsyncGenerator<NamedQueue> {
  let name: string | undefined;
  let kvs: KeyValue[] = [];
  const whole = (): NamedQueue[] =>
    name === undefined || kvs.length === 0 ? [] : [{ kind, name, places: queueOf(kvs) }];
  try {
    for await (const page of pages(desk, desk.keys[`${kind}s`](), { revision, signal: desk.signal })) {
      for (const kv of page.kvs) {
        const at = desk.keys.queueAt(kv.key);
        if (at?.name !== name) {
          yield* whole();
          [name, kvs] = [at?.name, []];
        }
        kvs.push(kv);
      }
    }
  } catch (error) {
    throw isCompacted(error) ? overtaken(error) : error;
  }
  yield* whole();
}

function overtaken(cause: unknown): SignalboxError {
  const message = "etcd was compacted while it was read, so not all of it can be shown; try again";
  return new SignalboxError(EXIT.changed, message, { cause });
}

/** Locks that are remembered, resources that are configured; none where not all are wanted. */
async function knownNames(desk: Desk, kind: QueueKind, { picture, all }: Around): Promise<Iterable<string>> {
  if (!all) return [];
  return kind === "lock" ? await rememberedLocks(desk, picture.revision) : picture.resources.keys();
}

async function rememberedLocks(desk: Desk, revision: bigint): Promise<string[]> {
  const names: string[] = [];
  const options = { revision, keysOnly: true, signal: desk.signal };
  for await (const { kvs } of pages(desk, desk.keys.histories(), options)) {
    for (const { key } of kvs) {
      const parsed = desk.keys.parse(key);
      if (parsed.kind === "history") names.push(parsed.name);
    }
  }
  return names;
}
