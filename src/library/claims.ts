import { basename } from "node:path";
import { UsageError } from "../base/errors.ts";
import { parseLeases } from "../fleet/lease-spec.ts";
import { checkedName } from "../protocol/names.ts";
import { acquireClaim, type HeldClaim } from "../work/run/keep.ts";
import type { ClaimRequest, Patience } from "../work/run/request.ts";
import type { AcquireOptions, ClaimOptions, Held, Work } from "./claim-types.ts";
import type { Connection } from "./connection.ts";
import { ClaimLostError, ClosedError, translated } from "./errors.ts";
import { timesOf } from "./times.ts";
import { defined, durationOf } from "./values.ts";

/** Claims, and holds until `release`. @throws as `Signalbox.acquire` */
export async function acquire(connection: Connection, options: AcquireOptions): Promise<HeldHere> {
  const request = requestOf(connection, options);
  const closing = new AbortController();
  const waiting = {
    close: async () => closing.abort(new ClosedError("the connection was closed while waiting")),
  };
  connection.adopt(waiting);
  try {
    const signals = options.signal === undefined ? [] : [options.signal];
    const either = AbortSignal.any([closing.signal, ...signals]);
    const claim = await translated(() => acquireClaim(connection.ports, request, either));
    return await HeldHere.hold(connection, claim, request);
  } finally {
    connection.drop(waiting);
  }
}

/** A claim as programs see it. */
export class HeldHere implements Held {
  readonly token: string;
  readonly run: string;
  readonly lock: string | undefined;
  readonly signal: AbortSignal & { readonly reason: ClaimLostError };
  readonly #claim: HeldClaim;
  readonly #connection: Connection;
  readonly #terminationTimeout: number;
  #work: Promise<unknown> | undefined;

  /** @throws ClosedError when the connection was closed meanwhile; the claim is freed then */
  static async hold(connection: Connection, claim: HeldClaim, request: ClaimRequest): Promise<HeldHere> {
    const held = new HeldHere(connection, claim, request);
    try {
      connection.adopt(held);
      return held;
    } catch (error) {
      await claim.release();
      throw error;
    }
  }

  private constructor(connection: Connection, claim: HeldClaim, request: ClaimRequest) {
    this.#connection = connection;
    this.#claim = claim;
    this.#terminationTimeout = request.terminationTimeout;
    this.token = claim.token;
    this.run = claim.run;
    this.lock = request.lock;
    this.signal = claim.signal as HeldHere["signal"];
  }

  release(): Promise<void> {
    return this.#release(0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /**
   * Frees it when its work has ended, and does not depend on the work having heard the signal.
   * @throws what the work throws; ClaimLostError when the claim was lost before the work had ended
   */
  async during<T>(work: Work<T>): Promise<T> {
    const working = (async () => await work(this))();
    this.#work = working;
    const freed = working.then(
      () => this.#release(0),
      () => this.#release(1),
    );
    const value = await Promise.race([working, this.#tooLate()]).catch((error) => {
      throw this.signal.aborted ? this.#lost(error) : error;
    });
    await freed;
    if (this.signal.aborted) throw this.signal.reason;
    return value;
  }

  /** Tells the work to end; frees the claim at once where there is none, or when it did not listen. */
  async close(): Promise<void> {
    if (this.#work !== undefined) {
      this.#claim.abandon("the connection is closed");
      await Promise.race([this.#work.catch(() => {}), this.#tooLate().catch(() => {})]);
    }
    await this.release();
  }

  async #release(exit: number): Promise<void> {
    await this.#claim.release(exit);
    this.#connection.drop(this);
  }

  #lost(cause: unknown): ClaimLostError {
    const { reason } = this.signal;
    return cause === reason ? reason : new ClaimLostError(reason.kind, reason.message, { cause });
  }

  /** Rejects when the signal has fired and the termination timeout, but at most the horizon, has passed. */
  async #tooLate(): Promise<never> {
    const { clock } = this.#connection.ports;
    await fired(this.signal);
    await clock.sleep(Math.min(this.#terminationTimeout, Math.max(0, this.#claim.horizon() - clock.now())));
    throw this.signal.reason;
  }
}

function fired(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** @throws UsageError, ConfigError */
function requestOf(connection: Connection, options: AcquireOptions): ClaimRequest {
  const { settings, facts, macros, user } = connection;
  const { lock, leases: given = [], history = settings.history } = options;
  const leases = parseLeases(given, macros);
  if (lock !== undefined) checkedName("lock", lock);
  else if (leases.length === 0) throw new UsageError("there is nothing to claim; name a lock, or leases");
  const maxHold = options.maxHold === undefined ? settings.maxHold : durationOf("maxHold", options.maxHold);
  const label = options.label ?? settings.label;
  const command = basename(process.argv[1] ?? process.execPath);
  return {
    ...{ leases, patience: patienceOf(options, settings.leaseTimeout), history },
    identity: { host: facts.fqdn, pid: process.pid, user, command, ...defined({ label }) },
    ...timesOf(settings, options),
    connectTimeout: settings.connectTimeout,
    ...defined({ lock, group: options.group ?? settings.group, maxHold }),
  };
}

function patienceOf({ wait }: ClaimOptions, leaseTimeout: number | undefined): Patience {
  if (wait === false) return { queues: false, leases: 0 };
  if (wait === undefined) return { queues: false, ...defined({ leases: leaseTimeout }) };
  if (wait === true) return { queues: true, ...defined({ leases: leaseTimeout }) };
  return { queues: true, lock: durationOf("wait", wait) };
}
