import { isMap, LineCounter, type ParsedNode, parseDocument } from "yaml";
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
    super(formatAt(file, fault, fault.what));
    this.fault = fault;
  }
}

/** A YAML or JSON file with the positions of its values. */
export class SourceDocument {
  readonly file: string;
  readonly value: unknown;
  readonly #lines = new LineCounter();
  readonly #document: ReturnType<typeof parseDocument>;

  /** @throws DocumentSyntaxError */
  constructor(file: string, text: string) {
    this.file = file;
    const json = parseJson(text);
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      merge: true, // `<<: *defaults`, common in files keyed by environment
    });
    const [error] = json === undefined ? this.#document.errors : [];
    if (error !== undefined) {
      const what = error.code === "DUPLICATE_KEY" ? LISTED_TWICE : clean(error.message, 200);
      throw new DocumentSyntaxError(file, { ...this.#locateOffset(error.pos[0]), what });
    }
    this.value = json ?? this.#toPlain();
  }

  /** Keys that an object has twice. YAML does not allow this; JSON takes the last one. */
  get duplicateKeys(): readonly JsonFault[] {
    const errors = this.#document.errors.filter(({ code }) => code === "DUPLICATE_KEY");
    return errors.map(({ pos }) => ({ ...this.#locateOffset(pos[0]), what: LISTED_TWICE }));
  }

  /** Creates an error about a value, with its line. */
  createError(path: DocumentPath, message: string): ConfigError {
    const start = this.#findNearestStart(path, true);
    if (start === undefined) return new ConfigError(`${clean(this.file)}: ${message}`);
    const name = path.length === 0 ? "" : `${formatPath(path)}: `;
    return new ConfigError(formatAt(this.file, this.#locateOffset(start), `${name}${message}`));
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
      if (isMap<ParsedNode>(node)) {
        const pair = node.items.find((one) => String((one.key as { value?: unknown })?.value) === step);
        [key, node] = [pair?.key, pair?.value];
      } else node = (node as { items?: readonly unknown[] } | null)?.items?.[step as number];
    }
    return getStart(isKey ? (key ?? node) : node) ?? getStart(key);
  }

  #toPlain(): unknown {
    try {
      return this.#document.toJS({ maxAliasCount: 100 });
    } catch (cause) {
      const what = clean((cause as Error).message);
      throw new DocumentSyntaxError(this.file, { line: 1, column: 1, what });
    }
  }

  #locateOffset(offset: number): { line: number; column: number } {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }
}

const LISTED_TWICE = "this key is listed twice";

function formatAt(file: string, { line, column }: Pick<JsonFault, "line" | "column">, what: string): string {
  return `${clean(file)}: line ${line}, column ${column}: ${what}`;
}

function getStart(node: unknown): number | undefined {
  return (node as { range?: [number, number, number] } | null | undefined)?.range?.[0];
}

function formatPath(path: DocumentPath): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return clean(text.replace(/^\./, ""), 100);
}
