import type { PaletteEntry } from "./entry.ts";
import type { SearchResult } from "./search.ts";

/** Adds the entry that travels to a time, first, if the text asks for one: `at 03:00`. */
export function addTravelMatch(text: string, found: SearchResult): SearchResult {
  const [, time] = /^\s*at\s+(\S.*?)\s*$/i.exec(text) ?? [];
  if (time === undefined) return found;
  const entry: PaletteEntry = {
    id: "travel",
    kind: "action",
    label: `at ${time}`,
    detail: "show everything as it was then",
    keys: [],
    choice: { kind: "travel", time },
  };
  return { matches: [{ entry, label: [], detail: [] }, ...found.matches], total: found.total + 1 };
}
