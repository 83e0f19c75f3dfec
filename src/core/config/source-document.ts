import {
  type Alias,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  type Pair,
  parseDocument,
} from "yaml";
import { ConfigError } from "../base/errors.ts";
import type { JsonFault } from "../base/json-fault.ts";
import { parseJson } from "../base/parse-json.ts";
import { clean } from "../base/text.ts";

/** Keys and indexes from the document to a value. */
export type DocumentPath = readonly (string | number)[];

/** A fault, and the value that has it. */
export interface DocumentFault {
  path: DocumentPath;
  what: string;
  /** Whether it is in the key, and not in the value. */
  isInKey?: boolean;
}

/** A text that is neither YAML nor JSON. */
export class DocumentSyntaxError extends ConfigError {
  readonly fault: JsonFault;

  constructor(file: string, fault: JsonFault) {
    super(formatAt(file, fault));
    this.fault = fault;
  }
}

/** Largest size of a document, characters: its positions take a hundred times as much memory. */
const MOST_CHARACTERS = 8 * 1024 * 1024;
/** Largest number of values that aliases add to a document. */
const MOST_ALIASED = 1_000_000;

/** A YAML or JSON file with the positions of its values. */
export class SourceDocument {
  readonly file: string;
  readonly value: unknown;
  /** Keys that an object has twice. YAML does not allow this; JSON takes the last one. */
  readonly duplicateKeys: JsonFault[] = [];
  readonly #lines = new LineCounter();
  readonly #document: ReturnType<typeof parseDocument>;
  /** The pairs of each object by their keys. */
  readonly #pairs = new Map<unknown, Map<string, Pair>>();
  /** Numbers of values by anchor. */
  readonly #anchored = new Map<string, number>();
  #aliased = 0;

  /** @throws DocumentSyntaxError */
  constructor(file: string, text: string) {
    this.file = file;
    if (text.length > MOST_CHARACTERS)
      throw this.#createSyntaxError(
        0,
        `the document has ${text.length} characters; at most ${MOST_CHARACTERS} are read: split it`,
      );
    const json = parseJson(text);
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      uniqueKeys: false, // it compares each key with all others
      merge: true, // `<<: *defaults`, common in files keyed by environment
    });
    const [error] = json === undefined ? this.#document.errors : [];
    if (error !== undefined) throw this.#createSyntaxError(error.pos[0], explainSyntaxError(error));
    this.#index(this.#document.contents);
    const [twice] = this.duplicateKeys;
    if (json === undefined && twice !== undefined) throw new DocumentSyntaxError(file, twice);
    this.value = json ?? this.#toPlain();
  }

  /**
   * Indexes the keys of the objects in a value.
   * @returns the number of values in it, with those of its aliases
   * @throws DocumentSyntaxError if an alias has no value, or aliases make too many
   */
  #index(node: unknown): number {
    if (isAlias(node)) return this.#countAliased(node);
    if (isPair(node)) return this.#index(node.key) + this.#index(node.value);
    const anchor = isNode(node) && "anchor" in node ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchored.delete(anchor); // its value is not complete
    let count = 1;
    if (isMap(node)) this.#indexKeys(node.items, node);
    if (isCollection(node)) for (const item of node.items) count += this.#index(item);
    if (anchor !== undefined) this.#anchored.set(anchor, count);
    return count;
  }

  #indexKeys(items: readonly Pair[], map: unknown): void {
    const pairs = new Map<string, Pair>();
    for (const pair of items) {
      if (!isScalar(pair.key)) continue;
      const key = String(pair.key.value ?? "");
      if (!pairs.has(key)) pairs.set(key, pair);
      else if (key !== "<<")
        this.duplicateKeys.push({
          ...this.#locateOffset(getStart(pair.key) ?? 0),
          what: "this key is listed twice",
        });
    }
    this.#pairs.set(map, pairs);
  }

  #countAliased(alias: Alias): number {
    const start = getStart(alias) ?? 0;
    const count = this.#anchored.get(alias.source);
    if (count === undefined)
      throw this.#createSyntaxError(start, `there is no anchor &${clean(alias.source)} before this alias`);
    this.#aliased += count;
    if (this.#aliased > MOST_ALIASED)
      throw this.#createSyntaxError(start, `aliases make more than ${MOST_ALIASED} values of this document`);
    return count;
  }

  /** Creates an error about a value, with its line. */
  createError(path: DocumentPath, message: string): ConfigError {
    const start = this.#findNearestStart(path, true);
    if (start === undefined) return new ConfigError(`${clean(this.file)}: ${message}`);
    const name = path.length === 0 ? "" : `${formatPath(path)}: `;
    return new ConfigError(formatAt(this.file, { ...this.#locateOffset(start), what: `${name}${message}` }));
  }

  /** Finds the line and the column of a fault. */
  locate({ path, what, isInKey = false }: DocumentFault): JsonFault {
    return { ...this.#locateOffset(this.#findNearestStart(path, isInKey) ?? 0), what };
  }

  /** Returns the offset of a value, or of the nearest one around it. */
  #findNearestStart(path: DocumentPath, isKey: boolean): number | undefined {
    for (let length = path.length; length >= 0; length -= 1) {
      const start = this.#findStart(path.slice(0, length), isKey);
      if (start !== undefined) return start;
    }
    return undefined;
  }

  /** @param isKey  prefers the offset of the key to that of the value, if it has one */
  #findStart(path: DocumentPath, isKey: boolean): number | undefined {
    let node: unknown = this.#document.contents;
    let key: unknown;
    for (const step of path) {
      key = undefined;
      const pairs = this.#pairs.get(node);
      if (pairs !== undefined) {
        const pair = pairs.get(String(step));
        [key, node] = [pair?.key, pair?.value];
      } else node = (node as { items?: readonly unknown[] } | null)?.items?.[step as number];
    }
    return getStart(isKey ? (key ?? node) : node) ?? getStart(key);
  }

  #toPlain(): unknown {
    try {
      return this.#document.toJS({ maxAliasCount: -1 });
    } catch (cause) {
      throw this.#createSyntaxError(0, clean((cause as Error).message));
    }
  }

  #createSyntaxError(offset: number, what: string): DocumentSyntaxError {
    return new DocumentSyntaxError(this.file, { ...this.#locateOffset(offset), what });
  }

  #locateOffset(offset: number): { line: number; column: number } {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }
}

/** Says in the words of an author what the parser says to programmers. */
function explainSyntaxError({ code, message }: { code: string; message: string }): string {
  if (code === "MULTIPLE_DOCS") return "a file has one document; put what follows --- into another file";
  return message.startsWith("Maximum call stack") ? "it is nested too deeply" : clean(message, 200);
}

function formatAt(file: string, { line, column, what }: JsonFault): string {
  return `${clean(file)}: line ${line}, column ${column}: ${what}`;
}

function getStart(node: unknown): number | undefined {
  return (node as { range?: [number, number, number] } | null | undefined)?.range?.[0];
}

function formatPath(path: DocumentPath): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return clean(text.replace(/^\./, ""), 100);
}
