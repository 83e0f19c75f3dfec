/** An incident that the operator has marked, and not ended yet. Kept between sessions. */
export interface IncidentMark {
  title: string;
  /** Wall clock, ms since the epoch. */
  since: number;
  /** The problems at the start. */
  problems: readonly string[];
}

/** Largest number of problems kept, and longest text of one. */
const MOST = 200;
const LONGEST = 500;

/** Creates a mark with texts of bounded length, because it is stored with the preferences. */
export function createIncidentMark(title: string, since: number, problems: readonly string[]): IncidentMark {
  const kept = problems.slice(0, MOST).map((text) => text.slice(0, LONGEST));
  return { title: title.slice(0, LONGEST), since, problems: kept };
}

/** Restores a stored mark; undefined if there is none, or what is stored is not one. */
export function restoreIncidentMark(kept: unknown): IncidentMark | undefined {
  if (typeof kept !== "object" || kept === null) return undefined;
  const { title, since, problems } = kept as Record<string, unknown>;
  if (typeof title !== "string" || !isPastInstant(since) || !Array.isArray(problems)) return undefined;
  return createIncidentMark(
    title,
    since,
    problems.filter((text): text is string => typeof text === "string"),
  );
}

/** Whether a stored value is an instant. */
export function isPastInstant(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= 8.64e15;
}
