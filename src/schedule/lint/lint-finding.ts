/** A problem or possible mistake in a schedule. */
export interface LintFinding {
  /**
   * `error`: the schedule never fires. `warning`: it fires at times that most users do not expect. `hint`: it may be
   * intended.
   */
  level: "error" | "warning" | "hint";
  /** The part concerned: the name of a field, "cron", "timezone", "clock change" or "other readers". */
  about: string;
  /** What is wrong, or may be. */
  detail: string;
  /** What to write instead. */
  remedy?: string;
}
