import { ConfigError } from "../base/errors.ts";
import { VERSION } from "../base/version.ts";
import { readMemberClocks } from "../etcd/members/member-clocks.ts";
import { buildStoreOptions } from "../etcd/open/store-options.ts";
import { getScheduleType } from "../schedule/definition.ts";
import { createTypeMatcher } from "../schedule/handler-types.ts";
import { ScheduleWorker } from "../work/worker/engine/schedule-worker.ts";
import { findPatternFault } from "../work/worker/file/pattern.ts";
import type { HandlerRegistry } from "../work/worker/handler.ts";
import { createLeaseAcquirer } from "../work/worker/handlers/lease-acquirer.ts";
import { LeasedHandler } from "../work/worker/handlers/leased-handler.ts";
import type { LibraryConnection } from "./connection.ts";
import { translated } from "./errors.ts";
import { FunctionHandler } from "./function-handler.ts";
import { checkOptions, formatOptionValue } from "./option-values.ts";
import type { WorkerOptions } from "./schedule-types.ts";
import { resolveSessionTimes, type SessionTimes } from "./session-times.ts";
import { getConnection, type Signalbox } from "./signalbox.ts";

const CONCURRENCY = 4;
const OPTIONS: readonly (keyof WorkerOptions)[] = [
  ...(["handlers", "concurrency", "tags", "ttl", "terminationTimeout"] as const),
];

/**
 * Runs due occurrences of schedules with functions of this program. Schedules that have a command of their own are left to
 * `signalbox worker`.
 */
export class Worker {
  readonly #connection: LibraryConnection;
  readonly #engine: ScheduleWorker;
  readonly #ending = new AbortController();
  #running: Promise<void> | undefined;

  /**
   * Creates a worker. It takes nothing before `run` is called.
   * @param signalbox  a connection from `connect`
   * @throws ConfigError for a wrong option; ClosedError if the connection was closed
   */
  constructor(signalbox: Signalbox, options: WorkerOptions) {
    const connection = getConnection(signalbox);
    connection.checkOpen();
    checkOptions("Worker", options, OPTIONS);
    const { concurrency = CONCURRENCY, tags = [] } = options;
    if (!Number.isSafeInteger(concurrency) || concurrency < 1)
      throw new ConfigError(
        `concurrency: ${formatOptionValue(concurrency)} is not a whole number of 1 or more`,
      );
    const { facts } = connection;
    const times = resolveSessionTimes(connection.settings, options);
    this.#connection = connection;
    this.#engine = new ScheduleWorker(connection.ports, {
      ...{ host: facts.fqdn, pid: process.pid, version: VERSION, tags, concurrency, ...times },
      handlers: buildHandlers(connection, options, times),
      readMemberClocks: (signal) =>
        readMemberClocks(buildStoreOptions(connection.settings), connection.ports.clock.getWallTime, signal),
    });
  }

  /** Id of the worker, as `signalbox ls workers` shows it; undefined while it has no session. */
  get id(): string | undefined {
    return this.#engine.id;
  }

  /** Number of tasks that run now. */
  get running(): number {
    return this.#engine.running;
  }

  /**
   * Takes and runs tasks. Resolves when the worker was stopped and its tasks have ended. A second call waits for the first.
   * @param signal  stops the worker and its tasks, and gives the tasks back, so that others can take them at once
   * @throws UnreachableError, PermissionError, ClosedError
   */
  run(signal?: AbortSignal): Promise<void> {
    this.#running ??= this.#run(signal);
    return this.#running;
  }

  /** Takes no more tasks. Resolves when the running tasks have ended. */
  async stop(): Promise<void> {
    this.#engine.drain();
    await this.#running?.catch(() => {});
  }

  /** Stops the worker and its tasks, and gives the tasks back. Resolves when they have ended. */
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

/** Builds the handlers from the options. @throws ConfigError for a type that is not a valid regular expression */
function buildHandlers(
  connection: LibraryConnection,
  { handlers }: WorkerOptions,
  times: SessionTimes,
): HandlerRegistry {
  const { ports, facts, user } = connection;
  const leaseAcquirer = createLeaseAcquirer(ports, { facts, user, ...times });
  const table = Object.entries(handlers).map(([type, handle]) => {
    const fault = findPatternFault(type);
    if (fault !== undefined) throw new ConfigError(`handlers: ${fault}`);
    if (typeof handle !== "function")
      throw new ConfigError(`handlers: the handler of ${formatOptionValue(type)} is not a function`);
    const handler = new FunctionHandler(handle, ports.clock, times.terminationTimeout);
    return { type, matches: createTypeMatcher(type), handler };
  });
  return {
    types: table.map(({ type }) => type),
    find(id, definition) {
      if (definition.command !== undefined) return undefined;
      const handler = table.find(({ matches }) => matches(getScheduleType(id, definition)))?.handler;
      return handler && definition.leases?.length ? new LeasedHandler(leaseAcquirer, handler) : handler;
    },
  };
}
