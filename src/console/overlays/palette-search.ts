import fuzzysort from "fuzzysort";
import { cleanToWidth, computeDisplayWidth } from "../../base/display-width.ts";
import { padCells, padText, type RowCell, type RowModel } from "../theme/cells.ts";
import type { StyleRole } from "../theme/roles.ts";
import { findBoundaryFrom } from "./field.ts";
import { ENTRY_KINDS, isExecutable, type PaletteEntry } from "./palette-entries.ts";

/** A matching entry, and the positions of the query's letters in it. */
interface PaletteMatch {
  readonly entry: PaletteEntry;
  /** Ranges in its label. */
  readonly label: readonly TextRange[];
  /** Ranges in its detail, if the label does not match. */
  readonly detail: readonly TextRange[];
}

export interface SearchResult {
  /** Best first. */
  readonly matches: readonly PaletteMatch[];
  /** Number of all matches, including those beyond the limit. */
  readonly total: number;
}

/** A parsed query. */
interface SearchQuery {
  text: string;
  limit: number;
  recent: readonly string[];
}

interface PreparedEntry {
  readonly entry: PaletteEntry;
  readonly label: ReturnType<typeof fuzzysort.prepare>;
  /** Undefined for names: the detail of a name is only its kind. */
  readonly detail?: ReturnType<typeof fuzzysort.prepare>;
}

type RankedMatch = PaletteMatch & { readonly rank: number };

/** Matches by label: the best ones, and how many there are. */
interface LabelMatches {
  ranked: readonly RankedMatch[];
  total: number;
}

/** Minimum score of a match, from 0 to 1: the letters occur in order, anywhere. */
const LEAST = 0.2;
/** Minimum score in a detail. A detail is prose, where scattered letters mean nothing. */
const LEAST_IN_DETAIL = 0.6;
/** Score of an entry that is found by the operators' own words: above each detail, below a label that fits. */
const BY_PHRASE = 0.8;

/** Entries prepared for searching. Preparing ten thousand takes some ms and is done once. */
export class PaletteIndex {
  readonly #all: readonly PreparedEntry[];

  constructor(entries: readonly PaletteEntry[]) {
    this.#all = entries.map(prepareEntry);
  }

  /**
   * Finds the entries that match a query, best first. `>` limits the search to commands and actions, `@` to names;
   * `lock inv` also finds names of that kind. An empty query lists recently used entries, then all others in order.
   * @param limit   maximum number of matches
   * @param recent  ids of recently used entries, newest first
   */
  search(query: string, limit: number, recent: readonly string[] = []): SearchResult {
    const { within, text } = this.#parseScope(query.trim());
    if (text === "") return listUnfiltered(within, limit, recent);
    const wanted = { text, limit, recent };
    const [named, told, meant, asked] = [
      searchLabels(within, wanted),
      searchDetails(within, wanted),
      searchPhrases(within, wanted),
      this.#searchKind(wanted),
    ];
    const all = [...named.ranked, ...told, ...meant, ...asked.ranked];
    const best = new Map<PaletteEntry, RankedMatch>();
    for (const one of all.sort((a, b) => a.rank - b.rank)) best.set(one.entry, one);
    const matches = [...best.values()].sort((a, b) => b.rank - a.rank);
    return {
      matches: matches.slice(0, limit),
      total: Math.max(named.total + told.length, asked.total, matches.length),
    };
  }

  #parseScope(query: string): { within: readonly PreparedEntry[]; text: string } {
    const fits = { ">": isExecutable, "@": isName }[query[0] ?? ""];
    if (fits === undefined) return { within: this.#all, text: query };
    return { within: this.#all.filter(({ entry }) => fits(entry)), text: query.slice(1).trim() };
  }

  /** Searches the names of one kind: `lock inv`. */
  #searchKind({ text, ...wanted }: SearchQuery): LabelMatches {
    const [, word = "", rest = ""] = /^(\p{L}+)\s+(.+)$/u.exec(text) ?? [];
    const kind = ENTRY_KINDS.find((one) => [one, `${one}s`].includes(word.toLowerCase()));
    if (kind === undefined) return { ranked: [], total: 0 };
    const within = this.#all.filter(({ entry }) => entry.kind === kind && isName(entry));
    return searchLabels(within, { text: rest, ...wanted });
  }
}

