import { parseDuration, type WallTime } from "../../core/base/clock.ts";
import { type ParseResult, quoteText } from "../../core/base/text.ts";
import type { TableColumn, TableView } from "./view.ts";

/** A filter for rows: a row must match every term. */
export interface RowFilter {
  readonly terms: readonly FilterTerm[];
  /** Why the filter cannot be used. It then matches no row. */
  readonly fault: string | undefined;
}

interface FilterTerm {
  isInverse: boolean;
  test: FilterTest;
}

type FilterTest =
  | { of: "text" | FilterField; word: string }
  | { of: "text" | FilterField; pattern: RegExp }
  | { of: "column"; id: string; comparator: Comparator; than: number; isTimed: boolean }
  | { of: "start"; from: number };
type TextTest = Exclude<FilterTest, { of: "column" | "start" }>;

/** Matches every row. */
export const NO_FILTER: RowFilter = { terms: [], fault: undefined };

/**
 * Parses a filter. docs/console.md describes the language. Case is ignored. A state and a tag match by prefix, the
 * others match anywhere in the text. An unknown word before a colon is text, because names contain colons.
 * @returns never throws: a filter with a fault matches no row
 */
export function parseRowFilter<R>(text: string, view: TableView<R>): RowFilter {
  const words = splitFilterWords(text);
  if ("fault" in words) return { terms: [], fault: words.fault };
  const terms: FilterTerm[] = [];
  for (const word of words.value) {
    if (word.text === "") {
      const what =
        word.kind === "comparison" ? `${word.column}:${word.comparator}` : word.field && `${word.field}:`;
      if (what === undefined) continue; // an empty quotation
      return { terms: [], fault: describeMissingWord(what) };
    }
    const test = parseTest(word, view);
    if ("fault" in test) return { terms: [], fault: test.fault };
    terms.push({ isInverse: word.isInverse, test: test.value });
  }
  return { terms, fault: undefined };
}

/** An empty word would match every row. */
export function describeMissingWord(what: string): string {
  return `${what} has no value; write one right after it, or leave it out`;
}

/** Adds words that are limited to a field, none of them empty. Unlike in a filter, a word may contain anything. */
export function addFieldWords(
  { terms, fault }: RowFilter,
  words: Readonly<Partial<Record<FilterField, string | undefined>>>,
): RowFilter {
  const added = Object.entries(words).flatMap(([of, word]): FilterTerm[] =>
    word === undefined
      ? []
      : [{ isInverse: false, test: { of: of as FilterField, word: word.toLowerCase() } }],
  );
  return { terms: [...terms, ...added], fault };
}

/** Adds the start of the time that rows of past events must be from. */
export function addStart({ terms, fault }: RowFilter, from: WallTime): RowFilter {
  return { terms: [...terms, { isInverse: false, test: { of: "start", from } }], fault };
}

/** Returns the instant from which on rows match; undefined without one. */
export function findStart({ terms }: RowFilter): WallTime | undefined {
  return terms.flatMap(({ test }) => (test.of === "start" ? [test.from] : []))[0];
}

function parseTest<R>(word: FilterWord, view: TableView<R>): ParseResult<FilterTest> {
  if (word.kind === "comparison") return parseComparison(word, view);
  const of = word.field ?? "text";
  if (word.kind === "word") return { value: { of, word: word.text.toLowerCase() } };
  const pattern = parsePattern(word.text);
  return "fault" in pattern ? pattern : { value: { of, pattern: pattern.value } };
}

function parsePattern(text: string): ParseResult<RegExp> {
  try {
    return { value: new RegExp(text, "iu") };
  } catch (error) {
    // "Invalid regular expression: /(/iu: Unterminated group" in V8; JavaScriptCore does not repeat the expression.
    const reason = (error as Error).message.replace(/^Invalid regular expression: (?:\/.*\/iu: )?/s, "");
    return { fault: `pattern ${quoteText(text)}: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}` };
  }
}

/** Words for columns that have different names in different views; the first column that the view has. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  wait: ["waits", "longest", "waited"],
  age: ["since", "seen", "ended"],
};

function parseComparison<R>(
  { column, comparator, text }: Extract<FilterWord, { kind: "comparison" }>,
  { id: view, columns }: TableView<R>,
): ParseResult<FilterTest> {
  const measured = columns.filter(({ getMeasure }) => getMeasure !== undefined);
  const ids = ALIASES[column] ?? [column];
  const found = ids.flatMap((id) => measured.find((one) => one.id.toLowerCase() === id) ?? [])[0];
  if (found === undefined) {
    const known = measured.map(({ id }) => id).join(", ");
    const what = known === "" ? "it has none" : `use one of ${known}`;
    return { fault: `${view} has no number or time ${quoteText(column)}; ${what}` };
  }
  const { id, unit, isTimed = false } = found;
  const than = unit === "duration" ? parseDuration(text) : parseNumber(text);
  if ("fault" in than) return { fault: `${id}: ${than.fault}` };
  return { value: { of: "column", id, comparator, than: than.value, isTimed } };
}

function parseNumber(text: string): ParseResult<number> {
  return /^-?\d{1,15}(\.\d{1,9})?$/.test(text)
    ? { value: Number(text) }
    : { fault: `${quoteText(text)} is not a number` };
}

/** Splits a filter by whether the rows that match change as time passes. */
export function splitTimedFilter({ terms, fault }: RowFilter): { steady: RowFilter; timed: RowFilter } {
  const isTimed = ({ test }: FilterTerm) => test.of === "column" && test.isTimed;
  return {
    steady: { terms: terms.filter((term) => !isTimed(term)), fault },
    timed: { terms: terms.filter(isTimed), fault: undefined },
  };
}

