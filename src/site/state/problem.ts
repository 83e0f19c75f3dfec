import type { WallTime } from "../../core/base/clock.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Remedy } from "./subject.ts";

export const PROBLEM_KINDS = [
  "malformed",
  "orphan",
  "vanished",
  "totals",
  "too-large",
  "overdue",
  "long-hold",
  "long-wait",
  "reset-unanswered",
  "clock",
  "drain-ended",
  "group",
  "host",
  "late",
  "missed",
  "overrun",
  "postponed",
  "dead-letter",
  "paused",
  "hooks",
  "no-worker",
  "alarm",
  "member",
  "versions",
  "quorum",
  "leader",
  "lag",
  "space",
] as const;

/** A condition that needs the attention of an operator. */
export interface Problem {
  kind: (typeof PROBLEM_KINDS)[number];
  level: "warning" | "failure";
  /** The affected object: `lock invoices`, `group web`. */
  subject: string;
  detail: string;
  /** A command to run, or advice. */
  remedy: string;
  /** The remedy as a command, if it is one. Not part of the JSON. */
  action?: Remedy;
  /** The host and the run concerned, if any. */
  host?: string;
  run?: string;
}

/** What a problem can state besides: its remedy as a command, its host and its run. */
type ProblemFacts = Pick<Problem, "action" | "host" | "run">;

const createBuilder =
  (level: Problem["level"]) =>
  (
    kind: Problem["kind"],
    subject: string,
    detail: string,
    remedy: string,
    more: ProblemFacts = {},
  ): Problem => ({
    kind,
    level,
    subject,
    detail,
    remedy,
    ...more,
  });

export const createWarning = createBuilder("warning");

/** Because of a failure, something does not work. */
export const createFailure = createBuilder("failure");

/**
 * Builds an id that stays the same while a problem lasts. It includes the detail only for groups and alarms, because other
 * details may contain a duration.
 */
export function buildProblemId({ kind, subject, run = "", detail }: Problem): string {
  return [kind, subject, kind === "group" || kind === "alarm" ? detail : run].join("/");
}

/** Limits above which something is a problem. Durations in ms. */
export const THRESHOLDS = {
  /** Waiting longer than this, and longer than `unusual` times the 95th percentile of the lock. */
  wait: 3_600_000,
  /** Multiple of the 95th percentile of past runs that counts as unusual. */
  unusual: 3,
  /** Holding longer than this, if there is no history. */
  hold: 86_400_000,
  /** Age of a reset request without effect. */
  reset: 120_000,
  /** Age of a ticket from a host without a recent host record. */
  word: 600_000,
  /** Difference between clocks. */
  clock: 5_000,
  /** Time since a schedule was due without a start. */
  late: 300_000,
  /** How often an occurrence asked for another start later. After 100 times it fails. */
  postponed: 10,
  /** Time since a host of a group was seen. */
  host: 86_400_000,
} as const;

/** Inputs for the problem checks. */
export interface ProblemInputs {
  snapshot: Snapshot;
  wall: WallTime;
}
