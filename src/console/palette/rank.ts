import { type Entry, isDoing } from "./entry.ts";

/** What counts beside how well the letters fit, which is from 0 to 1. */
const EXACT = 0.6;
const PREFIX = 0.15;
const DOING = 0.1;
const RECENT = 0.2;
const DISABLED = -0.15;

/**
 * How high an entry stands among those found.
 * @param score   how well the letters fit, from 0 to 1
 * @param recent  ids of entries used lately, newest first
 */
export function rankOf(entry: Entry, text: string, score: number, recent: readonly string[]): number {
  const [label, sought] = [entry.label.toLowerCase(), text.toLowerCase()];
  const fits = label === sought ? EXACT : label.startsWith(sought) ? PREFIX : 0;
  const at = recent.indexOf(entry.id);
  const lately = at < 0 ? 0 : RECENT * (1 - at / recent.length);
  return score + fits + lately + (isDoing(entry) ? DOING : 0) + (entry.disabled === undefined ? 0 : DISABLED);
}

/** How many entries are remembered as used. */
const REMEMBERED = 20;

/** Ids of entries used lately with one more, newest first, none twice. */
export function used(recent: readonly string[], id: string): readonly string[] {
  return [id, ...recent.filter((one) => one !== id)].slice(0, REMEMBERED);
}
