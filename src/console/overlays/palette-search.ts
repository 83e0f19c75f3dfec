import { go, snapshot } from "fuzzysort";
import { isRowCommandId } from "../../cli/commands/registry.ts";
import { memoizeWeakly } from "../../core/base/memoize.ts";
import { findBoundaryFrom } from "./field.ts";
import { NO_SELECTION, ON_ROWS, type PaletteChoice, type PaletteEntry } from "./palette-entries.ts";

/** Words that operators may type for an entry besides those in its title and description, by its id or kind. */
const SYNONYMS: Readonly<Record<string, string>> = {
  "action:create": "new add",
  "action:deadLetters": "schedule dead failed given up retry again bury",
  "action:filter": "search find grep",
  "action:help": "keyboard shortcuts",
  "action:notifyMe": "alert watch row",
  "action:output": "logs tail",
  "action:placeBack": "go previous",
  "action:placeForward": "go next",
  "action:quit": "exit close",
  "action:reread": "refresh reload",
  "action:theme": "colours colors dark light mode",
  "action:travel": "time travel go to a past time",
  "command:doctor": "upgrade version health status etcd members",
  "command:drain": "evacuate empty host maintenance",
  "command:drain all": "stop freeze everything maintenance rolling upgrade",
  "command:reset": "kill end run evict holder force unlock stuck release remove cancel waiter waiting",
  "command:resource set": "total limit raise lower",
  "command:schedule add": "new create cron",
  "command:schedule bury": "discard failed",
  "command:schedule pause": "disable",
  "command:schedule resume": "enable",
  "command:schedule trigger": "run start now again retry",
  "command:undrain": "lift drain end maintenance undo",
  "command:undrain all": "lift drain of everything end maintenance thaw",
  "view:audit": "handover shift who did",
  "view:groups": "members",
  "view:history": "handover shift failures",
  "view:members": "etcd cluster",
  "view:problems": "stuck failed errors",
  "view:sessions": "etcd leases",
  "view:users": "etcd roles permissions",
  context: "switch change cluster context",
};

/** The result of a search, and what to highlight in it. */
export interface SearchResult {
  /** All entries that match, best first. */
  readonly entries: readonly PaletteEntry[];
  /** The query in lower case, without the sign of its scope. */
  readonly text: string;
  /** Its words. */
  readonly words: readonly string[];
}

/**
 * The choices to which a prefix limits a query: those with an id (commands and actions), or those with the key of a
 * row.
 */
const SCOPES: Readonly<Record<string, string>> = { ">": "id", "@": "key" };

/**
 * Finds the entries that match all words of a query, in any order, or its letters in their order. Sorts them by: whether they
 * can be chosen, rank, recent use, whether they are views, whether they have a key, and how well the letters match. What a line
 * says (`why backup-db`) follows those whose title it begins. `>` finds only commands and actions, `@` only names.
 * @param recent  ids of recently used entries, newest first
 */
export function searchPalette(
  entries: readonly PaletteEntry[],
  query: string,
  recent: readonly string[] = [],
): SearchResult {
  const [, sign = "", text = ""] = /^\s*([>@]?)\s*(.*?)\s*$/s.exec(query.toLowerCase()) ?? [];
  const words = text.split(/\s+/).filter((word) => word !== "");
  const scope = SCOPES[sign];
  const scores = scoreTitles(entries, text);
  const found = entries.flatMap((entry) => {
    const { score = 0 } = scores.get(entry) ?? {};
    const rank =
      scope === undefined || scope in entry.choice ? rankEntry(entry, score, text, words) : undefined;
    if (rank === undefined) return [];
    const used = recent.indexOf(entry.id);
    const use = entry.kind === "view" ? 0 : entry.keys.length > 0 ? 1 : 2;
    const misfit = Math.round(10 * (1 - score));
    const criteria = [
      entry.disabled ? 1 : 0,
      rank,
      used < 0 ? recent.length : used,
      ...(text === "" ? [0, 0] : [use, misfit]),
    ];
    return { entry, rank, order: criteria.reduce((order, criterion) => order * 100 + criterion) };
  });
  found.sort((one, other) => one.order - other.order);
  const onNames = scope === undefined ? listActionsOnNames(entries, words) : [];
  const isTitle = ({ entry, rank }: (typeof found)[number]) =>
    entry.disabled === undefined && rank <= RANKS.beginning;
  const others = found.filter((one) => !isTitle(one));
  const sorted = [...found.filter(isTitle), ...onNames.map((entry) => ({ entry })), ...others];
  return { entries: [...listTravels(query), ...sorted.map(({ entry }) => entry)], text, words };
}

