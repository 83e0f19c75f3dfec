import * as v from "valibot";
import { mergeSignals } from "../core/base/clock.ts";
import { VERSION } from "../core/base/version.ts";
import { keepHostRecord } from "../core/run/keep-host-record.ts";
import { createBootReader, ScheduleWorker } from "../worker/engine/schedule-worker.ts";
import type { WorkerEvent } from "../worker/events.ts";
import type { Hooks } from "../worker/hooks/hooks.ts";
import { OutcomeArchive } from "../worker/outcome-archive.ts";
import { type LibraryConnection, translated } from "./connection.ts";
import {
  PATH,
  POSITIVE,
  parseOptions,
  resolveSessionTimes,
  SESSION_OPTIONS,
  TEXTS,
} from "./options-schema.ts";
import { getConnection } from "./signalbox.ts";
import type { Signalbox, WorkerEvents, WorkerOptions } from "./types.ts";
import { createHandlerRegistry, HANDLER_OPTIONS } from "./worker-handlers.ts";

type Listener = (event: never) => void;

class WorkerListeners {
  readonly #listeners = new Map<keyof WorkerEvents, Set<Listener>>();

  /** Adds a listener. @returns a function that removes it */
  add<K extends keyof WorkerEvents>(kind: K, listener: (event: WorkerEvents[K]) => void): () => void {
    const list = this.#listeners.get(kind) ?? new Set();
    this.#listeners.set(kind, list);
    list.add(listener);
    return () => list.delete(listener);
  }

  /** Passes an event of the engine on. An error of a listener does not keep the others from being called. */
  handleEvent(event: WorkerEvent): void {
    const errors: unknown[] = [];
    for (const listener of this.#listeners.get(event.kind) ?? []) {
      try {
        listener(toPublicEvent(event) as never);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

function toPublicEvent(event: WorkerEvent): WorkerEvents[keyof WorkerEvents] {
  switch (event.kind) {
    case "left":
      return { worker: event.worker, reason: event.reason };
    case "started": {
      const { id, type, scheduled, late, run, attempt } = event;
      return { id, type, scheduledTime: new Date(scheduled), late, run, attempt };
    }
    case "overrun": {
      const { id, type, scheduled, run, attempt, bound } = event;
      return { id, type, scheduledTime: new Date(scheduled), run, attempt, bound };
    }
    case "ended": {
      const { scheduled, run, result, reason } = event.outcome;
      const { id, type, again, isDead } = event;
      const nextTime = again === undefined ? undefined : new Date(again);
      return { id, type, scheduledTime: new Date(scheduled), run, result, reason, nextTime, isDead };
    }
    case "skipped": {
      const { scheduled, count = 1, reason } = event.outcome;
      return { id: event.id, type: event.type, scheduledTime: new Date(scheduled), count, reason };
    }
    default: {
      const { kind: _, ...facts } = event;
      return facts;
    }
  }
}

const WORKER_OPTIONS = {
  ...HANDLER_OPTIONS,
  concurrency: v.optional(POSITIVE, 4),
  tags: v.optional(TEXTS, []),
  archiveFile: v.optional(PATH),
  ...SESSION_OPTIONS,
} satisfies Record<keyof WorkerOptions, v.GenericSchema>;

/**
 * Runs due occurrences of schedules with functions of this program. Schedules that have a command of their own are left to
 * `signalbox worker`. `T`: the data of tasks, by their type.
 */
export class Worker<T extends object = Record<string, unknown>> {
  readonly #connection: LibraryConnection;
  readonly #engine: ScheduleWorker;
  readonly #listeners = new WorkerListeners();
  readonly #archive: OutcomeArchive | undefined;
  readonly #hooks: Hooks;
  readonly #ending = new AbortController();
  #running: Promise<void> | undefined;

  /**
   * Creates a worker. It takes nothing before `run` is called.
   * @param signalbox  a connection from `connect`
   * @throws ConfigError for a wrong option; ClosedError if the connection was closed
   */
  constructor(signalbox: Signalbox, options: WorkerOptions<T>) {
    const connection = getConnection(signalbox);
    connection.checkOpen();
    const { handlers, middleware, concurrency, tags, archiveFile, ...given } = parseOptions(
      "Worker",
      options,
      WORKER_OPTIONS,
    );
    const { facts, settings, ports } = connection;
    const times = resolveSessionTimes(settings, given);
    const { archiveSize: size, archiveCount: files } = settings;
    this.#connection = connection;
    if (archiveFile !== undefined)
      this.#archive = new OutcomeArchive(ports, { path: archiveFile, size, files });
    this.#hooks = connection.createHooks();
    this.#engine = new ScheduleWorker(ports, {
      checkEtcd: (signal) => connection.checkRoles(signal),
      host: facts.fqdn,
      pid: process.pid,
      readBoot: createBootReader(),
      version: VERSION,
      tags,
      concurrency,
      ...times,
      measure: connection.measure,
      handlers: createHandlerRegistry(connection, handlers, middleware, times, () => this.#engine.drain()),
      listener: (event) => this.#handleEvent(event),
      readMemberClocks: connection.readMemberClocks,
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
   * Calls a function for each event of a kind: `worker.on("ended", ({ id, result }) => …)`. An error that it throws is logged.
   * @returns a function that removes the listener
   */
  on<K extends keyof WorkerEvents>(kind: K, listener: (event: WorkerEvents[K]) => void): () => void {
    return this.#listeners.add(kind, listener);
  }

  /**
   * Takes and runs tasks. Resolves when the worker was stopped, also by a ProcessStopError of a handler, and its tasks have ended. A second call waits for the first.
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

  /** Same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(signal: AbortSignal | undefined): Promise<void> {
    const { ports, facts } = this.#connection;
    const over = new AbortController();
    const removeListener = this.#listeners.add("joined", () => {
      removeListener();
      void keepHostRecord(ports, facts, over.signal);
    });
    this.#connection.adopt(this);
    try {
      await translated(() => this.#engine.run(mergeSignals(this.#ending.signal, signal)));
    } finally {
      over.abort();
      await this.#hooks.close();
      await this.#archive?.close();
      this.#connection.drop(this);
    }
  }

  #handleEvent(event: WorkerEvent): void {
    this.#archive?.handleEvent(event);
    this.#hooks.handleEvent(event);
    this.#listeners.handleEvent(event);
  }
}
