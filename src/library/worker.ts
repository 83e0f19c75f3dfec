import * as v from "valibot";
import { isJsonObject } from "../base/parse-json.ts";
import { refuseFault } from "../base/schema.ts";
import { quoteText } from "../base/text.ts";
import { VERSION } from "../base/version.ts";
import { readMemberClocks } from "../etcd/members/member-clocks.ts";
import { buildStoreOptions } from "../etcd/open/store-options.ts";
import { getScheduleType } from "../schedule/definition.ts";
import { createTypeMatcher } from "../schedule/handler-types.ts";
import { isCount } from "../schedule/json-fields.ts";
import { ScheduleWorker } from "../work/worker/engine/schedule-worker.ts";
import { findPatternFault } from "../work/worker/file/pattern.ts";
import type { HandlerRegistry } from "../work/worker/handler.ts";
import { createLeaseAcquirer } from "../work/worker/handlers/lease-acquirer.ts";
import { LeasedHandler } from "../work/worker/handlers/leased-handler.ts";
import type { LibraryConnection } from "./connection.ts";
import { translated } from "./errors.ts";
import { FunctionHandler } from "./function-handler.ts";
import { parseOptions, quoteOption, TEXTS } from "./options-schema.ts";
import type { TaskHandler, WorkerOptions } from "./schedule-types.ts";
import { resolveSessionTimes, SESSION_OPTIONS, type SessionTimes } from "./session-times.ts";
import { getConnection, type Signalbox } from "./signalbox.ts";

type Handlers = WorkerOptions["handlers"];

const OPTIONS = {
  handlers: v.pipe(
    v.custom<Handlers>(isJsonObject, quoteOption("is not an object with a function for each type")),
    refuseFault(findHandlerFault),
  ),
  concurrency: v.optional(
    v.custom<number>(
      (value) => isCount(value) && value >= 1,
      quoteOption("is not a whole number of 1 or more"),
    ),
    4,
  ),
  tags: v.optional(TEXTS, []),
  ...SESSION_OPTIONS,
} satisfies Record<keyof WorkerOptions, v.GenericSchema>;

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
    const { handlers, concurrency, tags, ...given } = parseOptions("Worker", options, OPTIONS);
    const { facts } = connection;
    const times = resolveSessionTimes(connection.settings, given);
    this.#connection = connection;
    this.#engine = new ScheduleWorker(connection.ports, {
      ...{ host: facts.fqdn, pid: process.pid, version: VERSION, tags, concurrency, ...times },
      handlers: buildHandlers(connection, handlers, times),
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

function buildHandlers(
  connection: LibraryConnection,
  handlers: Handlers,
  times: SessionTimes,
): HandlerRegistry {
  const { ports, facts, user } = connection;
  const leaseAcquirer = createLeaseAcquirer(ports, { facts, user, ...times });
  const table = Object.entries(handlers).map(([type, handle]) => {
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

function findHandlerFault(handlers: Handlers): string | undefined {
  for (const [type, handle] of Object.entries<TaskHandler>(handlers)) {
    const fault = findPatternFault(type);
    if (fault !== undefined) return fault;
    if (typeof handle !== "function") return `the handler of ${quoteText(type)} is not a function`;
  }
  return undefined;
}
