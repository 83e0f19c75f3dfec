import { isExecutable, type PaletteEntry } from "./entry.ts";

/** Added to the fuzzy score, which is from 0 to 1. */
const EXACT = 0.6;
const PREFIX = 0.15;
const DOING = 0.1;
/** A view whose label starts with the query comes before commands: a command opens a form, a view opens at once. */
const VIEW = 0.5;
const RECENT = 0.2;
const DISABLED = -0.15;

/**
 * Returns the rank of a match; higher is better.
 * @param score   the fuzzy score, from 0 to 1
 * @param recent  ids of recently used entries, newest first
 */
export function computeRank(
  entry: PaletteEntry,
  text: string,
  score: number,
  recent: readonly string[],
): number {
  const [label, sought] = [entry.label.toLowerCase(), text.toLowerCase()];
  const fits = label === sought ? EXACT : label.startsWith(sought) ? PREFIX : 0;
  const at = recent.indexOf(entry.id);
  const lately = at < 0 ? 0 : RECENT * (1 - at / recent.length);
  const view = entry.kind === "view" && label.startsWith(sought) ? VIEW : 0;
  return (
    score +
    fits +
    lately +
    view +
    (isExecutable(entry) ? DOING : 0) +
    (entry.disabled === undefined ? 0 : DISABLED)
  );
}

/** Maximum number of recent entries kept. */
const REMEMBERED = 20;

/** Adds an id to the recently used ones, newest first, without duplicates. */
export function addRecentEntry(recent: readonly string[], id: string): readonly string[] {
  return [id, ...recent.filter((one) => one !== id)].slice(0, REMEMBERED);
}
