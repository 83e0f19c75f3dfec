import type { Claim } from "../claims.ts";

/**
 * One run that a change hits. `ended`: its command is terminated. `leaves`: it waits, and gives up. `perhaps`: it waits,
 * and gives up if its command line says what its tickets do not show.
 */
export interface Hit {
  readonly claim: Claim;
  readonly fate: "ended" | "leaves" | "perhaps";
  /** With which it exits, unless told otherwise. */
  readonly exit: number;
  readonly why: string;
}

/** What becomes of a run, and why. */
export type Verdict = Omit<Hit, "claim">;

/** From the worst on. */
export const FATES: readonly Hit["fate"][] = ["ended", "leaves", "perhaps"];
