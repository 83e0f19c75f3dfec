import type { Keys } from "../../protocol/keys.ts";
import { type Candidate, mayOverlap, prospect } from "../../schedule/prospect.ts";
import type { Entry } from "./entry.ts";

/**
 * What may be taken next of a schedule, as the book has it: what a claim's guards would let pass.
 * @param now  wall clock, ms since the epoch
 */
export function candidateOf(keys: Keys, entry: Entry, now: number): Candidate | undefined {
  const { id, definition, due, running } = entry;
  if (definition === undefined || due === undefined) return undefined;
  // One that was taken when occurrences might not overlap keeps the others waiting, whatever holds by now.
  if (mayOverlap(definition) && running.has(keys.running(id))) return undefined;
  const scheduled = [...running].map(([key, one]) => scheduledIn(keys, key) ?? one.running?.scheduled ?? -1);
  return prospect(definition, due, new Set(scheduled), now);
}

/** Where occurrences may overlap the key says which one it is, also where its value cannot be read. */
function scheduledIn(keys: Keys, key: string): number | undefined {
  const parsed = keys.parse(key);
  return parsed.kind === "running" ? parsed.scheduled : undefined;
}
