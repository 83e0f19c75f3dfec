import { ConfigError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";

/** An assignment in a file that a shell would source. */
export interface Assignment {
  name: string;
  value: string;
  /** From 1. */
  line: number;
  /** Whether the file exports it. */
  isExported: boolean;
}

/** A file of them. */
export interface ShellFile {
  path: string;
  assignments: readonly Assignment[];
}

const NAME = /^[A-Za-z_]\w*/;
/** `$NAME`, `${NAME}` and `${NAME:-other}`. */
const EXPANSION = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::-([^{}$`"'\\\n]*))?\})/;
const UNDERSTOOD = 'only assignments such as CRONLOCK_HOST="etcd1.example.com" are understood here';

/**
 * Reads what cronlock sources: assignments with shell quotes, `export`, comments, `$NAME` of earlier ones and of the
 * environment. Nothing is ever run, and no value is repeated in an error: it may be a password.
 * @param path  for errors
 * @returns the assignments in their order
 * @throws ConfigError naming file and line, for everything else that a shell would understand
 */
export function parseShellFile(
  path: string,
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Assignment[] {
  return new Reader(path, text, env).read();
}

class Reader {
  readonly #path: string;
  readonly #text: string;
  readonly #values: Map<string, string | undefined>;
  readonly #found: Assignment[] = [];
  #at = 0;

  constructor(path: string, text: string, env: Readonly<Record<string, string | undefined>>) {
    this.#path = path;
    this.#text = text;
    this.#values = new Map(Object.entries(env));
  }

  read(): Assignment[] {
    const strange = /[\0\r]/.exec(this.#text);
    this.#at = strange?.index ?? 0;
    if (strange?.[0] === "\r") throw this.#fault("its lines end as on Windows; remove the carriage returns");
    if (strange !== null) throw this.#fault("it holds a NUL character");
    while (this.#skipTo(/[^\s;]/)) this.#statement();
    return this.#found;
  }

  /** Assignments, or an export, up to the end of the line. */
  #statement(): void {
    const isExport = /^export(?=[ \t])/.test(this.#rest());
    if (isExport) this.#at += "export".length;
    while (this.#skipBlanks()) this.#assignment(isExport);
  }

  #assignment(isExport: boolean): void {
    const start = this.#at;
    const [name] = NAME.exec(this.#rest()) ?? [];
    if (name === undefined) throw this.#fault(UNDERSTOOD);
    this.#at += name.length;
    if (isExport && /^(?:[\s;]|$)/.test(this.#rest())) return this.#export(name);
    if (this.#text[this.#at] !== "=") throw this.#fault(UNDERSTOOD);
    this.#at += 1;
    const value = this.#word();
    this.#values.set(name, value);
    this.#found.push({ name, value, line: this.#lineOf(start), isExported: isExport });
  }

  /** `export NAME`: as the variable stands now. */
  #export(name: string): void {
    const last = this.#found.findLast((one) => one.name === name);
    if (last !== undefined) last.isExported = true;
  }

  /** A word to its end, its quotes removed and its variables put in. */
  #word(): string {
    if (this.#text[this.#at] === "~") throw this.#fault('"~" is not understood; write the folder out');
    let word = "";
    for (let char = this.#text[this.#at]; char !== undefined && !/[\s;]/.test(char); ) {
      word += this.#piece(char);
      char = this.#text[this.#at];
    }
    return word;
  }

  #piece(char: string): string {
    if (char === "'") return this.#single();
    if (char === '"') return this.#double();
    if (char === "$") return this.#expansion();
    if (/[`|&<>()]/.test(char)) throw this.#fault(`${JSON.stringify(char)} is not understood; ${UNDERSTOOD}`);
    if (char !== "\\") return this.#take(1);
    this.#at += 1;
    const next = this.#take(1);
    return next === "\n" ? "" : next;
  }

  #single(): string {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end < 0) throw this.#fault("a single quote is not closed");
    const text = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return text;
  }

  #double(): string {
    const start = this.#at;
    let text = "";
    this.#at += 1;
    for (let char = this.#text[this.#at]; char !== '"'; char = this.#text[this.#at]) {
      if (char === undefined) {
        this.#at = start;
        throw this.#fault("a double quote is not closed");
      }
      text += this.#quotedPiece(char);
    }
    this.#at += 1;
    return text;
  }

  /** Between double quotes a backslash means itself, unless it stands before one of a few. */
  #quotedPiece(char: string): string {
    if (char === "$") return this.#expansion();
    if (char === "`") throw this.#fault(`"\`" is not understood; ${UNDERSTOOD}`);
    if (char !== "\\") return this.#take(1);
    const pair = this.#take(2);
    if (pair === "\\\n") return "";
    return /^\\["$`\\]$/.test(pair) ? pair.slice(1) : pair;
  }

  #expansion(): string {
    const match = EXPANSION.exec(this.#rest());
    if (match === null)
      throw this.#fault(
        `of "$" only $NAME, \${NAME} and \${NAME:-TEXT} are understood: the file is read, never run`,
      );
    this.#at += match[0].length;
    const value = this.#values.get(match[1] ?? match[2] ?? "") ?? "";
    return value === "" ? (match[3] ?? "") : value;
  }

  /** Past blanks and a comment. @returns whether something stands there on the same line */
  #skipBlanks(): boolean {
    this.#at += /^(?:[ \t]|\\\n)*(?:#[^\n]*)?/.exec(this.#rest())?.[0].length ?? 0;
    const next = this.#text[this.#at];
    return next !== undefined && next !== "\n" && next !== ";";
  }

  /** To the next statement, past comments. @returns whether there is one */
  #skipTo(wanted: RegExp): boolean {
    this.#at += /^(?:[\s;]|#[^\n]*)*/.exec(this.#rest())?.[0].length ?? 0;
    return wanted.test(this.#text[this.#at] ?? "");
  }

  #take(count: number): string {
    const taken = this.#text.slice(this.#at, this.#at + count);
    this.#at += count;
    return taken;
  }

  #rest(): string {
    return this.#text.slice(this.#at);
  }

  #lineOf(index: number): number {
    return this.#text.slice(0, index).split("\n").length;
  }

  #fault(what: string): ConfigError {
    return new ConfigError(`${clean(this.#path)}:${this.#lineOf(this.#at)}: ${what}`);
  }
}
