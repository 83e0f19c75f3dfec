import { isMap, LineCounter, parseDocument } from "yaml";
import { ConfigError } from "../../base/errors.ts";
import { clean, nearest, quoted } from "../../base/text.ts";
import { type Fields, isFields } from "../../schedule/fields.ts";

export type Path = readonly (string | number)[];

/** A YAML or JSON file, which knows on which line a value stands. */
export class Sheet {
  readonly file: string;
  readonly value: unknown;
  readonly #lines = new LineCounter();
  readonly #document: ReturnType<typeof parseDocument>;

  /** @throws ConfigError naming file and line where it is neither */
  constructor(file: string, text: string) {
    this.file = file;
    this.#document = parseDocument(text, {
      ...{ lineCounter: this.#lines, prettyErrors: false },
      merge: true, // `<<: *defaults`, as files keyed by environment have it
    });
    const json = jsonOf(text);
    const [error] = json === undefined ? this.#document.errors : [];
    if (error !== undefined) throw new ConfigError(this.#at(error.pos[0], clean(error.message, 200)));
    this.value = json ?? this.#plain();
  }

  /** An error about a value, with the line where it stands. */
  fault(path: Path, message: string): ConfigError {
    for (let length = path.length; length >= 0; length -= 1) {
      const start = this.#start(path.slice(0, length));
      const name = path.length === 0 ? "" : `${shownPath(path)}: `;
      if (start !== undefined) return new ConfigError(this.#at(start, `${name}${message}`));
    }
    return new ConfigError(`${clean(this.file)}: ${message}`);
  }

  /** The fields of an object of which only these are known. @throws ConfigError */
  fields(path: Path, value: unknown, known: readonly string[]): Fields {
    if (!isFields(value)) throw this.fault(path, `${shown(value)} is not an object`);
    const stray = Object.keys(value).find((key) => !known.includes(key));
    if (stray === undefined) return value;
    const meant = nearest(stray, known);
    const hint = meant === undefined ? `there are: ${known.join(", ")}` : `did you mean ${meant}?`;
    throw this.fault([...path, stray], `this key is not known; ${hint}`);
  }

  /** Where a key stands, or its value where it has none. */
  #start(path: Path): number | undefined {
    const last = path.at(-1);
    const parent = this.#document.getIn(path.slice(0, -1), true);
    if (last !== undefined && isMap(parent)) {
      const pair = parent.items.find(({ key }) => (key as { value?: unknown })?.value === last);
      return (pair?.key as { range?: [number, number, number] } | undefined)?.range?.[0];
    }
    return (this.#document.getIn(path, true) as { range?: [number, number, number] } | undefined)?.range?.[0];
  }

  #plain(): unknown {
    try {
      return this.#document.toJS({ maxAliasCount: 100 });
    } catch (cause) {
      throw new ConfigError(`${clean(this.file)}: ${clean((cause as Error).message)}`, { cause });
    }
  }

  #at(offset: number, message: string): string {
    const { line, col } = this.#lines.linePos(offset);
    return `${clean(this.file)}: line ${line}, column ${col}: ${message}`;
  }
}

/** A value for a message. */
export function shown(value: unknown): string {
  return quoted(typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing"));
}

function shownPath(path: Path): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return clean(text.replace(/^\./, ""), 100);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
