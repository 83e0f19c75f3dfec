import { VERSION } from "../base/version.ts";
import { typeOf } from "../schedule/definition.ts";
import { Poller } from "../work/schedule/poll.ts";
import type { PolledTask } from "../work/schedule/polled-task.ts";
import type { Duration } from "./claim-types.ts";
import type { Connection } from "./connection.ts";
import { ClosedError, translated } from "./errors.ts";
import type { PollOptions, Task, TaskSource } from "./schedule-types.ts";
import { defined, durationOf } from "./values.ts";

/** A source of tasks. One that has lost its session opens another with the next poll. */
export class Source implements TaskSource {
  readonly #connection: Connection;
  readonly #aliveTime: number | undefined;
  readonly #over = new AbortController();
  #poller: Poller;
  #polling: Promise<unknown> = Promise.resolve();

  /** @throws UnreachableError, ConfigError */
  static async open(connection: Connection, { aliveTime }: PollOptions): Promise<Source> {
    connection.mustBeOpen();
    const alive = aliveTime === undefined ? undefined : durationOf("aliveTime", aliveTime);
    const over = new AbortController();
    const poller = await translated(() => pollerOf(connection, alive, over.signal));
    const source = new Source(connection, alive, poller);
    try {
      connection.adopt(source);
      return source;
    } catch (error) {
      await poller.close();
      throw error;
    }
  }

  private constructor(connection: Connection, aliveTime: number | undefined, poller: Poller) {
    this.#connection = connection;
    this.#aliveTime = aliveTime;
    this.#poller = poller;
  }

  poll(): Promise<Task | undefined> {
    const next = this.#polling.then(() => this.#poll());
    this.#polling = next.catch(() => {});
    return next;
  }

  async close(): Promise<void> {
    this.#over.abort(new ClosedError("the source of tasks was closed"));
    await this.#polling;
    await this.#poller.close();
    this.#connection.drop(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #poll(): Promise<Task | undefined> {
    this.#connection.mustBeOpen();
    this.#over.signal.throwIfAborted();
    return await translated(async () => {
      if (this.#poller.isLost) await this.#renew();
      const polled = await this.#poller.poll();
      return polled && taskOf(polled);
    });
  }

  async #renew(): Promise<void> {
    const lost = this.#poller;
    this.#poller = await pollerOf(this.#connection, this.#aliveTime, this.#over.signal);
    await lost.close();
  }
}

function pollerOf(
  { ports, settings, facts }: Connection,
  aliveTime: number | undefined,
  signal: AbortSignal,
): Promise<Poller> {
  return Poller.open(
    ports,
    {
      ...{ host: facts.fqdn, pid: process.pid, version: VERSION, ttl: settings.ttl / 1000 },
      ...defined({ aliveTime }),
      accepts: ({ command }) => command === undefined,
    },
    signal,
  );
}

function taskOf(polled: PolledTask): Task {
  const { id, definition, running, token } = polled.claimed;
  return {
    ...{ id, type: typeOf(id, definition), data: definition.data, run: running.run },
    ...{ attempt: running.attempt, scheduledTime: new Date(running.scheduled), token: String(token) },
    signal: polled.signal,
    finish: () => translated(() => polled.finish()),
    retry: (wait?: Duration) =>
      translated(async () => polled.retry(wait === undefined ? undefined : durationOf("wait", wait))),
    fail: (reason: string) => translated(() => polled.fail(reason)),
    release: () => translated(() => polled.release()),
    heartbeat: () => translated(() => polled.heartbeat()),
  };
}
