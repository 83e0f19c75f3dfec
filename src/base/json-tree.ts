import { type JsonFault, jsonFault } from "./json.ts";

/** A JSON value that knows where it stands: `at` counts characters from 0. */
export type JsonNode = { at: number } & (
  | { kind: "object"; entries: readonly JsonEntry[] }
  | { kind: "list"; items: readonly JsonNode[] }
  | { kind: "scalar"; value: string | number | boolean | null }
);

export interface JsonEntry {
  key: string;
  /** Where the key stands. */
  at: number;
  node: JsonNode;
}

/** Brackets inside each other. */
const MAX_DEPTH = 100;

const TOKEN = /[ \t\n\r]*([{}[\]:,]|"(?:[^"\\]|\\.)*"|[^ \t\n\r{}[\]:,"]+)/y;

/**
 * A text as JSON with places, for faults that are worth a line number. Keys that stand twice in one object are all
 * there, which `JSON.parse` would hide.
 * @returns the place where it stops being JSON otherwise
 */
export function jsonTree(text: string): { root: JsonNode } | { fault: JsonFault } {
  const fault = jsonFault(text);
  if (fault !== undefined) return { fault };
  const reader = new Reader(text);
  const root = reader.node(0);
  return root === undefined
    ? { fault: { ...placeIn(text, reader.at), what: `nested more than ${MAX_DEPTH} deep` } }
    : { root };
}

/** Line and column of a character, both from 1. */
export function placeIn(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
}

/** Reads a text that is known to be JSON. */
class Reader {
  readonly #text: string;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns undefined where it is nested too deep */
  node(depth: number): JsonNode | undefined {
    const { token, at } = this.#take();
    if (token !== "{" && token !== "[") return { kind: "scalar", value: JSON.parse(token), at };
    if (depth >= MAX_DEPTH) return undefined;
    return token === "{" ? this.#object(at, depth + 1) : this.#list(at, depth + 1);
  }

  #object(at: number, depth: number): JsonNode | undefined {
    const entries: JsonEntry[] = [];
    for (let next = this.#take(); next.token !== "}"; next = this.#take()) {
      const key = next.token === "," ? this.#take() : next;
      this.#take(); // the colon
      const node = this.node(depth);
      if (node === undefined) return undefined;
      entries.push({ key: JSON.parse(key.token), at: key.at, node });
    }
    return { kind: "object", entries, at };
  }

  #list(at: number, depth: number): JsonNode | undefined {
    const items: JsonNode[] = [];
    for (let next = this.#peek(); next !== "]"; next = this.#peek()) {
      if (next === ",") this.#take();
      const node = this.node(depth);
      if (node === undefined) return undefined;
      items.push(node);
    }
    this.#take();
    return { kind: "list", items, at };
  }

  #peek(): string {
    const { at } = this;
    const { token } = this.#take();
    this.at = at;
    return token;
  }

  #take(): { token: string; at: number } {
    TOKEN.lastIndex = this.at;
    const [, token = ""] = TOKEN.exec(this.#text) ?? [];
    this.at = TOKEN.lastIndex;
    return { token, at: this.at - token.length };
  }
}