/** Maximum number of entries that do something with a name. */
const MOST_ON_NAMES = 50;

/** Lists the actions that the first words name, each on the names that the last word finds: `why backup`. The best name comes first. */
function listActionsOnNames(entries: readonly PaletteEntry[], words: readonly string[]): PaletteEntry[] {
  const [name = "", ...others] = words.toReversed();
  if (others.length === 0) return [];
  const actions = entries.filter(
    ({ label, choice }) =>
      isOnSelection(choice) && others.every((word) => findWord(label.toLowerCase(), word) >= 0),
  );
  if (actions.length === 0) return [];
  const verb = others.toReversed().join(" ");
  const isVerb = ({ label }: PaletteEntry) => label.toLowerCase() === verb;
  actions.sort((one, other) => Number(isVerb(other)) - Number(isVerb(one)));
  const scores = scoreTitles(entries, name);
  const named = entries.flatMap((entry) => {
    const { score = 0 } = scores.get(entry) ?? {};
    const rank = "key" in entry.choice ? rankTitle(getTexts(entry).title, score, name, [name]) : undefined;
    return rank === undefined ? [] : [{ entry, rank }];
  });
  named.sort((one, other) => one.rank - other.rank);
  return named
    .slice(0, MOST_ON_NAMES)
    .flatMap(({ entry }) => actions.flatMap((action) => createEntryOnName(action, entry) ?? []));
}

/** Whether a choice applies to the selected rows. */
function isOnSelection(choice: PaletteChoice): boolean {
  if (choice.kind === "action") return ON_ROWS.has(choice.id);
  return choice.kind === "command" && choice.args === undefined && isRowCommandId(choice.id);
}

function createEntryOnName(
  action: PaletteEntry,
  { id, kind, label, detail, choice, name }: PaletteEntry,
): PaletteEntry | undefined {
  if (!("id" in action.choice) || choice.kind !== "go" || choice.key === undefined) return undefined;
  const { rows = "any" } = action;
  if (rows !== "any" && !rows.some((one) => one === kind)) return undefined;
  return {
    ...action,
    id: `${action.id} ${id}`,
    label: `${action.label} ${label}`,
    detail,
    ...(name && { name }),
    disabled: action.disabled === NO_SELECTION ? undefined : action.disabled,
    choice: { kind: "on-row", id: action.choice.id, tab: choice.tab, key: choice.key },
  };
}

/**
 * How well entries match: lower is better. `title`: the title is the query. `beginning`: the title begins with the query.
 * `words`: each word begins a word of the title. `letters`: the title has the letters of each word, most of them together or where
 * words begin. `synonym`: or the words begin a synonym. `description`: or a word of the description, which for a name is its
 * kind. `scattered`: the title has the letters somewhere.
 */
const RANKS = {
  title: 0,
  beginning: 1,
  words: 2,
  letters: 3,
  synonym: 4,
  description: 5,
  scattered: 6,
} as const;

/** Scores of fuzzysort, from 0 to 1: letters that begin words, and letters that are close together. */
const [WORD_SCORE, LETTER_SCORE] = [0.85, 0.6];

const buildIndex = memoizeWeakly((entries: readonly PaletteEntry[]) => snapshot(entries, { key: "label" }));

