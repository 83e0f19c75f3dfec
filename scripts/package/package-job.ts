import type { Target } from "./targets.ts";

/** What all parts of one package need to know. */
export interface PackageJob {
  /** The checkout. */
  root: string;
  /** Where the package is written. */
  folder: string;
  /** As in package.json. */
  version: string;
  /** Time of all files, s since 1970. */
  time: number;
  target: Target;
}