/** Whether a row matches. */
type RowTest<R> = (row: R, wall: WallTime) => boolean;

/** Creates the test whether a row matches a filter. */
export function createRowTest<R>(view: TableView<R>, { terms, fault }: RowFilter): RowTest<R> {
  if (fault !== undefined) return () => false;
  const tests = terms.map(({ isInverse, test }) => ({ isInverse, isMet: createTest(view, test) }));
  return (row, wall) => tests.every(({ isInverse, isMet }) => isMet(row, wall) !== isInverse);
}

function createTest<R>(view: TableView<R>, test: FilterTest): RowTest<R> {
  if (test.of === "column") return createComparison(view, test);
  if (test.of === "start") return (row) => (view.getInstant?.(row) ?? 0) >= test.from;
  const isMatch = createTextTest(test);
  if (test.of === "text") return createTextSearch(view, test, isMatch);
  const facet = FACET_OF_FIELD[test.of];
  return (row) => view.getFacets(row)[facet]?.some(isMatch) ?? false;
}

function createTextTest(test: TextTest): (text: string) => boolean {
  if ("pattern" in test) return (text) => test.pattern.test(text);
  const { of, word } = test;
  return of === "state" || of === "tag"
    ? (text) => text.toLowerCase().startsWith(word)
    : (text) => text.toLowerCase().includes(word);
}

function createTextSearch<R>(
  view: TableView<R>,
  test: TextTest,
  isMatch: (text: string) => boolean,
): RowTest<R> {
  const searched = listSearched(view.columns);
  const word = "word" in test && test.word.length >= MIN_RUN_PREFIX ? test.word : undefined;
  const random = word === undefined ? [] : view.columns.filter(({ isRandom }) => isRandom);
  return (row) =>
    searched.some(({ formatCell }) => isMatch(formatCell(row, 0))) ||
    view.getFacets(row).hosts.some(isMatch) ||
    random.some(({ formatCell }) =>
      formatCell(row, 0)
        .toLowerCase()
        .startsWith(word ?? ""),
    );
}

/**
 * Lists the columns whose texts words are matched against. Numbers are excluded: they would match in many rows. So are
 * drawings, which take time to compute.
 */
function listSearched<R>(columns: readonly TableColumn<R>[]): TableColumn<R>[] {
  return columns.filter(
    ({ align, isTimed, isRandom, formatAsciiCell }) =>
      align !== "right" && !isTimed && !isRandom && !formatAsciiCell,
  );
}

/** Minimum length of a run id prefix, as in other commands. */
const MIN_RUN_PREFIX = 4;

/** Creates the test whether a column's number fits. A cell without a number never does. */
function createComparison<R>(
  { columns }: TableView<R>,
  { id, comparator, than }: Extract<FilterTest, { of: "column" }>,
): RowTest<R> {
  const column = columns.find((one) => one.id === id);
  return (row, wall) => {
    const own = column?.getMeasure?.(row, wall);
    if (own === undefined || Number.isNaN(own)) return false;
    switch (comparator) {
      case ">":
        return own > than;
      case "<":
        return own < than;
      case ">=":
        return own >= than;
      case "<=":
        return own <= than;
      case "=":
        return own === than;
    }
  };
}

/** The fields that a word can be limited to. */
const FIELDS = ["host", "state", "holder", "tag"] as const;
type FilterField = (typeof FIELDS)[number];
const FACET_OF_FIELD = { host: "hosts", state: "states", holder: "holders", tag: "tags" } as const;

const COMPARATORS = [">=", "<=", ">", "<", "="] as const;
type Comparator = (typeof COMPARATORS)[number];

/** A word of a filter, as typed. */
type FilterWord = { isInverse: boolean } & (
  | { kind: "word" | "pattern"; field: FilterField | undefined; text: string }
  | { kind: "comparison"; column: string; comparator: Comparator; text: string }
);

const FIELD = new RegExp(`(${FIELDS.join("|")}):`, "iy");
const COMPARISON = /([a-z][a-z0-9-]*):(>=|<=|>|<|=)(\S*)/iy;
/** `/…/`, with `/` in a class or behind a backslash. Each letter fits one alternative only, so it takes linear time. */
const SLASHED_PATTERN = /\/((?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+)\/(?=\s|$)/sy;
const QUOTED_WORD = /"((?:[^"\\]|\\.)*)"/sy;
const BARE_WORD = /\S*/y;

/**
 * Splits a filter into words. Each may begin with `!`, and then with a field and a colon. It is a word, `"a quoted
 * text"`, `/a pattern/`, or a comparison such as `since:>1h`.
 */
function splitFilterWords(text: string): ParseResult<FilterWord[]> {
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
    const slashed = accept(SLASHED_PATTERN);
    const quoted = slashed === null && text[at] === '"';
    const found = slashed ?? accept(quoted ? QUOTED_WORD : BARE_WORD);
    if (found === null) return { fault: `a quote is not closed: ${quoteText(text.slice(at))}` };
    const [whole, inside = whole] = found;
    const value = quoted ? inside.replaceAll(/\\(["\\])/g, "$1") : inside;
    words.push({ isInverse, kind: slashed === null ? "word" : "pattern", field, text: value });
  }
}
