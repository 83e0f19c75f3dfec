import { type ParseResult, quoteText } from "../../base/text.ts";

/** The fields that a word can be limited to. */
const FIELDS = ["host", "state", "holder", "tag", "fav"] as const;
export type FilterField = (typeof FIELDS)[number];

export const COMPARATORS = [">=", "<=", ">", "<", "="] as const;
export type Comparator = (typeof COMPARATORS)[number];

/** A word of a filter, as typed. */
export type FilterWord = { isInverse: boolean } & (
  | { kind: "word" | "pattern"; field: FilterField | undefined; text: string }
  | { kind: "comparison"; column: string; comparator: Comparator; text: string }
);

const FIELD = new RegExp(`(${FIELDS.join("|")}):`, "iy");
const COMPARISON = /([a-z][a-z0-9-]*):(>=|<=|>|<|=)(\S*)/iy;
/** `/…/`, with `/` in a class or behind a backslash. Each letter fits one alternative only, so it takes linear time. */
const SLASHED = /\/((?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+)\/(?=\s|$)/sy;
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
const BARE = /\S*/y;

/**
 * Splits a filter into words. Each may begin with `!`, and then with a field and a colon. It is a word, `"a quoted
 * text"`, `/a pattern/`, `~pattern`, or a comparison such as `since:>1h`.
 */
export function splitFilterWords(text: string): ParseResult<FilterWord[]> {
  const words: FilterWord[] = [];
  let at = 0;
  const accept = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at += found[0].length;
    return found;
  };
  for (;;) {
    accept(/\s+/y);
    if (at >= text.length) return { value: words };
    const isInverse = accept(/!(?=\S)/y) !== null;
    const compared = accept(COMPARISON);
    if (compared !== null) {
      const [, column = "", comparator, value = ""] = compared;
      words.push({
        isInverse,
        kind: "comparison",
        column: column.toLowerCase(),
        comparator: comparator as Comparator,
        text: value,
      });
      continue;
    }
    const field = accept(FIELD)?.[1]?.toLowerCase() as FilterField | undefined;
    const slashed = accept(SLASHED);
    const isPattern = slashed !== null || accept(/~/y) !== null;
    const isQuoted = slashed === null && text[at] === '"';
    const found = slashed ?? (isQuoted ? accept(QUOTED) : accept(BARE));
    if (found === null) return { fault: `a quote is not closed: ${quoteText(text.slice(at))}` };
    // In a pattern, a backslash has its own meaning, except before a quote.
    const value = isQuoted
      ? (found[1] ?? "").replaceAll(isPattern ? /\\(")/g : /\\(["\\])/g, "$1")
      : (found[1] ?? found[0]);
    words.push({ isInverse, kind: isPattern ? "pattern" : "word", field, text: value });
  }
}
