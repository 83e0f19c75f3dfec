import type { Claim } from "../snapshot/claims.ts";

/**
 * A run that a configuration change affects. `ended`: its command is terminated. `leaves`: it waits, and gives up.
 * `perhaps`: it waits, and may give up; its tickets do not show enough to decide.
 */
export interface AffectedRun {
  readonly claim: Claim;
  readonly fate: "ended" | "leaves" | "perhaps";
  /** Its exit code, unless its options set another one. */
  readonly exit: number;
  readonly why: string;
}

/** The effect on a run, and the reason. */
export type ImpactVerdict = Omit<AffectedRun, "claim">;

/** Worst first. */
export const FATES: readonly AffectedRun["fate"][] = ["ended", "leaves", "perhaps"];
