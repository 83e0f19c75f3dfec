import { isMap, LineCounter, parseDocument } from "yaml";
import { ConfigError } from "../../../base/errors.ts";
import { parseJson } from "../../../base/parse-json.ts";
import { clean } from "../../../base/text.ts";

export type DocumentPath = readonly (string | number)[];

/** A YAML or JSON file with the line numbers of its values. */
export class SourceDocument {
  readonly file: string;
  readonly value: unknown;
  readonly #lines = new LineCounter();
  readonly #document: ReturnType<typeof parseDocument>;

  /** @throws ConfigError naming file and line when the text is neither YAML nor JSON */
  constructor(file: string, text: string) {
    this.file = file;
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      merge: true, // `<<: *defaults`, common in files keyed by environment
    });
    const json = parseJson(text);
    const [error] = json === undefined ? this.#document.errors : [];
    if (error !== undefined) throw new ConfigError(this.#formatAt(error.pos[0], clean(error.message, 200)));
    this.value = json ?? this.#toPlain();
  }

  /** Creates an error about a value, with its line. */
  createError(path: DocumentPath, message: string): ConfigError {
    for (let length = path.length; length >= 0; length -= 1) {
      const start = this.#findStart(path.slice(0, length));
      const name = path.length === 0 ? "" : `${formatPath(path)}: `;
      if (start !== undefined) return new ConfigError(this.#formatAt(start, `${name}${message}`));
    }
    return new ConfigError(`${clean(this.file)}: ${message}`);
  }

  /** Returns the offset of a key, or of the value if it has no key. */
  #findStart(path: DocumentPath): number | undefined {
    const last = path.at(-1);
    const parent = this.#document.getIn(path.slice(0, -1), true);
    if (last !== undefined && isMap(parent)) {
      const pair = parent.items.find(({ key }) => (key as { value?: unknown })?.value === last);
      return (pair?.key as { range?: [number, number, number] } | undefined)?.range?.[0];
    }
    return (this.#document.getIn(path, true) as { range?: [number, number, number] } | undefined)?.range?.[0];
  }

  #toPlain(): unknown {
    try {
      return this.#document.toJS({ maxAliasCount: 100 });
    } catch (cause) {
      throw new ConfigError(`${clean(this.file)}: ${clean((cause as Error).message)}`, { cause });
    }
  }

  #formatAt(offset: number, message: string): string {
    const { line, col } = this.#lines.linePos(offset);
    return `${clean(this.file)}: line ${line}, column ${col}: ${message}`;
  }
}

function formatPath(path: DocumentPath): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return clean(text.replace(/^\./, ""), 100);
}
