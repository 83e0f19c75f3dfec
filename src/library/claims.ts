import { basename } from "node:path";
import * as v from "valibot";
import { UsageError } from "../base/errors.ts";
import { waitForAbort } from "../base/wait.ts";
import { parseLeases } from "../fleet/lease-spec.ts";
import { validateName } from "../protocol/names.ts";
import { acquireClaim, type HeldClaim } from "../work/run/hold/held-claim.ts";
import type { ClaimRequest, WaitLimits } from "../work/run/request.ts";
import type { LibraryConnection } from "./connection.ts";
import { ClaimLostError, ClosedError, translated } from "./errors.ts";
import { DURATION, FLAG, pickDefined, SIGNAL, TEXT, TEXTS, WAIT } from "./options-schema.ts";
import { resolveSessionTimes, SESSION_OPTIONS } from "./session-times.ts";
import type { ClaimOptions, Held, Work } from "./types.ts";

/** Options of a call that names what it claims. */
export const CLAIM_OPTIONS = {
  wait: v.optional(WAIT),
  signal: SIGNAL,
  group: v.optional(TEXT),
  ...SESSION_OPTIONS,
  maxHold: v.optional(DURATION),
  label: v.optional(TEXT),
  history: v.optional(FLAG),
} satisfies Record<keyof ClaimOptions, v.GenericSchema>;
/** Options of a call without other arguments. */
export const ACQUIRE_OPTIONS = { lock: v.optional(TEXT), leases: v.optional(TEXTS, []), ...CLAIM_OPTIONS };
type ParsedOptions = v.InferOutput<v.StrictObjectSchema<typeof ACQUIRE_OPTIONS, undefined>>;

/** Makes a claim and holds it until `release`. @throws the same errors as `Signalbox.acquire` */
export async function acquire(connection: LibraryConnection, options: ParsedOptions): Promise<HeldImpl> {
  const request = buildClaimRequest(connection, options);
  const closing = new AbortController();
  const waiting = {
    close: async () => closing.abort(new ClosedError("the connection was closed while waiting")),
  };
  connection.adopt(waiting);
  try {
    const signals = options.signal === undefined ? [] : [options.signal];
    const either = AbortSignal.any([closing.signal, ...signals]);
    const claim = await translated(() => acquireClaim(connection.ports, request, either));
    return await connection.adoptOrEnd(new HeldImpl(connection, claim, request), () => claim.release());
  } finally {
    connection.drop(waiting);
  }
}

/** The implementation of `Held`. */
class HeldImpl implements Held {
  readonly token: string;
  readonly run: string;
  readonly lock: string | undefined;
  readonly signal: AbortSignal & { readonly reason: ClaimLostError };
  readonly #claim: HeldClaim;
  readonly #connection: LibraryConnection;
  readonly #terminationTimeout: number;
  #work: Promise<unknown> | undefined;

  constructor(connection: LibraryConnection, claim: HeldClaim, request: ClaimRequest) {
    this.#connection = connection;
    this.#claim = claim;
    this.#terminationTimeout = request.terminationTimeout;
    this.token = claim.token;
    this.run = claim.run;
    this.lock = request.lock;
    this.signal = claim.signal as HeldImpl["signal"];
  }

  release(): Promise<void> {
    return this.#release(0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /**
   * Runs the work, and frees the claim when the work has ended, also when it failed; the call settles after that. If the
   * claim is lost, the call rejects in time even if the work ignores the signal.
   * @throws the errors of the work; ClaimLostError if the claim is lost before the work has ended
   */
  async runWork<T>(work: Work<T>): Promise<T> {
    const working = (async () => await work(this))();
    this.#work = working;
    const freed = working.then(
      () => this.#release(0),
      () => this.#release(1),
    );
    await Promise.race([freed, this.#rejectWhenLate()]);
    const value = await working.catch((error) => {
      throw this.signal.aborted ? this.#toLostError(error) : error;
    });
    if (this.signal.aborted) throw this.signal.reason;
    return value;
  }

  /**
   * Aborts the signal of running work, waits until it has ended or is late, and frees the claim. Without work, frees
   * the claim at once.
   */
  async close(): Promise<void> {
    if (this.#work !== undefined) {
      this.#claim.abandon("the connection is closed");
      await Promise.race([this.#work.catch(() => {}), this.#rejectWhenLate().catch(() => {})]);
    }
    await this.release();
  }

  async #release(exit: number): Promise<void> {
    await this.#claim.release(exit);
    this.#connection.drop(this);
  }

  #toLostError(cause: unknown): ClaimLostError {
    const { reason } = this.signal;
    return cause === reason ? reason : new ClaimLostError(reason.kind, reason.message, { cause });
  }

  /** Rejects when the signal has been aborted and the termination timeout has passed, but no later than the horizon. */
  async #rejectWhenLate(): Promise<never> {
    const { clock } = this.#connection.ports;
    await waitForAbort(this.signal);
    await clock.sleep(
      Math.min(this.#terminationTimeout, Math.max(0, this.#claim.getHorizon() - clock.now())),
    );
    throw this.signal.reason;
  }
}

/** @throws UsageError, ConfigError */
function buildClaimRequest(connection: LibraryConnection, options: ParsedOptions): ClaimRequest {
  const { settings, facts, macros, user } = connection;
  const { lock, history = settings.history, maxHold = settings.maxHold, label = settings.label } = options;
  const leases = parseLeases(options.leases, macros);
  if (lock !== undefined) validateName("lock", lock);
  else if (leases.length === 0) throw new UsageError("there is nothing to claim; name a lock, or leases");
  const command = basename(process.argv[1] ?? process.execPath);
  return {
    leases,
    patience: toWaitLimits(options, settings.leaseTimeout),
    history,
    identity: { host: facts.fqdn, pid: process.pid, user, command, ...pickDefined({ label }) },
    ...resolveSessionTimes(settings, options),
    connectTimeout: settings.connectTimeout,
    ...pickDefined({ lock, group: options.group ?? settings.group, maxHold }),
  };
}

function toWaitLimits({ wait }: ParsedOptions, leaseTimeout: number | undefined): WaitLimits {
  if (wait === false) return { queues: false, leases: 0 };
  if (wait === undefined) return { queues: false, ...pickDefined({ leases: leaseTimeout }) };
  if (wait === true) return { queues: true, ...pickDefined({ leases: leaseTimeout }) };
  return { queues: true, lock: wait };
}
