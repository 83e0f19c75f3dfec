import { LISTINGS } from "../cli/commands/see/ls/ls.ts";
import { toActionable } from "../site/state/subject.ts";

/** The lists that have a page. */
export const LISTS = LISTINGS.filter((id) => id !== "overview");
export type ListId = Exclude<(typeof LISTINGS)[number], "overview">;

/** Names a list in the navigation and in its heading. */
export function formatListName(id: string): string {
  return id === "queues" ? "Waits" : id.charAt(0).toUpperCase() + id.slice(1);
}

const KINDS = ["lock", "resource", "host", "group", "run", "schedule"] as const;
const CHECKED_KINDS = ["lock", "schedule"] as const;

/** What is a page for people. */
export type PageRoute =
  | { kind: "overview" }
  | { kind: "list"; id: ListId }
  | { kind: "object"; of: (typeof KINDS)[number]; name: string };

/** What an address shows. */
export type Route =
  | PageRoute
  | { kind: "check"; of: (typeof CHECKED_KINDS)[number]; name: string }
  | { kind: "check"; of: "all" }
  | { kind: "badge"; of: (typeof CHECKED_KINDS)[number]; name: string }
  | { kind: "metrics" }
  | { kind: "healthz" }
  | { kind: "file"; name: string };

/** What a query can say. All else is ignored, so that it does not make the same page another one. */
export const LIST_VALUES = ["filter", "host", "state", "since", "sort", "limit"];
export const LIST_SWITCHES = ["all", "reverse"];
const PARAMETERS = [...LIST_VALUES, ...LIST_SWITCHES, "page", "name", "within", "tag", "expect"];

/** A requested address. */
export interface Target {
  route: Route;
  query: URLSearchParams;
  /** Whether the path asks for JSON. */
  isJson: boolean;
}

/**
 * Parses an address of the page.
 * @param url  path and query, as in the request
 * @param basePath  what it begins with; empty or `/jobs`
 * @returns undefined if there is nothing
 */
export function parseTarget(url: string, basePath: string): Target | undefined {
  const [whole = "", ...search] = url.split("?");
  const asked = new URLSearchParams(search.join("?"));
  const query = new URLSearchParams([...asked].filter(([name]) => PARAMETERS.includes(name)));
  if (whole !== basePath && !whole.startsWith(`${basePath}/`)) return undefined;
  const path = whole.slice(basePath.length + 1);
  const isJson = path.endsWith(".json");
  const [first = "", ...others] = (isJson ? path.slice(0, -".json".length) : path).split("/");
  const words = [first, ...others.map(decodeWord)];
  const route = words.includes(undefined) ? undefined : findRoute(words as string[], query.get("name"));
  return route && { route, query, isJson };
}

/** @returns undefined for a word that is not encoded as it must be */
function decodeWord(word: string): string | undefined {
  try {
    return decodeURIComponent(word);
  } catch {
    return undefined;
  }
}

/** @param given  the name, if it cannot be in a path */
function findRoute([first = "", ...words]: readonly string[], given: string | null): Route | undefined {
  const [second = given ?? undefined, third = given ?? undefined] = words;
  const isWord = <T extends string>(known: readonly T[], word: string | undefined): word is T =>
    (known as readonly (string | undefined)[]).includes(word);
  if (words.length === 0 && (first === "" || first === "overview")) return { kind: "overview" };
  if (words.length === 0 && isWord(LISTS, first)) return { kind: "list", id: first };
  if (words.length === 0 && (first === "metrics" || first === "healthz")) return { kind: first };
  if (words.length === 0 && first === "check" && given === null) return { kind: "check", of: "all" };
  if (words.length < 2 && isWord(KINDS, first) && second) return { kind: "object", of: first, name: second };
  if (first === "files" && words.length === 1 && second !== undefined) return { kind: "file", name: second };
  if (words.length === 0 || words.length > 2 || !isWord(CHECKED_KINDS, words[0]) || !third) return undefined;
  if (first === "check") return { kind: "check", of: words[0], name: third };
  return first === "badge" ? { kind: "badge", of: words[0], name: third.replace(/\.svg$/, "") } : undefined;
}

/**
 * Returns the address of what a row is about; undefined if it has no page. Browsers and proxies change paths that have dots as names, and
 * `.json` asks for JSON, so these names are in the query.
 */
export function findSubjectPath(
  subject: Parameters<typeof toActionable>[0],
  basePath: string,
): string | undefined {
  const { kind, name = "" } = toActionable(subject) ?? {};
  if (!(KINDS as readonly unknown[]).includes(kind) || !name.isWellFormed()) return undefined;
  const word = encodeURIComponent(name);
  return `${basePath}/${kind}${/^\.{1,2}$|\.json$/.test(name) ? "?name=" : "/"}${word}`;
}
