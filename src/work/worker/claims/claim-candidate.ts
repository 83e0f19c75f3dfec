import type { Keys } from "../../../protocol/keys.ts";
import { type Candidate, canOverlap, findNextCandidate } from "../../../schedule/state/next-candidate.ts";
import { type CachedSchedule, getStartableDue } from "../cache/cached-schedule.ts";

const NONE: ReadonlySet<number> = new Set();

/**
 * Returns the occurrence of a schedule that this worker may claim next, according to the cache. The result matches the
 * guards of the claim transaction.
 * @param now wall clock, ms since the epoch
 */
export function findClaimCandidate(keys: Keys, entry: CachedSchedule, now: number): Candidate | undefined {
  const { id, definition, running } = entry;
  const due = getStartableDue(entry);
  if (definition === undefined || due === undefined) return undefined;
  // With `overlap: allow`, a run that was claimed before it was set still blocks the others.
  if (running.size > 0 && (!canOverlap(definition) || running.has(keys.running(id)))) return undefined;
  return findNextCandidate(definition, due, listRunning(keys, running), now);
}

/** Returns the scheduled times of the running occurrences. */
function listRunning(keys: Keys, running: CachedSchedule["running"]): ReadonlySet<number> {
  if (running.size === 0) return NONE;
  return new Set(
    [...running].map(([key, one]) => parseScheduledTime(keys, key) ?? one.running?.scheduled ?? -1),
  );
}

/** Reads the scheduled time from the key. With overlapping occurrences this works even if the value cannot be read. */
function parseScheduledTime(keys: Keys, key: string): number | undefined {
  const parsed = keys.parse(key);
  return parsed.kind === "running" ? parsed.scheduled : undefined;
}
