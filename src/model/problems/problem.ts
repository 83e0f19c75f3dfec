import type { NamedQueue, Picture } from "../picture.ts";

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
    | "host"
    | "late"
    | "dead-letter"
    | "no-worker";
  level: "warning" | "failure";
  /** What it is about: `lock invoices`, `group web`. */
  subject: string;
  detail: string;
  /** What to type, or what to look at. */
  remedy: string;
  /** The host and the run that it has to do with, where there is one. */
  host?: string;
  run?: string;
}

/** The same for a problem as long as it lasts: its detail says for how long. */
export function problemId({ kind, subject, run = "", detail }: Problem): string {
  return [kind, subject, kind === "group" ? detail : run].join("/");
}

/** From when on something is worth a word, ms. */
export interface Patience {
  /** Waiting longer than this, and than `unusual` times what is usual for the lock. */
  wait: number;
  /** How many times longer than 95 % of the runs before is worth a word. */
  unusual: number;
  /** Holding longer than this where no history says what is usual. */
  hold: number;
  /** A reset that was asked for so long ago. */
  reset: number;
  /** A ticket of a host that has left no word so long after. */
  word: number;
  /** Clocks that differ by this. */
  clock: number;
  /** A schedule that nobody has started for so long after it was due. */
  late: number;
  /** A host of a group that was not seen for so long. */
  host: number;
}

export const PATIENCE: Patience = {
  wait: 3_600_000,
  unusual: 3,
  hold: 86_400_000,
  reset: 120_000,
  word: 600_000,
  clock: 5_000,
  late: 300_000,
  host: 86_400_000,
};

/** What problems are looked for in. */
export interface Look {
  picture: Picture;
  wall: number;
  patience: Patience;
}

/** `lock invoices`. */
export function nameOf({ kind, name }: Pick<NamedQueue, "kind" | "name">): string {
  return `${kind} ${name}`;
}
