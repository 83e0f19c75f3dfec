import { ConfigError } from "../base/errors.ts";
import { VERSION } from "../base/version.ts";
import { typeOf } from "../schedule/definition.ts";
import { typeMatcher } from "../schedule/types.ts";
import { Engine } from "../work/schedule/engine.ts";
import type { Handlers } from "../work/schedule/handler.ts";
import { LeasedHandler } from "../work/worker/leased.ts";
import { lessorOf } from "../work/worker/lessor.ts";
import { patternFault } from "../work/worker/pattern.ts";
import type { Connection } from "./connection.ts";
import { translated } from "./errors.ts";
import type { WorkerOptions } from "./schedule-types.ts";
import { connectionOf, type Signalbox } from "./signalbox.ts";
import { FunctionHandler } from "./task-run.ts";
import { type Times, timesOf } from "./times.ts";
import { shown } from "./values.ts";

const CONCURRENCY = 4;

/** Takes what is due, and runs it by functions of this program. */
export class Worker {
  readonly #connection: Connection;
  readonly #engine: Engine;
  readonly #ending = new AbortController();
  #running: Promise<void> | undefined;

  /** Nothing is taken before `run`. @throws ConfigError, ClosedError */
  constructor(signalbox: Signalbox, options: WorkerOptions) {
    const connection = connectionOf(signalbox);
    connection.mustBeOpen();
    const { concurrency = CONCURRENCY, tags = [] } = options;
    if (!Number.isSafeInteger(concurrency) || concurrency < 1)
      throw new ConfigError(`concurrency: ${shown(concurrency)} is not a whole number from 1 on`);
    const { facts } = connection;
    const times = timesOf(connection.settings, options);
    this.#connection = connection;
    this.#engine = new Engine(connection.ports, {
      ...{ host: facts.fqdn, pid: process.pid, version: VERSION, tags, concurrency, ...times },
      handlers: handlersOf(connection, options, times),
    });
  }

  /** The id that operators know it by; undefined while it has no session. */
  get id(): string | undefined {
    return this.#engine.id;
  }

  /** How many tasks run now. */
  get running(): number {
    return this.#engine.running;
  }

  /**
   * Works until it is stopped, and its tasks have ended.
   * @param signal  ends the tasks as well; they are given back, for others to take at once
   * @throws UnreachableError, PermissionError
   */
  run(signal?: AbortSignal): Promise<void> {
    this.#running ??= this.#run(signal);
    return this.#running;
  }

  /** Takes nothing more; resolves when what runs has ended. */
  async stop(): Promise<void> {
    this.#engine.drain();
    await this.#running?.catch(() => {});
  }

  /** Ends its tasks as well. */
  async close(): Promise<void> {
    this.#ending.abort(new Error("the connection is closed"));
    await this.#running?.catch(() => {});
  }

  async #run(signal: AbortSignal | undefined): Promise<void> {
    this.#connection.adopt(this);
    const either = AbortSignal.any([this.#ending.signal, ...(signal === undefined ? [] : [signal])]);
    try {
      await translated(() => this.#engine.run(either));
    } finally {
      this.#connection.drop(this);
    }
  }
}

/** @throws ConfigError for a type that is no regular expression */
function handlersOf(connection: Connection, { handlers }: WorkerOptions, times: Times): Handlers {
  const { ports, facts, user } = connection;
  const lessor = lessorOf(ports, { facts, user, ...times });
  const table = Object.entries(handlers).map(([type, handle]) => {
    const fault = patternFault(type);
    if (fault !== undefined) throw new ConfigError(`handlers: ${fault}`);
    if (typeof handle !== "function")
      throw new ConfigError(`handlers: that of ${shown(type)} is no function`);
    const handler = new FunctionHandler(handle, ports.clock, times.terminationTimeout);
    return { type, matches: typeMatcher(type), handler };
  });
  return {
    types: table.map(({ type }) => type),
    find(id, definition) {
      if (definition.command !== undefined) return undefined;
      const handler = table.find(({ matches }) => matches(typeOf(id, definition)))?.handler;
      return handler && definition.leases?.length ? new LeasedHandler(lessor, handler) : handler;
    },
  };
}
