import { ACQUIRE_OPTIONS, acquire, CLAIM_OPTIONS, limitRate, watchLock } from "./claims.ts";
import { LibraryConnection } from "./connection.ts";
import { UsageError } from "./errors.ts";
import type { ConnectOptions } from "./options.ts";
import { parseOptions } from "./options-schema.ts";
import { JobQueueImpl, SchedulesImpl } from "./schedules.ts";
import type {
  AcquireOptions,
  ClaimOptions,
  Held,
  JobQueue,
  LockHolder,
  RateOptions,
  Schedules,
  WatchOptions,
  Work,
} from "./types.ts";

/**
 * A connection: locks, leases and schedules of one prefix in etcd. A connection that holds nothing does not keep the process
 * alive. A claim, an open source of tasks and a worker do.
 */
export interface Signalbox {
  /**
   * Claims a lock, leases, or both, and holds them until `release`.
   * @throws BusyError if the claim is refused, or not granted in time; UnreachableError, PermissionError, UsageError for a
   *   name, ConfigError for an option, ClosedError, the reason of `options.signal`
   */
  acquire(options: AcquireOptions): Promise<Held>;
  /**
   * Runs `work` while it holds a lock, and frees the lock when `work` has ended.
   * @returns what `work` returns
   * @throws the errors of `acquire` and of `work`; ClaimLostError if the claim was lost meanwhile. This error comes a termination
   *   timeout after the signal was aborted at the latest, even if `work` still runs, because a function cannot be killed
   */
  withLock<T>(lock: string, work: Work<T>): Promise<T>;
  withLock<T>(lock: string, options: ClaimOptions, work: Work<T>): Promise<T>;
  /**
   * Runs `work` while it holds leases, and frees them when `work` has ended.
   * @param leases  in the syntax of `signalbox run --lease`: `["db=2:10"]`
   * @returns what `work` returns
   * @throws the same errors as `withLock`
   */
  withLeases<T>(leases: readonly string[], work: Work<T>): Promise<T>;
  withLeases<T>(leases: readonly string[], options: ClaimOptions, work: Work<T>): Promise<T>;
  /**
   * Watches who holds a lock, for example who leads: yields the holder at the start, undefined if nobody holds it, and again after each
   * change. It goes on while etcd is out of reach. Leaving the loop ends the watch. Changes in quick succession may be told as one.
   * @throws UsageError for a name; ConfigError, ClosedError, UnreachableError at the start, PermissionError, the reason of `options.signal`
   */
  watchLock(lock: string, options?: WatchOptions): AsyncGenerator<LockHolder | undefined, never>;
  /**
   * Waits until one more call, or whatever is limited, may begin: at most `max` in each span of `per`, over all programs and
   * hosts that name the same resource and the same `max`. `close` and the end of the process give back what they began, so a
   * program that starts again at once may exceed the limit.
   * @param resource  name of the resource that counts
   * @throws the errors of `acquire`
   */
  limitRate(resource: string, options: RateOptions): Promise<void>;
  /** The schedules of the prefix. */
  readonly schedules: Schedules;
  /** One-off work for the handlers of the prefix. */
  readonly jobs: JobQueue;
  /** Frees what is held, gives tasks back, and closes the connection. A second call waits for the first. */
  close(): Promise<void>;
  /** Same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const connections = new WeakMap<Signalbox, LibraryConnection>();

/**
 * Reads the configuration and opens a connection. The first call on the connection reaches etcd. Settings that the options
 * leave out come from the same variables and files as those of the command line.
 * @throws ConfigError if an option or a setting is wrong
 */
export async function connect(options: ConnectOptions = {}): Promise<Signalbox> {
  return new SignalboxImpl(await LibraryConnection.open(options));
}

/** Records the connection of an object that implements `Signalbox`. @internal */
export function shareConnection(signalbox: Signalbox, connection: LibraryConnection): void {
  connections.set(signalbox, connection);
}

/** Makes a `Signalbox` of an open connection. @internal */
export function createSignalbox(connection: LibraryConnection): Signalbox {
  return new SignalboxImpl(connection);
}

/** Returns the connection of a `Signalbox`, for library parts that are separate objects. @internal */
export function getConnection(signalbox: Signalbox): LibraryConnection {
  const connection = connections.get(signalbox);
  if (connection === undefined) throw new UsageError("pass the object that connect() returned");
  return connection;
}

class SignalboxImpl implements Signalbox {
  readonly schedules: Schedules;
  readonly jobs: JobQueue;
  readonly #connection: LibraryConnection;

  constructor(connection: LibraryConnection) {
    this.#connection = connection;
    const schedules = new SchedulesImpl(connection);
    this.schedules = schedules;
    this.jobs = new JobQueueImpl(connection, schedules);
    connections.set(this, connection);
  }

  async acquire(options: AcquireOptions): Promise<Held> {
    return await acquire(this.#connection, parseOptions("acquire", options, ACQUIRE_OPTIONS));
  }

  withLock<T>(lock: string, ...rest: [Work<T>] | [ClaimOptions, Work<T>]): Promise<T> {
    return this.#runWork("withLock", { lock }, rest);
  }

  withLeases<T>(leases: readonly string[], ...rest: [Work<T>] | [ClaimOptions, Work<T>]): Promise<T> {
    return this.#runWork("withLeases", { leases }, rest);
  }

  watchLock(lock: string, options: WatchOptions = {}): AsyncGenerator<LockHolder | undefined, never> {
    return watchLock(this.#connection, lock, options);
  }

  limitRate(resource: string, options: RateOptions): Promise<void> {
    return limitRate(this.#connection, resource, options);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #runWork<T>(
    call: string,
    what: { lock: string } | { leases: readonly string[] },
    rest: [Work<T>] | [ClaimOptions, Work<T>],
  ): Promise<T> {
    const [options, work] = rest.length === 1 ? [{}, rest[0]] : rest;
    if (typeof work !== "function") throw new UsageError("the last argument must be the function to run");
    const claim = { leases: [], ...parseOptions(call, options, CLAIM_OPTIONS), ...what };
    const held = await acquire(this.#connection, claim);
    return await held.runWork(work);
  }
}