/** Scores the entries whose titles have the letters of a text, from 0 to 1. */
function scoreTitles(entries: readonly PaletteEntry[], text: string) {
  const results = text === "" ? [] : go(text, buildIndex(entries), { threshold: 0 });
  return new Map(results.map((result) => [result.obj, result]));
}

/** The texts of an entry in lower case: there may be ten thousand, and each key is compared with all. */
const getTexts = memoizeWeakly(({ id, kind, label, detail, choice }: PaletteEntry) => {
  const synonyms = SYNONYMS[id] ?? SYNONYMS[kind] ?? "";
  const known = `${synonyms} ${detail.toLowerCase()}${"key" in choice ? "s" : ""}`;
  return { title: label.toLowerCase(), synonyms, known };
});

/** Returns how well an entry matches; undefined means not at all. @param score  of its title */
function rankEntry(
  entry: PaletteEntry,
  score: number,
  text: string,
  words: readonly string[],
): number | undefined {
  const { title, synonyms, known } = getTexts(entry);
  const rank = rankTitle(title, score, text, words);
  if (rank !== undefined) return rank;
  const others = words.filter((word) => !title.includes(word));
  if (others.every((word) => findWord(synonyms, word) >= 0)) return RANKS.synonym;
  if (others.every((word) => findWord(known, word) >= 0)) return RANKS.description;
  return score > 0 ? RANKS.scattered : undefined;
}

function rankTitle(title: string, score: number, text: string, words: readonly string[]): number | undefined {
  if (title === text) return RANKS.title;
  if (title.startsWith(text)) return RANKS.beginning;
  if (score >= WORD_SCORE) return RANKS.words;
  return score >= LETTER_SCORE || words.every((word) => title.includes(word)) ? RANKS.letters : undefined;
}

/** Finds a word of a text that begins with a word of the query. @returns its index, or -1 */
function findWord(text: string, word: string): number {
  let at = text.indexOf(word);
  while (at > 0 && /[\p{L}\p{N}]/u.test(text[at - 1] ?? "")) at = text.indexOf(word, at + 1);
  return at;
}

/** Lists the entry that travels to a time, if the text asks for one: `at 03:00`. */
function listTravels(query: string): PaletteEntry[] {
  const [, time] = /^\s*at\s+(\S.*?)\s*$/i.exec(query) ?? [];
  if (time === undefined) return [];
  const texts = { label: `at ${time}`, detail: "show everything as it was then", keys: [] };
  return [{ id: "travel", kind: "action", ...texts, choice: { kind: "travel", time } }];
}

/** Maximum number of recent entries kept. */
const MAX_RECENT_ENTRIES = 20;

/** Adds an id to the recently used ones, newest first, without duplicates. */
export function addRecentEntry(recent: readonly string[], id: string): readonly string[] {
  return [id, ...recent.filter((one) => one !== id)].slice(0, MAX_RECENT_ENTRIES);
}

/**
 * Splits a text into parts that match words of a query and parts that do not, between graphemes.
 * @param letters  positions of single letters that match too
 */
export function splitByWords(
  text: string,
  words: readonly string[],
  letters: readonly number[] = [],
): { text: string; isMatch: boolean }[] {
  const lower = text.toLowerCase();
  const ranges = words
    .map((word) => ({ length: word.length, at: Math.max(findWord(lower, word), lower.indexOf(word)) }))
    .filter(({ at }) => at >= 0)
    .concat(letters.map((at) => ({ length: 1, at })))
    .map(({ length, at }) => [findBoundaryFrom(text, at), findBoundaryFrom(text, at + length)] as const);
  const edges = [...new Set([0, ...ranges.flat(), text.length])].sort((a, b) => a - b);
  return edges.slice(1).map((to, index) => {
    const from = edges[index] ?? 0;
    return { text: text.slice(from, to), isMatch: ranges.some(([start, end]) => start <= from && to <= end) };
  });
}
