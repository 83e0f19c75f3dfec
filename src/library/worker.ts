import { ConfigError } from "../base/errors.ts";
import { VERSION } from "../base/version.ts";
import { readMemberClocks } from "../etcd/member-clocks.ts";
import { buildStoreOptions } from "../etcd/store-options.ts";
import { getScheduleType } from "../schedule/definition.ts";
import { createTypeMatcher } from "../schedule/handler-types.ts";
import type { HandlerRegistry } from "../work/schedule/handler.ts";
import { ScheduleWorker } from "../work/schedule/schedule-worker.ts";
import { createLeaseAcquirer } from "../work/worker/lease-acquirer.ts";
import { LeasedHandler } from "../work/worker/leased-handler.ts";
import { findPatternFault } from "../work/worker/pattern.ts";
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

/** Takes what is due, and runs it by functions of this program. */
export class Worker {
  readonly #connection: LibraryConnection;
  readonly #engine: ScheduleWorker;
  readonly #ending = new AbortController();
  #running: Promise<void> | undefined;

  /** Nothing is taken before `run`. @throws ConfigError, ClosedError */
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
