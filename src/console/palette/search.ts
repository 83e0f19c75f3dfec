import fuzzysort from "fuzzysort";
import { ENTRY_KINDS, type Entry, isDoing } from "./entry.ts";
import { type Range, rangesOf } from "./ranges.ts";
import { rankOf } from "./rank.ts";

/** An entry that was found, and where the letters of the query are in it. */
export interface Match {
  readonly entry: Entry;
  /** In its label. */
  readonly label: readonly Range[];
  /** In its detail, where its label was not enough. */
  readonly detail: readonly Range[];
}

export interface Found {
  /** Best first. */
  readonly matches: readonly Match[];
  /** How many there are, shown or not. */
  readonly total: number;
}

/** What is looked for. */
interface Wanted {
  text: string;
  limit: number;
  recent: readonly string[];
}

interface Prepared {
  readonly entry: Entry;
  readonly label: ReturnType<typeof fuzzysort.prepare>;
  /** Undefined for names: all of a kind have the same. */
  readonly detail?: ReturnType<typeof fuzzysort.prepare>;
}

type Ranked = Match & { readonly rank: number };

/** Found by their labels: the best, and how many there are. */
interface Labelled {
  ranked: readonly Ranked[];
  total: number;
}

/** Least score of a match, of 1: its letters stand in their order, anywhere. */
const LEAST = 0.2;
/** In a detail, which is prose, scattered letters mean nothing. */
const LEAST_IN_DETAIL = 0.6;

/** Entries made ready for searching: that takes some ms for ten thousand, and is done once. */
export class Searchable {
  readonly #all: readonly Prepared[];

  constructor(entries: readonly Entry[]) {
    this.#all = entries.map(prepared);
  }

  /**
   * Entries that a query finds, best first. `>` finds only what can be done, `@` only names; `lock inv` finds names of
   * that kind too. With nothing typed: what was used lately, then all in their order.
   * @param limit   most matches
   * @param recent  ids of entries used lately, newest first
   */
  search(query: string, limit: number, recent: readonly string[] = []): Found {
    const { within, text } = this.#scope(query.trim());
    if (text === "") return unsearched(within, limit, recent);
    const wanted = { text, limit, recent };
    const [named, told, asked] = [inLabels(within, wanted), inDetails(within, wanted), this.#ofKind(wanted)];
    const all = [...named.ranked, ...told, ...asked.ranked];
    const best = new Map<Entry, Ranked>();
    for (const one of all.sort((a, b) => a.rank - b.rank)) best.set(one.entry, one);
    const matches = [...best.values()].sort((a, b) => b.rank - a.rank);
    return { matches: matches.slice(0, limit), total: Math.max(named.total + told.length, asked.total) };
  }

  #scope(query: string): { within: readonly Prepared[]; text: string } {
    const fits = { ">": isDoing, "@": isName }[query[0] ?? ""];
    if (fits === undefined) return { within: this.#all, text: query };
    return { within: this.#all.filter(({ entry }) => fits(entry)), text: query.slice(1).trim() };
  }

  /** `lock inv`: names of a kind. */
  #ofKind({ text, ...wanted }: Wanted): Labelled {
    const [, word = "", rest = ""] = /^(\p{L}+)\s+(.+)$/u.exec(text) ?? [];
    const kind = ENTRY_KINDS.find((one) => [one, `${one}s`].includes(word.toLowerCase()));
    if (kind === undefined) return { ranked: [], total: 0 };
    const within = this.#all.filter(({ entry }) => entry.kind === kind && isName(entry));
    return inLabels(within, { text: rest, ...wanted });
  }
}

function prepared(entry: Entry): Prepared {
  const label = fuzzysort.prepare(entry.label);
  return isName(entry) ? { entry, label } : { entry, label, detail: fuzzysort.prepare(entry.detail) };
}

function inLabels(within: readonly Prepared[], { text, limit, recent }: Wanted): Labelled {
  // What is kept of very many are the best by rank, not by score.
  const scoreFn = ({ obj, score }: { obj: Prepared; score: number }) =>
    rankOf(obj.entry, text, score, recent);
  const key = ({ label }: Prepared) => label;
  const found = fuzzysort.go(text, within, { key, limit, threshold: LEAST, scoreFn });
  const ranked = found.map(({ obj: { entry, label }, indexes, target }) => ({
    ...{ entry, label: rangesOf(target, indexes), detail: [] },
    rank: rankOf(entry, text, fuzzysort.single(text, label)?.score ?? 0, recent),
  }));
  return { ranked, total: found.total };
}

/** By what they do: the word need not be the command's. */
function inDetails(within: readonly Prepared[], { text, recent }: Wanted): Ranked[] {
  return within.flatMap(({ entry, label, detail }) => {
    if (detail === undefined || (fuzzysort.single(text, label)?.score ?? 0) >= LEAST) return [];
    const found = fuzzysort.single(text, detail);
    if (found === null || found.score < LEAST_IN_DETAIL) return [];
    const rank = rankOf(entry, text, found.score / 2, recent);
    return { entry, label: [], detail: rangesOf(found.target, found.indexes), rank };
  });
}

/** What cannot be chosen comes last. */
function unsearched(within: readonly Prepared[], limit: number, recent: readonly string[]): Found {
  const entries = within.map(({ entry }) => entry);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const lately = recent.flatMap((id) => byId.get(id) ?? []);
  const usable = entries.filter(({ disabled }) => disabled === undefined);
  const others = entries.filter(({ disabled }) => disabled !== undefined);
  const shown = new Set([...lately, ...usable.slice(0, limit), ...others]);
  const matches = [...shown].slice(0, limit).map((entry) => ({ entry, label: [], detail: [] }));
  return { matches, total: within.length };
}

function isName(entry: Entry): boolean {
  return !isDoing(entry) && entry.kind !== "view";
}
