import type { AcquireOptions, ClaimOptions, Held, Work } from "./claim-types.ts";
import { acquire, checkClaimOptions } from "./claims.ts";
import { LibraryConnection } from "./connection.ts";
import { UsageError } from "./errors.ts";
import type { ConnectOptions } from "./options.ts";
import type { Schedules } from "./schedule-types.ts";
import { SchedulesImpl } from "./schedules.ts";

/** What `connect` returns: locks, leases and schedules of one prefix in etcd. */
export interface Signalbox {
  /**
   * Claims a lock, leases, or both, and holds them until `release`.
   * @throws BusyError when they are not to be had, UnreachableError, PermissionError, UsageError, ConfigError, the reason of
   *   `options.signal`
   */
  acquire(options: AcquireOptions): Promise<Held>;
  /**
   * Runs `work` while it holds a lock, and frees that when `work` has ended.
   * @returns what `work` returns
   * @throws as `acquire`, and what `work` throws; ClaimLostError when the claim was lost meanwhile, at the latest a
   *   termination timeout after the signal has fired, even if `work` has not ended: nothing can end it from without
   */
  withLock<T>(lock: string, work: Work<T>): Promise<T>;
  withLock<T>(lock: string, options: ClaimOptions, work: Work<T>): Promise<T>;
  /** As `withLock`, for leases: `["db=2:10"]`. */
  withLeases<T>(leases: readonly string[], work: Work<T>): Promise<T>;
  withLeases<T>(leases: readonly string[], options: ClaimOptions, work: Work<T>): Promise<T>;
  readonly schedules: Schedules;
  /** Frees what is held, gives tasks back, and ends the connection. A second call waits for the first. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const connections = new WeakMap<Signalbox, LibraryConnection>();

/**
 * Settles where etcd is; it is reached with the first call. What no option says is read from the same variables and files
 * as the command line reads. A connection that is idle does not keep the process alive.
 * @throws ConfigError
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

class SignalboxImpl implements Signalbox {
  readonly schedules: Schedules;
  readonly #connection: LibraryConnection;

  constructor(connection: LibraryConnection) {
    this.#connection = connection;
    this.schedules = new SchedulesImpl(connection);
    connections.set(this, connection);
  }

  async acquire(options: AcquireOptions): Promise<Held> {
    return await acquire(this.#connection, options);
  }

  withLock<T>(lock: string, ...rest: [Work<T>] | [ClaimOptions, Work<T>]): Promise<T> {
    return this.#runWork("withLock", { lock }, rest);
  }

  withLeases<T>(leases: readonly string[], ...rest: [Work<T>] | [ClaimOptions, Work<T>]): Promise<T> {
    return this.#runWork("withLeases", { leases }, rest);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #runWork<T>(
    call: string,
    what: AcquireOptions,
    rest: [Work<T>] | [ClaimOptions, Work<T>],
  ): Promise<T> {
    const [options, work] = rest.length === 1 ? [{}, rest[0]] : rest;
    if (typeof work !== "function") throw new UsageError("the last argument must be the function to run");
    checkClaimOptions(call, options);
    const held = await acquire(this.#connection, { ...options, ...what });
    return await held.runWork(work);
  }
}
