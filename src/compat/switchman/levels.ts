/** Levels of switchman's log (Perl's Log::Dispatch), the lowest first. */
export const LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;
export type SwitchmanLevel = (typeof LEVELS)[number];

const SHORT: Readonly<Record<string, SwitchmanLevel>> = {
  warn: "warning",
  err: "error",
  crit: "critical",
  emerg: "emergency",
};

/** Finds a level by its name or its short name. */
export function findSwitchmanLevel(name: string): SwitchmanLevel | undefined {
  return LEVELS.find((level) => level === name) ?? (Object.hasOwn(SHORT, name) ? SHORT[name] : undefined);
}

/** Whether `level` is at least as high as `least`. */
export function isAtLeastLevel(level: SwitchmanLevel, least: SwitchmanLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

/** Returns the nearest signalbox level. */
export function toSignalboxLevel(level: SwitchmanLevel): "debug" | "info" | "warn" | "error" {
  if (level === "debug" || level === "info") return level;
  return level === "notice" || level === "warning" ? "warn" : "error";
}