function prepareEntry(entry: PaletteEntry): PreparedEntry {
  const label = fuzzysort.prepare(entry.label);
  return isName(entry) ? { entry, label } : { entry, label, detail: fuzzysort.prepare(entry.detail) };
}

function searchLabels(within: readonly PreparedEntry[], { text, limit, recent }: SearchQuery): LabelMatches {
  // The limit keeps the best matches by rank, not by score.
  const scoreFn = ({ obj, score }: { obj: PreparedEntry; score: number }) =>
    computeRank(obj.entry, text, score, recent);
  const key = ({ label }: PreparedEntry) => label;
  const found = fuzzysort.go(text, within, { key, limit, threshold: LEAST, scoreFn });
  const ranked = found.map(({ obj: { entry, label }, indexes, target }) => ({
    entry,
    label: toTextRanges(target, indexes),
    detail: [],
    rank: computeRank(entry, text, fuzzysort.single(text, label)?.score ?? 0, recent),
  }));
  return { ranked, total: found.total };
}

/** Searches details, so that a query need not contain the command's own words. */
function searchDetails(within: readonly PreparedEntry[], { text, recent }: SearchQuery): RankedMatch[] {
  return within.flatMap(({ entry, label, detail }) => {
    if (detail === undefined || (fuzzysort.single(text, label)?.score ?? 0) >= LEAST) return [];
    const found = fuzzysort.single(text, detail);
    if (found === null || found.score < LEAST_IN_DETAIL) return [];
    const rank = computeRank(entry, text, found.score / 2, recent);
    return { entry, label: [], detail: toTextRanges(found.target, found.indexes), rank };
  });
}

/** Finds entries by the words that operators use for them. */
function searchPhrases(within: readonly PreparedEntry[], { text, recent }: SearchQuery): RankedMatch[] {
  return within.flatMap(({ entry }) =>
    hasPhrase(listOperatorWords(entry), text)
      ? [{ entry, label: [], detail: [], rank: computeRank(entry, text, BY_PHRASE, recent) }]
      : [],
  );
}

/** Lists entries without a query. Entries that cannot be chosen come last. */
function listUnfiltered(
  within: readonly PreparedEntry[],
  limit: number,
  recent: readonly string[],
): SearchResult {
  const entries = within.map(({ entry }) => entry);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const lately = recent.flatMap((id) => byId.get(id) ?? []);
  const usable = entries.filter(({ disabled }) => disabled === undefined);
  const others = entries.filter(({ disabled }) => disabled !== undefined);
  const shown = new Set([...lately, ...usable.slice(0, limit), ...others]);
  const matches = [...shown].slice(0, limit).map((entry) => ({ entry, label: [], detail: [] }));
  return { matches, total: within.length };
}

function isName(entry: PaletteEntry): boolean {
  return !isExecutable(entry) && entry.kind !== "view" && entry.kind !== "context";
}

/** Words that operators type for an entry, by the entry's id, where its label and its detail have others. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  "command:drain all": ["stop everything", "maintenance"],
  "command:undrain all": ["lift drain of everything", "end maintenance"],
  "command:drain": ["evacuate"],
  "command:undrain": ["lift drain"],
  "command:reset": ["kill run", "evict holder", "force unlock"],
  "command:release": ["remove waiter", "cancel waiting"],
  "command:schedule trigger": ["run now", "start now"],
  "command:schedule dead": ["dead letters", "failed occurrences"],
  "action:placeBack": ["go back", "previous place"],
  "action:placeForward": ["go forward", "next place"],
  "action:travel": ["time travel", "go to a past time"],
  "action:theme": ["colours", "dark mode", "light mode"],
  "action:help": ["keyboard shortcuts"],
  "action:export": ["save as csv", "save as file"],
  "action:notifyMe": ["alert", "watch row"],
};

const OF_CONTEXTS = ["switch cluster", "change cluster", "switch context"];

/** Minimum length of a query: one or two letters begin too many words. */
const LEAST_LETTERS = 3;

/** Lists the phrases that find an entry besides its label and its detail. */
function listOperatorWords({ id, kind }: { id: string; kind: string }): readonly string[] {
  return kind === "context" ? OF_CONTEXTS : (WORDS[id] ?? []);
}

