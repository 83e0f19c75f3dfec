import type { ClaimLostError } from "./errors.ts";

// Public types of locks and leases: `import { connect } from "signalbox"`.

/** A duration: a whole number of milliseconds from 0 on, or a text such as `"30s"` or `"1h30m"`. */
export type Duration = number | string;

/** How a lock, leases, or both are claimed. The configuration gives the value of each option that is missing. */
export interface ClaimOptions {
  /**
   * `true`: wait until the claim is granted. A duration: wait at most so long. `false`: do not wait. Default: do not wait
   * for a held lock, but wait for leases.
   */
  wait?: boolean | Duration;
  /** Stops waiting: the promise rejects with the reason of the signal, and no ticket remains in a queue. */
  signal?: AbortSignal;
  /** Claim only if the host is a member of this group. The claim is lost when the host leaves the group. */
  group?: string;
  /** How long the claim outlives a process that vanished: whole seconds, at least 2 s. */
  ttl?: Duration;
  /** How long before another run can get the claim the signal is aborted. It must fit into `ttl`. */
  terminationTimeout?: Duration;
  /** The signal is aborted when the claim was held for this long. Default: no limit. */
  maxHold?: Duration;
  /** A text that `signalbox ls` shows beside the run. */
  label?: string;
  /** Whether the run is added to the history of the lock. Without it, the release costs one write less. */
  history?: boolean;
}

/** How often something may begin, over all programs and hosts. */
export interface RateOptions extends Pick<ClaimOptions, "wait" | "signal"> {
  /** How many may begin in each span of `per`. */
  max: number;
  /** The span. */
  per: Duration;
}

/** What is claimed: a lock, leases, or both at once. At least one of the two is required. */
export interface AcquireOptions extends ClaimOptions {
  /** Name of the lock. */
  lock?: string;
  /** Leases in the syntax of `signalbox run --lease`, `RESOURCE=COUNT[:TOTAL]`: `["db=2:10"]`. Counts are in units. */
  leases?: readonly string[];
}

/** A claim that this process holds. */
export interface Held {
  /** The fencing token: a decimal number that grows from holder to holder. Have the systems that you write to compare it. */
  readonly token: string;
  /** Id of the run, as `signalbox ls` shows it. */
  readonly run: string;
  /** Name of the lock; undefined if only leases are held. */
  readonly lock: string | undefined;
  /**
   * Aborted with a ClaimLostError when the claim is lost: end what relies on it at once. That is a termination timeout before
   * another run can get the claim, unless somebody took it by force.
   */
  readonly signal: AbortSignal & { readonly reason: ClaimLostError };
  /** Frees the claim. A second call waits for the first. Never rejects: a claim that cannot be freed ends with its session. */
  release(): Promise<void>;
  /** Same as `release`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Who holds a lock. */
export interface LockHolder {
  /** The fencing token of the claim: a decimal number. */
  readonly token: string;
  /** Id of the run, which is that of `Held` in the process that holds the lock. */
  readonly run: string;
  /** Full name of its host. */
  readonly host: string;
  /** Id of its process on that host. */
  readonly pid: number;
  /** Name of its user. */
  readonly user: string;
  /** The label of the claim. */
  readonly label: string | undefined;
}

/** How something is watched. */
export interface WatchOptions {
  /** Ends the watch: the iteration throws the reason of the signal. */
  signal?: AbortSignal;
}

/** A function that runs while a claim is held. The claim is freed when it has ended. */
export type Work<T> = (held: Held) => T | Promise<T>;
