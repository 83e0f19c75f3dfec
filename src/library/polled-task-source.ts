import * as v from "valibot";
import { addMs, mergeSignals, NEVER, subtractTime } from "../core/base/clock.ts";
import { pickDefined } from "../core/base/pick-defined.ts";
import { VERSION } from "../core/base/version.ts";
import { getScheduleType } from "../schedule/definition.ts";
import type { Hooks } from "../worker/hooks/hooks.ts";
import type { PolledTask } from "../worker/polling/polled-task.ts";
import { Poller } from "../worker/polling/poller.ts";
import { mergeOwnInput } from "../worker/tasks/running-task.ts";
import { ClosableWait, type LibraryConnection, translated } from "./connection.ts";
import { ClosedError } from "./errors.ts";
import { DURATION, parseArgument, parseOptions, SIGNAL, WAIT } from "./options-schema.ts";
import type { Duration, PollOptions, PollWaitOptions, Task, TaskSource } from "./types.ts";
import { buildCheckpointFacts, checkResult, describeFailure, findJobTrace } from "./worker-handlers.ts";

/**
 * The schedules that a connection has changed and one source of tasks has not read since. A source receives changes from its
 * watch, possibly after the call that made them has returned.
 */
export class UnreadChanges {
  readonly #changed = new Map<string, number>();
  #count = 0;
  #asked = 0;

  /** Records that a schedule was changed, or may have been. */
  record(id: string): void {
    this.#count += 1;
    this.#changed.set(id, this.#count);
  }

  listIds(): string[] {
    this.#asked = this.#count;
    return [...this.#changed.keys()];
  }

  /** Removes schedules that have been read, unless they were changed again since they were listed. */
  forget(ids: readonly string[]): void {
    for (const id of ids) if ((this.#changed.get(id) ?? 0) <= this.#asked) this.#changed.delete(id);
  }
}

const WAIT_OPTIONS = { signal: SIGNAL, wait: v.optional(WAIT, 0) };

/**
 * Opens a source of tasks and registers it with the connection. If it has lost its session, the next poll opens another one.
 * @param changes  of all sources of the connection
 * @throws UnreachableError, ConfigError
 */
export async function openTaskSource(
  connection: LibraryConnection,
  options: PollOptions,
  changes: Set<UnreadChanges>,
): Promise<TaskSource> {
  connection.checkOpen();
  const { aliveTime } = parseOptions("open", options, { aliveTime: v.optional(DURATION) });
  const unread = new UnreadChanges();
  changes.add(unread); // before the first read, so that changes during it are read again
  const hooks = connection.createHooks();
  const opening = new ClosableWait(connection, "the connection was closed while a source was opened");
  try {
    const poller = await opening.run((closing) =>
      translated(() => openPoller(connection, aliveTime, hooks, closing)),
    );
    const renew = (signal: AbortSignal) => openPoller(connection, aliveTime, hooks, signal);
    const close = async () => {
      changes.delete(unread);
      await hooks.close();
    };
    const source = createTaskSource(connection, poller, renew, unread, close);
    return await connection.adoptOrEnd(source, () => poller.close());
  } catch (error) {
    changes.delete(unread);
    throw error;
  }
}

/**
 * @param renew  opens a poller with another session
 * @param end  ends what belongs to the source, when its tasks are given back
 */
function createTaskSource(
  connection: LibraryConnection,
  first: Poller,
  renew: (signal: AbortSignal) => Promise<Poller>,
  unread: UnreadChanges,
  end: () => Promise<void>,
): TaskSource {
  const over = new AbortController();
  let poller = first;
  let polling: Promise<unknown> = Promise.resolve();

  const pollOnce = async () => {
    connection.checkOpen();
    over.signal.throwIfAborted();
    return await translated(async () => {
      if (poller.isLost) {
        const lost = poller;
        poller = await renew(over.signal);
        await lost.close();
      }
      // Reads the schedules that this connection has changed, so that a poll after `add` includes the new schedule.
      const ids = unread.listIds();
      if (ids.length > 0) await poller.refresh(ids);
      unread.forget(ids);
      const polled = await poller.poll();
      return polled && toTask(polled);
    });
  };

  /** Polls after the polls that are under way. */
  const pollInTurn = () => {
    const next = polling.then(pollOnce);
    polling = next.catch(() => {});
    return next;
  };

  const source: TaskSource = {
    async poll<D>(options: PollWaitOptions = {}) {
      const { signal, wait } = parseOptions("poll", options, WAIT_OPTIONS);
      const { clock } = connection.ports;
      const either = mergeSignals(over.signal, signal);
      const end = wait === true ? NEVER : addMs(clock.now(), wait === false ? 0 : wait);
      for (;;) {
        either.throwIfAborted();
        const asked = poller;
        const since = asked.changeCount;
        const task = await pollInTurn();
        if (task !== undefined) return task as Task<D>; // the program says which data its schedules have
        const left = subtractTime(end, clock.now());
        if (left <= 0) return undefined;
        await asked.waitForChange(since, left, either);
      }
    },

    async close() {
      over.abort(new ClosedError("the source of tasks was closed"));
      await polling;
      await poller.close();
      await end();
      connection.drop(source);
    },

    [Symbol.asyncDispose]: () => source.close(),
  };
  return source;
}

async function openPoller(
  connection: LibraryConnection,
  aliveTime: number | undefined,
  { handleEvent: listener }: Hooks,
  signal: AbortSignal,
): Promise<Poller> {
  const { ports, settings, facts, measure, hookPermission: hooks } = connection;
  await connection.checkRoles(signal);
  return await Poller.open(
    ports,
    {
      host: facts.fqdn,
      pid: process.pid,
      version: VERSION,
      ttl: settings.ttl / 1000,
      ...pickDefined({ aliveTime }),
      measure,
      canAccept: ({ command }) => command === undefined,
      hooks,
      listener,
    },
    signal,
  );
}

function toTask(polled: PolledTask): Task {
  const { id, running, token } = polled.claimed;
  const definition = mergeOwnInput(polled.claimed);
  return {
    id,
    type: getScheduleType(id, definition),
    data: definition.data,
    ...findJobTrace(definition),
    run: running.run,
    attempt: running.attempt,
    scheduledTime: new Date(running.scheduled),
    token: String(token),
    signal: polled.signal,
    ...buildCheckpointFacts(polled.claimed.checkpoint.last, (text) => polled.saveCheckpoint(text)),
    finish: (result?: unknown) => translated(async () => polled.finish(checkResult(result).value)),
    retry: (wait?: Duration) =>
      translated(async () => polled.retry(parseArgument("wait", wait, v.optional(DURATION)))),
    fail: (reason: string | Error) =>
      translated(() => polled.fail(typeof reason === "string" ? { reason } : describeFailure(reason))),
    release: () => translated(() => polled.release()),
    heartbeat: () => translated(() => polled.sendHeartbeat()),
  };
}
