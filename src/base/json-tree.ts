import { findJsonFault, type JsonFault } from "./json.ts";

/** A JSON value with its position: `at` is the character offset from 0. */
export type JsonNode = { at: number } & (
  | { kind: "object"; entries: readonly JsonEntry[] }
  | { kind: "list"; items: readonly JsonNode[] }
  | { kind: "scalar"; value: string | number | boolean | null }
);

export interface JsonEntry {
  key: string;
  /** Character offset of the key. */
  at: number;
  node: JsonNode;
}

/** Maximum nesting depth of brackets. */
const MAX_DEPTH = 100;

const TOKEN = /[ \t\n\r]*([{}[\]:,]|"(?:[^"\\]|\\.)*"|[^ \t\n\r{}[\]:,"]+)/y;

/**
 * Parses JSON with positions, for error messages that give a line number. Keeps all duplicate keys of an object, which
 * `JSON.parse` would drop.
 * @returns the position of the first error if the text is not JSON
 */
export function parseJsonTree(text: string): { root: JsonNode } | { fault: JsonFault } {
  const fault = findJsonFault(text);
  if (fault !== undefined) return { fault };
  const reader = new JsonTreeParser(text);
  const root = reader.parseNode(0);
  return root === undefined
    ? { fault: { ...computeLineColumn(text, reader.at), what: `nested more than ${MAX_DEPTH} levels deep` } }
    : { root };
}

/** Returns the line and column of a character offset, both from 1. */
export function computeLineColumn(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
}

/** Parses a text that is known to be valid JSON. */
class JsonTreeParser {
  readonly #text: string;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns undefined if it is nested too deeply */
  parseNode(depth: number): JsonNode | undefined {
    const { token, at } = this.#take();
    if (token !== "{" && token !== "[") return { kind: "scalar", value: JSON.parse(token), at };
    if (depth >= MAX_DEPTH) return undefined;
    return token === "{" ? this.#parseObject(at, depth + 1) : this.#parseList(at, depth + 1);
  }

  #parseObject(at: number, depth: number): JsonNode | undefined {
    const entries: JsonEntry[] = [];
    for (let next = this.#take(); next.token !== "}"; next = this.#take()) {
      const key = next.token === "," ? this.#take() : next;
      this.#take(); // the colon
      const node = this.parseNode(depth);
      if (node === undefined) return undefined;
      entries.push({ key: JSON.parse(key.token), at: key.at, node });
    }
    return { kind: "object", entries, at };
  }

  #parseList(at: number, depth: number): JsonNode | undefined {
    const items: JsonNode[] = [];
    for (let next = this.#peek(); next !== "]"; next = this.#peek()) {
      if (next === ",") this.#take();
      const node = this.parseNode(depth);
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
