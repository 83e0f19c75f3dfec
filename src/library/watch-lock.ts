import { validateName } from "../protocol/names.ts";
import type { QueueEntry } from "../protocol/ticket.ts";
import { followEtcd } from "../work/observe/follow.ts";
import { QueueSink } from "../work/observe/queue-sink.ts";
import type { LibraryConnection } from "./connection.ts";
import { ClosedError, translated } from "./errors.ts";
import { parseOptions, SIGNAL } from "./options-schema.ts";
import type { LockHolder, WatchOptions } from "./types.ts";

/** Yields the holder of a lock, now and after each change. @throws the same errors as `Signalbox.watchLock` */
export async function* watchLock(
  connection: LibraryConnection,
  lock: string,
  options: WatchOptions,
): AsyncGenerator<LockHolder | undefined, never> {
  const { signal } = parseOptions("watchLock", options, { signal: SIGNAL });
  validateName("lock", lock);
  const closing = new AbortController();
  const watch = { close: async () => closing.abort(new ClosedError("the connection was closed")) };
  connection.adopt(watch);
  try {
    const either = AbortSignal.any([closing.signal, ...(signal === undefined ? [] : [signal])]);
    yield* followHolder(connection, lock, either);
    throw new ClosedError("a watch never ends by itself");
  } finally {
    connection.drop(watch);
    closing.abort(new ClosedError("nobody watches any more"));
  }
}

async function* followHolder(
  { ports }: LibraryConnection,
  lock: string,
  signal: AbortSignal,
): AsyncGenerator<LockHolder | undefined, void> {
  const sink = new QueueSink(ports.keys.getQueueRange("lock", lock));
  const following = followEtcd(ports, sink, signal);
  let last: string | undefined;
  for (;;) {
    const { value: event } = await translated(() => following.next());
    if (event?.kind === "away") continue;
    const holder = toLockHolder(sink.findHolder());
    const token = holder?.token ?? "";
    if (token === last) continue;
    last = token;
    yield holder;
  }
}

function toLockHolder(entry: QueueEntry | undefined): LockHolder | undefined {
  if (entry?.ticket === undefined) return undefined;
  const { run, host, pid, user, label } = entry.ticket;
  return { token: String(entry.createRevision), run, host, pid, user, label };
}
