import { EXIT, SignalboxError } from "../../base/errors.ts";

/** As a `Refusal` has it: written out, for the types of the library must not draw in what decides. */
export type RefusalKind = "busy" | "drained" | "outside" | "timeout" | "evicted" | "gone" | "lapsed";

/** Nothing was claimed: what was asked for is taken, drained, or was not free in time (exit 75). */
export class BusyError extends SignalboxError {
  readonly code = "BUSY";
  /** `busy`, `drained`, `outside` the group, `timeout`, `evicted` from the queue, `gone` or `lapsed`. */
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string) {
    super(EXIT.busy, message);
    this.kind = kind;
  }
}

/** Why a claim that was held cannot be relied on any more. */
export type LossKind = "gone" | "asked" | "horizon" | "overdue" | "closed";

/**
 * A claim that was held is lost, or will be before what relies on it can have ended (exit 125).
 * `gone`: somebody else may hold it already. `asked`: it was reset, or its host left the group; it is ours until it is
 * released. `horizon`: it could not be renewed in time. `overdue`: it was held longer than `maxHold`.
 * `closed`: the program gives it up.
 */
export class ClaimLostError extends SignalboxError {
  readonly code = "CLAIM_LOST";
  readonly kind: LossKind;

  constructor(kind: LossKind, message: string, options?: { cause?: unknown }) {
    super(EXIT.lost, message, options);
    this.kind = kind;
  }
}
