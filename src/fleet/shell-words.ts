import type { Parsed } from "../base/text.ts";

/** Stands in a word for what only the shell can know: `$(hostname)`, a variable that nobody has set. */
export const UNKNOWN = "\ue000";

/** Where a word stands in the text: from `start` up to `end`, which is behind it. */
export interface Span {
  start: number;
  end: number;
  /** A variable made several words of this one. */
  isPart: boolean;
}

/** A simple command of a shell's line: words without quotes, redirections left out. */
export interface ShellCommand {
  words: readonly string[];
  /** A place for each word. */
  spans: readonly Span[];
  /** What stands after it: `&&`, `||`, `;`, `|`, `&`, `(`, `)` or nothing at the end. */
  next: string;
}

/** What only the shell can know: an expansion, in quotes or not, or a pattern that files may match. */
export interface Unknown {
  /** As it is written: `$(hostname)`, `${X:-y}`, `*`. */
  source: string;
  kind: "quoted" | "bare" | "pattern";
}

/** What stands in a word for something unknown; for patterns, undefined leaves them as they are. */
type Stand = (unknown: Unknown) => string | undefined;

/** Words before a command that are none of it. */
const RESERVED = new Set(["!", "{", "}", "if", "then", "elif", "else", "fi", "do", "done", "while", "until"]);
/** The longest first, as the shell reads them. */
const OPERATORS = ["&&", "||", ";;", "|&", ";", "|", "&", "(", ")", "\n"];
const REDIRECTION = /^\d*(?:&>>|&>|>>|<<<|<<-|<<|<>|>&|<&|>\||>|<)/;
/**
 * What files may match, where no quotes are around it; and what shells take in different ways: `{a,b}`, `$'a'`. An address
 * with a question mark is none.
 */
