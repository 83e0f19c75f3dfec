import type { Picture } from "../picture.ts";

/** Something that an operator should look at. */
export interface Problem {
  kind:
    | "malformed"
    | "orphan"
    | "totals"
    | "too-large"
    | "overdue"
    | "long-hold"
    | "long-wait"
    | "reset-unanswered"
    | "clock"
    | "drain-ended"
    | "group"
    | "host";
  level: "warning" | "failure";
  /** What it is about: `lock invoices`, `group web`. */
  subject: string;
  detail: string;
  remedy: string;
}

/** From when on something is worth a word, ms. */
export interface Patience {
  /** Waiting longer than this. */
  wait: number;
  /** Holding longer than this where no history says what is usual. */
  hold: number;
  /** A reset that was asked for so long ago. */
  reset: number;
  /** Clocks that differ by this. */
  clock: number;
  /** A host of a group that was not seen for so long. */
  host: number;
}

export const PATIENCE: Patience = {
  wait: 3_600_000,
  hold: 86_400_000,
  reset: 120_000,
  clock: 5_000,
  host: 86_400_000,
};

/** What problems are looked for in. */
export interface Look {
  picture: Picture;
  wall: number;
  patience: Patience;
}
