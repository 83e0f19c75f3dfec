/** Levels of switchman's log (Perl's Log::Dispatch), the least first. */
export const LEVELS = [
  ...(["debug", "info", "notice", "warning"] as const),
  ...(["error", "critical", "alert", "emergency"] as const),
] as const;
export type SwitchmanLevel = (typeof LEVELS)[number];

const SHORT: Readonly<Record<string, SwitchmanLevel>> = {
  ...{ warn: "warning", err: "error", crit: "critical", emerg: "emergency" },
};

/** A level by its name or its short one. */
export function levelNamed(name: string): SwitchmanLevel | undefined {
  return LEVELS.find((level) => level === name) ?? (Object.hasOwn(SHORT, name) ? SHORT[name] : undefined);
}

/** Whether a line of this level is written where `least` is the least that is. */
export function reaches(level: SwitchmanLevel, least: SwitchmanLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

/** The level of ours that is nearest. */
export function ourLevel(level: SwitchmanLevel): "debug" | "info" | "warn" | "error" {
  if (level === "debug" || level === "info") return level;
  return level === "notice" || level === "warning" ? "warn" : "error";
}