const PATTERN = /^(?:[*?]|\[[^\s\]]+\]|\{(?=\S*(?:,|\.\.)\S*\})|\$(?=['"]))/;
/** Where `~` is somebody's home: first, and to some shells in what looks like an assignment. */
const BEFORE_HOME = /^(?:[A-Za-z_]\w*=(?:.*:)?)?$/;
const LONGEST = 100_000;

/**
 * The commands of a line as `sh` takes it apart, as far as that can be known without running it: quotes, backslashes,
 * comments, redirections, variables that are given, and operators. What it cannot know is `UNKNOWN` in the word.
 * @param variables  by name; the value of one without quotes is split into words
 * @param stand  instead of `UNKNOWN`, where it is to be told what was not known; then patterns count as unknown too
 * @returns the commands that have words; or what the shell would complain of
 */
export function shellCommands(
  text: string,
  variables: ReadonlyMap<string, string>,
  stand: Stand = ({ kind }) => (kind === "pattern" ? undefined : UNKNOWN),
): Parsed<ShellCommand[]> {
  if (text.length > LONGEST) return { fault: "the line is too long" };
  const reader = new Reader(text, variables, stand);
  const fault = reader.read();
  return fault === undefined ? { value: reader.commands } : { fault };
}

class Reader {
  readonly commands: ShellCommand[] = [];
  readonly #text: string;
  readonly #variables: ReadonlyMap<string, string>;
  readonly #stand: Stand;
  #at = 0;
  #words: string[] = [];
  #spans: Span[] = [];
  /** Of the word that is being read. */
  #span: Span = { start: 0, end: 0, isPart: false };
  /** The word that is being read; undefined between words. */
  #word: string | undefined;
  /** The next word is where a redirection goes, and no word of the command. */
  #isTarget = false;

  constructor(text: string, variables: ReadonlyMap<string, string>, stand: Stand) {
    this.#text = text;
    this.#variables = variables;
    this.#stand = stand;
  }

  /** @returns what is wrong with the text, or undefined */
  read(): string | undefined {
    while (this.#at < this.#text.length) {
      const fault = this.#step();
      if (fault !== undefined) return fault;
    }
    this.#endCommand("");
    return undefined;
  }

  #step(): string | undefined {
    const char = this.#text[this.#at] ?? "";
    if (char === " " || char === "\t") return this.#skip(1, () => this.#endWord());
    if (char === "#" && this.#word === undefined) return this.#skip(this.#line().length, () => {});
    const redirection = REDIRECTION.exec(this.#rest())?.[0];
    if (redirection !== undefined && (this.#word === undefined || !/^\d/.test(redirection)))
      return this.#skip(redirection.length, () => this.#redirect());
    const operator = OPERATORS.find((one) => this.#text.startsWith(one, this.#at));
    if (operator !== undefined) return this.#skip(operator.length, () => this.#endCommand(operator));
    if (this.#word === undefined) this.#span = { start: this.#at, end: this.#at, isPart: false };
    const fault = this.#piece(char);
    this.#span.end = this.#at;
    return fault;
  }

  /** A part of a word. */
  #piece(char: string): string | undefined {
    if (char === "\\")
      return this.#skip(Math.min(2, this.#text.length - this.#at), () =>
        this.#add((this.#text[this.#at - 1] ?? "").replace("\n", "")),
      );
    if (char === "'") return this.#quoted("'", (inner) => this.#add(inner));
    if (char === '"') return this.#doubleQuoted();
    const pattern = this.#patternAt(char);
    if (pattern !== undefined) return this.#skip(pattern[0], () => this.#add(pattern[1]));
    if (char === "$" || char === "`") return this.#expansion("bare", (value) => this.#spread(value));
    return this.#skip(1, () => this.#add(char));
  }

  #quoted(mark: string, take: (inner: string) => void): string | undefined {
    const end = this.#text.indexOf(mark, this.#at + 1);
    if (end < 0) return `a quote (${mark}) is not closed`;
    const inner = this.#text.slice(this.#at + 1, end);
    return this.#skip(inner.length + 2, () => take(inner));
  }

  #doubleQuoted(): string | undefined {
    this.#at += 1;
    this.#add("");
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined) return 'a quote (") is not closed';
      if (char === '"') return this.#skip(1, () => {});
      const isEscape = char === "\\" && /^[$`"\\]/.test(this.#text[this.#at + 1] ?? "");
      const fault =
        char === "$" || char === "`"
          ? this.#expansion("quoted", (value) => this.#add(value))
          : this.#skip(isEscape ? 2 : 1, () => this.#add(isEscape ? (this.#text[this.#at - 1] ?? "") : char));
      if (fault !== undefined) return fault;
    }
  }

  /** The length of a pattern, and what stands for it. */
  #patternAt(char: string): [number, string] | undefined {
    const isHome = char === "~" && BEFORE_HOME.test(this.#word ?? "");
    const source = isHome ? "~" : (PATTERN.exec(this.#rest())?.[0] ?? "");
    if (source === "" || this.#word?.includes("://")) return undefined;
    const value = this.#stand({ source, kind: "pattern" });
    return value === undefined ? undefined : [source.length, value];
  }

  /** A variable or a substitution. */
  #expansion(kind: "bare" | "quoted", take: (value: string) => void): string | undefined {
    const rest = this.#rest();
    const start = this.#at;
    const unknown = () => take(this.#stand({ source: this.#text.slice(start, this.#at), kind }) ?? UNKNOWN);
    if (rest.startsWith("`")) return this.#quoted("`", unknown);
    if (rest.startsWith("$(")) return this.#bracketed("(", ")", unknown);
    const [whole, plain, braced] = /^\$(?:(\w+|[@*#?$!-])|\{(\w+)\})/.exec(rest) ?? [];
    if (whole !== undefined) {
      const value = this.#variables.get(plain ?? braced ?? "");
      return this.#skip(whole.length, () => (value === undefined ? unknown() : take(value)));
    }
    if (rest.startsWith("${")) return this.#bracketed("{", "}", unknown);
    return this.#skip(1, () => this.#add("$"));
  }

  /** Over a pair of brackets with everything in it, quotes and other pairs too. */
  #bracketed(open: string, close: string, take: () => void): string | undefined {
    let depth = 0;
    for (let at = this.#at + 1; at < this.#text.length; at += 1) {
      const char = this.#text[at] ?? "";
      if (char === "\\") at += 1;
      else if (char === "'" || char === '"') {
        const end = this.#text.indexOf(char, at + 1);
        at = end < 0 ? this.#text.length : end;
      } else if (char === open) depth += 1;
      else if (char === close) {
        depth -= 1;
        if (depth === 0) return this.#skip(at + 1 - this.#at, take);
      }
    }
    return `a bracket ($${open}) is not closed`;
  }

  /** The value of a variable without quotes may be several words. */
  #spread(value: string): void {
    if (this.#isTarget) return this.#add(value); // the name of a file is one word
    const [first = "", ...others] = value.split(/[ \t\n]+/);
    if (first !== "") this.#add(first);
    for (const other of others) {
      this.#span = { ...this.#span, end: this.#at, isPart: true };
      this.#endWord();
      if (other !== "") this.#add(other);
    }
  }

  #add(part: string): void {
    this.#word = (this.#word ?? "") + part;
  }

  #redirect(): void {
    this.#endWord();
    this.#isTarget = true;
  }

  #endWord(): void {
    if (this.#word === undefined) return;
    const isReserved = this.#words.length === 0 && RESERVED.has(this.#word);
    if (!this.#isTarget && !isReserved) {
      this.#words.push(this.#word);
      this.#spans.push({ ...this.#span });
    }
    this.#isTarget = false;
    this.#word = undefined;
  }

  #endCommand(operator: string): void {
    this.#endWord();
    this.#isTarget = false;
    if (this.#words.length > 0)
      this.commands.push({
        ...{ words: this.#words, spans: this.#spans },
        next: operator === "\n" ? ";" : operator,
      });
    this.#words = [];
    this.#spans = [];
  }

  #skip(length: number, act: () => void): undefined {
    this.#at += length;
    act();
    return undefined;
  }

  #rest(): string {
    return this.#text.slice(this.#at, this.#at + 200);
  }

  #line(): string {
    return /^[^\n]*/.exec(this.#text.slice(this.#at))?.[0] ?? "";
  }
}
