import { EXIT, SignalboxError } from "../../base/errors.ts";

/** The kinds of `ClaimRefusal`. They are repeated here so that the library's types do not import the decision code. */
export type RefusalKind = "busy" | "drained" | "outside" | "timeout" | "evicted" | "gone" | "lapsed";

/** Nothing was claimed: what was requested is taken, drained, or did not become free in time (exit 75). */
export class BusyError extends SignalboxError {
  override readonly code = "BUSY";
  /** `busy`, `drained`, `outside` the group, `timeout`, `evicted` from the queue, `gone` or `lapsed`. */
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string) {
    super(EXIT.busy, message);
    this.kind = kind;
  }
}

/** Why a held claim is no longer reliable. */
export type LossKind = "gone" | "asked" | "horizon" | "overdue" | "closed";

/**
 * A held claim is lost, or will be lost before the work that relies on it can end (exit 125). `gone`: another run may
 * hold it already. `asked`: it was reset, or its host left the group; the claim remains held until it is released.
 * `horizon`: the session could not be renewed in time. `overdue`: it was held longer than `maxHold`. `closed`: the
 * program gave it up.
 */
export class ClaimLostError extends SignalboxError {
  override readonly code = "CLAIM_LOST";
  readonly kind: LossKind;

  constructor(kind: LossKind, message: string, options?: { cause?: unknown }) {
    super(EXIT.lost, message, options);
    this.kind = kind;
  }
}
