import { EXIT, SignalboxError } from "../base/errors.ts";

// The kinds of `ClaimRefusal`. They are repeated here so that the library's types do not import the decision code.
/**
 * Why a claim was refused. `busy`: other runs hold what was requested. `drained`: a drain forbids new grants.
 * `outside`: the host is not in the group. `timeout`: the wait timed out. `evicted`: an operator removed the waiting
 * run. `gone`: its tickets are missing. `lapsed`: the session expired during the wait. `unmet`: a condition on the host
 * does not hold.
 */
export type RefusalKind =
  | "busy"
  | "drained"
  | "outside"
  | "timeout"
  | "evicted"
  | "gone"
  | "lapsed"
  | "unmet";

/** Nothing was claimed: what was requested is taken, drained, or did not become free in time (exit 75). */
export class BusyError extends SignalboxError {
  override readonly code = "BUSY";
  /** Why the claim was refused. */
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string) {
    super(EXIT.busy, message);
    this.kind = kind;
  }
}

/**
 * Why a held claim is no longer reliable. `gone`: another run may hold it already. `asked`: it was reset, or its host
 * left the group. `horizon`: the session could not be renewed in time. `overdue`: it was held longer than `maxHold`.
 * `closed`: the program gave it up. A claim that is `asked`, `overdue` or `closed` remains held until it is released.
 */
export type LossKind = "gone" | "asked" | "horizon" | "overdue" | "closed";

/**
 * A held claim is lost, or will be lost before the work that relies on it can end (exit 125). `cause` is the error that the
 * work has thrown, if any.
 */
export class ClaimLostError extends SignalboxError {
  override readonly code = "CLAIM_LOST";
  /** Why the claim is no longer reliable. */
  readonly kind: LossKind;

  constructor(kind: LossKind, message: string, options?: { cause?: unknown }) {
    super(EXIT.lost, message, options);
    this.kind = kind;
  }
}
