import type { ClaimLostError } from "./errors.ts";

// Public types of locks and leases: `import { connect } from "signalbox"`.

/** A number of milliseconds, or a text such as `"30s"` or `"1h30m"`. */
export type Duration = number | string;

/** How a lock, leases, or both are claimed. What is left out is as the configuration has it. */
export interface ClaimOptions {
  /**
   * `true` queues until it is granted, a duration at most so long; `false` is refused at once. Default: a held lock
   * refuses at once, leases are waited for.
   */
  wait?: boolean | Duration;
  /** Stops waiting: the promise rejects with the signal's reason, and no ticket stays behind. */
  signal?: AbortSignal;
  /** Only where this group holds the host; the claim is lost when it leaves the group. */
  group?: string;
  /** How long the claim outlives a process that vanished; whole seconds, at least 2 s. */
  ttl?: Duration;
  /** How long before the claim may be another's its signal fires. */
  terminationTimeout?: Duration;
  /** The signal fires when it was held this long. */
  maxHold?: Duration;
  /** A word that others are shown. */
  label?: string;
  /** Whether the lock's history remembers it. */
  history?: boolean;
}

/** What is claimed: a lock, leases, or both at once. */
export interface AcquireOptions extends ClaimOptions {
  /** A lock's name. */
  lock?: string;
  /** `RESOURCE=COUNT[:TOTAL]`, as `signalbox run --lease` has them: `db=2:10`. */
  leases?: readonly string[];
}

/** A claim that this process holds. */
export interface Held {
  /** The fencing token, a decimal number that grows from holder to holder: have whatever you write to compare it. */
  readonly token: string;
  /** The run's id, as `signalbox ls` shows it. */
  readonly run: string;
  /** The lock's name. */
  readonly lock: string | undefined;
  /**
   * Aborted when the claim is lost, with the reason: end what relies on it at once. It fires a termination timeout before
   * anybody else can get the claim, unless somebody took it by force.
   */
  readonly signal: AbortSignal & { readonly reason: ClaimLostError };
  /** Frees it, once; a second call waits for the first. Never rejects: what cannot be freed ends with its session. */
  release(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What runs while a claim is held. */
export type Work<T> = (held: Held) => T | Promise<T>;
