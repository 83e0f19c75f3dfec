import type { Column, View } from "./tables/view.ts";

/** What rows are wanted: every word must hold of them. */
export type Filter = readonly Wanted[];

export type Wanted = { of: "text" | "host" | "state" | "holder"; word: string };

/**
 * A filter as it is typed: words, and `host:`, `state:`, `holder:` with a word. Case says nothing. A state may be cut
 * short; the others may stand anywhere in the text. An unknown word before a colon is text: names have colons.
 */
export function parseFilter(text: string): Filter {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return words.flatMap((word): Wanted[] => {
    const [, of, rest] = /^(host|state|holder):(.*)$/.exec(word) ?? [];
    if (of === undefined || rest === undefined) return [{ of: "text", word }];
    return rest === "" ? [] : [{ of: of as Wanted["of"], word: rest }];
  });
}

/** Whether a row is wanted. */
export function passes<R>(view: Pick<View<R>, "facets" | "columns">, filter: Filter, row: R): boolean {
  if (filter.length === 0) return true;
  const { states, hosts, holders } = view.facets(row);
  const has = (texts: readonly string[], word: string) =>
    texts.some((one) => one.toLowerCase().includes(word));
  return filter.every(({ of, word }) => {
    if (of === "host") return has(hosts, word);
    if (of === "holder") return has(holders, word);
    if (of === "state") return states.some((state) => state.startsWith(word));
    return has([...hosts, ...textsOf(view.columns, row)], word) || begins(view.columns, row, word);
  });
}

/** Words are looked for in words: a number would be found in every other row. */
function textsOf<R>(columns: readonly Column<R>[], row: R): string[] {
  return columns
    .filter(({ align, isTimed, isRandom }) => align !== "right" && !isTimed && !isRandom)
    .map(({ text }) => text(row, 0));
}

/** As few characters as other commands take for the beginning of a run's id. */
const FEWEST = 4;

function begins<R>(columns: readonly Column<R>[], row: R, word: string): boolean {
  if (word.length < FEWEST) return false;
  return columns.some(({ isRandom, text }) => isRandom && text(row, 0).toLowerCase().startsWith(word));
}
