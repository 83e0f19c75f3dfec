/** Something about a schedule that is wrong, or may not be what was meant. */
export interface LintFinding {
  /** `error`: it never fires. `warning`: it fires otherwise than most would expect. `hint`: it may be meant. */
  level: "error" | "warning" | "hint";
  /** Which part: a field's name, "cron", "timezone" or "clock change". */
  about: string;
  detail: string;
  /** What to write instead. */
  remedy?: string;
}
