import type { TableColumn, TableView } from "./view.ts";

/** A filter for rows: a row must match every term. */
export type RowFilter = readonly FilterTerm[];

type FilterTerm = { of: "text" | "host" | "state" | "holder" | "tag"; word: string };

/**
 * Parses a filter: words, and `host:`, `state:`, `holder:` or `tag:` followed by a word. Case is ignored. A state and a
 * tag match by prefix, the others match anywhere in the text. An unknown word before a colon is text, because names contain colons.
 */
export function parseRowFilter(text: string): RowFilter {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return words.flatMap((word): FilterTerm[] => {
    const [, of, rest] = /^(host|state|holder|tag):(.*)$/.exec(word) ?? [];
    if (of === undefined || rest === undefined) return [{ of: "text", word }];
    return rest === "" ? [] : [{ of: of as FilterTerm["of"], word: rest }];
  });
}

/** Whether a row matches the filter. */
export function isFilterMatch<R>(
  view: Pick<TableView<R>, "getFacets" | "columns">,
  filter: RowFilter,
  row: R,
): boolean {
  if (filter.length === 0) return true;
  const { states, hosts, holders, tags = [] } = view.getFacets(row);
  const hasWord = (texts: readonly string[], word: string) =>
    texts.some((one) => one.toLowerCase().includes(word));
  return filter.every(({ of, word }) => {
    if (of === "host") return hasWord(hosts, word);
    if (of === "holder") return hasWord(holders, word);
    if (of === "state") return states.some((state) => state.startsWith(word));
    if (of === "tag") return tags.some((tag) => tag.toLowerCase().startsWith(word));
    return hasWord([...hosts, ...listTexts(view.columns, row)], word) || hasPrefix(view.columns, row, word);
  });
}

/** Lists the texts that words are matched against. Numbers are excluded: they would match in many rows. */
function listTexts<R>(columns: readonly TableColumn<R>[], row: R): string[] {
  return columns
    .filter(({ align, isTimed, isRandom }) => align !== "right" && !isTimed && !isRandom)
    .map(({ formatCell }) => formatCell(row, 0));
}

/** Minimum length of a run id prefix, as in other commands. */
const FEWEST = 4;

function hasPrefix<R>(columns: readonly TableColumn<R>[], row: R, word: string): boolean {
  if (word.length < FEWEST) return false;
  return columns.some(
    ({ isRandom, formatCell }) => isRandom && formatCell(row, 0).toLowerCase().startsWith(word),
  );
}
