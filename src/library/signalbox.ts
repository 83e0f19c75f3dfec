import { ACQUIRE_OPTIONS, acquire, CLAIM_OPTIONS, limitRate, watchLock } from "./claims.ts";
import { LibraryConnection } from "./connection.ts";
import { UsageError } from "./errors.ts";
import { createJobQueue } from "./jobs.ts";
import { parseOptions } from "./options-schema.ts";
import { createCalendarStore, createSchedules } from "./schedules.ts";
import type {
  AcquireOptions,
  CalendarStore,
  ClaimOptions,
  ConnectOptions,
  JobQueue,
  RateOptions,
  Schedules,
  Signalbox,
  WatchOptions,
  Work,
} from "./types.ts";

const connections = new WeakMap<Signalbox, LibraryConnection>();

/**
 * Reads the configuration and opens a connection. The first call on the connection reaches etcd. Settings that the options
 * leave out come from the same variables and files as those of the command line.
 * @throws ConfigError if an option or a setting is wrong
 */
export async function connect(options: ConnectOptions = {}): Promise<Signalbox> {
  return new SignalboxImpl(await LibraryConnection.open(options));
}

/** Returns the connection of a `Signalbox`, for library parts that are separate objects. @internal */
export function getConnection(signalbox: Signalbox): LibraryConnection {
  const connection = connections.get(signalbox);
  if (connection === undefined) throw new UsageError("pass the object that connect() returned");
  return connection;
}

/** A `Signalbox` on an open connection. @internal */
export class SignalboxImpl implements Signalbox {
  readonly schedules: Schedules;
  readonly jobs: JobQueue;
  readonly calendars: CalendarStore;
  readonly #connection: LibraryConnection;

  constructor(connection: LibraryConnection) {
    this.#connection = connection;
    const schedules = createSchedules(connection);
    this.schedules = schedules;
    this.jobs = createJobQueue(connection, schedules);
    this.calendars = createCalendarStore(connection, schedules);
    connections.set(this, connection);
  }

  async acquire(options: AcquireOptions) {
    return await acquire(this.#connection, parseOptions("acquire", options, ACQUIRE_OPTIONS));
  }

  withLock<T>(lock: string | readonly string[], ...rest: [Work<T>] | [ClaimOptions, Work<T>]) {
    return this.#runWork("withLock", { lock }, rest);
  }

  withLeases<T>(leases: readonly string[], ...rest: [Work<T>] | [ClaimOptions, Work<T>]) {
    return this.#runWork("withLeases", { leases }, rest);
  }

  watchLock(lock: string, options: WatchOptions = {}) {
    return watchLock(this.#connection, lock, options);
  }

  limitRate(resource: string, options: RateOptions) {
    return limitRate(this.#connection, resource, options);
  }

  close() {
    return this.#connection.close();
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }

  async #runWork<T>(
    call: string,
    what: { lock: string | readonly string[] } | { leases: readonly string[] },
    rest: [Work<T>] | [ClaimOptions, Work<T>],
  ): Promise<T> {
    const [options, work] = rest.length === 1 ? [{}, rest[0]] : rest;
    if (typeof work !== "function") throw new UsageError("the last argument must be the function to run");
    const claim = { leases: [], ...parseOptions(call, options, CLAIM_OPTIONS), ...what };
    const held = await acquire(this.#connection, claim);
    return await held.runWork(work);
  }
}