/** Whether each word of a query begins a word of one of the phrases. */
function hasPhrase(phrases: readonly string[], query: string): boolean {
  if (query.length < LEAST_LETTERS) return false;
  const sought = query.toLowerCase().split(/\s+/);
  return phrases.some((phrase) => {
    const words = phrase.split(" ");
    return sought.every((part) => words.some((word) => word.startsWith(part)));
  });
}

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
function computeRank(entry: PaletteEntry, text: string, score: number, recent: readonly string[]): number {
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

/** A part of a text, as indexes: the first is included, the second is not. */
type TextRange = readonly [from: number, to: number];

/** Converts offsets of single letters to ranges of whole graphemes. Adjacent ranges are merged. */
export function toTextRanges(text: string, offsets: readonly number[]): TextRange[] {
  const ranges: [number, number][] = [];
  for (const offset of [...offsets].sort((a, b) => a - b)) {
    if (offset >= text.length) break;
    const last = ranges.at(-1);
    if (last !== undefined && offset < last[1]) continue;
    const end = findBoundaryFrom(text, offset + 1);
    if (last !== undefined && last[1] === offset) last[1] = end;
    else ranges.push([offset, end]);
  }
  return ranges;
}

/** Splits a text into its parts, in order, each within a range or outside. */
export function splitByRanges(
  text: string,
  ranges: readonly TextRange[],
): { text: string; isWithin: boolean }[] {
  const parts: { text: string; isWithin: boolean }[] = [];
  let at = 0;
  for (const [from, to] of ranges) {
    parts.push(
      { text: text.slice(at, from), isWithin: false },
      { text: text.slice(from, to), isWithin: true },
    );
    at = to;
  }
  return [...parts, { text: text.slice(at), isWithin: false }].filter((part) => part.text !== "");
}

/** Columns between two columns of text. */
const GAP = 2;
/** Maximum share of the width for labels, so that details have room. */
const MOST_FOR_LABELS = 0.5;

/**
 * Builds the rows of matches: label, then the detail or the reason why it cannot be chosen, and keys at the right edge.
 * @param selected  index of the match under the cursor
 * @param width     columns of every row
 */
export function buildMatchRows(
  matches: readonly PaletteMatch[],
  selected: number,
  width: number,
): RowModel[] {
  const widest = Math.max(0, ...matches.map(({ entry }) => computeDisplayWidth(entry.label)));
  const room = Math.max(1, Math.min(widest, Math.floor(width * MOST_FOR_LABELS)));
  return matches.map((match, at) => ({
    cells: buildMatchCells(match, room, width),
    selection: at === selected ? "focused" : undefined,
  }));
}

function buildMatchCells({ entry, label, detail }: PaletteMatch, room: number, width: number): RowCell[] {
  const isUsable = entry.disabled === undefined;
  const keys = entry.keys.slice(0, 2).join(" ");
  const left = Math.max(0, width - room - GAP - (keys === "" ? 0 : computeDisplayWidth(keys) + GAP));
  const gap = { text: " ".repeat(GAP) };
  return [
    ...padCells(highlightRanges(isUsable ? "plain" : "disabled", entry.label, label, room), room),
    gap,
    ...(isUsable
      ? padCells(highlightRanges("quiet", entry.detail, detail, left), left)
      : [{ text: padText(cleanToWidth(`(${entry.disabled})`, left), left), role: "disabled" as const }]),
    ...(keys === "" ? [] : [gap, { text: keys, role: "key" as const }]),
  ];
}

/** Highlights the letters that match the query. Letters that are cut off are not highlighted. */
function highlightRanges(
  role: StyleRole,
  text: string,
  ranges: readonly TextRange[],
  room: number,
): RowCell[] {
  const cut = cleanToWidth(text, room);
  const whole = cut === text ? text.length : Math.max(0, cut.length - 1); // without the ellipsis
  const shown = ranges
    .filter(([from]) => from < whole)
    .map(([from, to]) => [from, Math.min(to, whole)] as const);
  return splitByRanges(cut, shown).map((part) =>
    part.isWithin ? { text: part.text, role: "match", ground: role } : { text: part.text, role },
  );
}

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
