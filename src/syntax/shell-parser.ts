import type { ParseResult } from "../base/text.ts";

/** Placeholder in a word for a value that only the shell can determine: `$(hostname)`, an unset variable. */
export const UNKNOWN = "\ue000";

/** The position of a word in the text: from `start` to `end` (exclusive). */
interface WordSpan {
  start: number;
  end: number;
  /** The word is one of several that a variable expanded to. */
  isPart: boolean;
}

/** A redirection of a command: `> x`, `2>>x`, `< x`. */
interface Redirection {
  /** Without the number of the descriptor. */
  operator: string;
  /** The word after it, without quotes: a file, or a descriptor for `>&` and `<&`. */
  target: string;
}

/** A simple command of a shell line: words without quotes. */
export interface ShellCommand {
  words: readonly string[];
  /** The position of each word. */
  spans: readonly WordSpan[];
  redirections: readonly Redirection[];
  /** The operator after the command: `&&`, `||`, `;`, `|`, `&`, `(`, `)`, or empty at the end. */
  next: string;
}

/** Text that only the shell can evaluate: an expansion, quoted or not, or a pattern that files may match. */
export interface UnknownExpansion {
  /** The source text: `$(hostname)`, `${X:-y}`, `*`. */
  source: string;
  kind: "quoted" | "bare" | "pattern";
}

/** Returns the replacement for an unknown expansion. For patterns, undefined leaves the text unchanged. */
type UnknownResolver = (unknown: UnknownExpansion) => string | undefined;

/** Reserved words before a command that are not part of it. */
const RESERVED = new Set(["!", "{", "}", "if", "then", "elif", "else", "fi", "do", "done", "while", "until"]);
/** Longest first, as the shell matches them. */
const OPERATORS = ["&&", "||", ";;", "|&", ";", "|", "&", "(", ")", "\n"];
const REDIRECTION = /^\d*(?:&>>|&>|>>|<<<|<<-|<<|<>|>&|<&|>\||>|<)/;
/**
 * Unquoted patterns that files may match, and syntax that shells interpret differently: `{a,b}`, `$'a'`. A URL with a
 * question mark is not a pattern.
 */
const PATTERN = /^(?:[*?]|\[[^\s\]]+\]|\{(?=\S*(?:,|\.\.)\S*\})|\$(?=['"]))/;
/**
 * Text after which `~` is a home directory: the start of a word, and in some shells after what looks like an
 * assignment.
 */
const BEFORE_HOME = /^(?:[A-Za-z_]\w*=(?:.*:)?)?$/;
const LONGEST = 100_000;

/**
 * Parses the commands of a line as `sh` does, as far as possible without running it: quotes, backslashes, comments,
 * redirections, given variables, and operators. Unknown values become `UNKNOWN` in the word.
 * @param variables  by name; the value of an unquoted variable is split into words
 * @param resolveUnknown  returns the replacement for an unknown expansion instead of `UNKNOWN`; it is also called for
 *   patterns
 * @returns the commands that have words; or the error that the shell would report
 */
export function parseShellCommands(
  text: string,
  variables: ReadonlyMap<string, string>,
  resolveUnknown: UnknownResolver = ({ kind }) => (kind === "pattern" ? undefined : UNKNOWN),
): ParseResult<ShellCommand[]> {
  if (text.length > LONGEST) return { fault: "the line is too long" };
  const reader = new ShellParser(text, variables, resolveUnknown);
  const fault = reader.parse();
  return fault === undefined ? { value: reader.commands } : { fault };
}

class ShellParser {
  readonly commands: ShellCommand[] = [];
  readonly #text: string;
  readonly #variables: ReadonlyMap<string, string>;
  readonly #resolveUnknown: UnknownResolver;
  #at = 0;
  #words: string[] = [];
  #spans: WordSpan[] = [];
  /** Position of the current word. */
  #span: WordSpan = { start: 0, end: 0, isPart: false };
  /** The current word; undefined between words. */
  #word: string | undefined;
  #redirections: Redirection[] = [];
  /** The operator of a redirection whose target is the next word, which is not a word of the command. */
  #operator: string | undefined;

  constructor(text: string, variables: ReadonlyMap<string, string>, resolveUnknown: UnknownResolver) {
    this.#text = text;
    this.#variables = variables;
    this.#resolveUnknown = resolveUnknown;
  }

  /** @returns what is wrong with the text, or undefined */
  parse(): string | undefined {
    while (this.#at < this.#text.length) {
      const fault = this.#readNext();
      if (fault !== undefined) return fault;
    }
    this.#endCommand("");
    return undefined;
  }

  #readNext(): string | undefined {
    const char = this.#text[this.#at] ?? "";
    if (char === " " || char === "\t") return this.#skipAnd(1, () => this.#endWord());
    if (char === "#" && this.#word === undefined) return this.#skipAnd(this.#getLine().length, () => {});
    const redirection = REDIRECTION.exec(this.#getRest())?.[0];
    if (redirection !== undefined && (this.#word === undefined || !/^\d/.test(redirection)))
      return this.#skipAnd(redirection.length, () => this.#redirect(redirection));
    const operator = OPERATORS.find((one) => this.#text.startsWith(one, this.#at));
    if (operator !== undefined) return this.#skipAnd(operator.length, () => this.#endCommand(operator));
    if (this.#word === undefined) this.#span = { start: this.#at, end: this.#at, isPart: false };
    const fault = this.#readPiece(char);
    this.#span.end = this.#at;
    return fault;
  }

  /** Reads a part of a word. */
  #readPiece(char: string): string | undefined {
    if (char === "\\")
      return this.#skipAnd(Math.min(2, this.#text.length - this.#at), () =>
        this.#add((this.#text[this.#at - 1] ?? "").replace("\n", "")),
      );
    if (char === "'") return this.#readQuoted("'", (inner) => this.#add(inner));
    if (char === '"') return this.#readDoubleQuoted();
    const pattern = this.#findPattern(char);
    if (pattern !== undefined) return this.#skipAnd(pattern[0], () => this.#add(pattern[1]));
    if (char === "$" || char === "`") return this.#readExpansion("bare", (value) => this.#addSplit(value));
    return this.#skipAnd(1, () => this.#add(char));
  }

  #readQuoted(mark: string, take: (inner: string) => void): string | undefined {
    const end = this.#text.indexOf(mark, this.#at + 1);
    if (end < 0) return `a quote (${mark}) is not closed`;
    const inner = this.#text.slice(this.#at + 1, end);
    return this.#skipAnd(inner.length + 2, () => take(inner));
  }

  #readDoubleQuoted(): string | undefined {
    this.#at += 1;
    this.#add("");
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined) return 'a quote (") is not closed';
      if (char === '"') return this.#skipAnd(1, () => {});
      const isEscape = char === "\\" && /^[$`"\\]/.test(this.#text[this.#at + 1] ?? "");
      const fault =
        char === "$" || char === "`"
          ? this.#readExpansion("quoted", (value) => this.#add(value))
          : this.#skipAnd(isEscape ? 2 : 1, () =>
              this.#add(isEscape ? (this.#text[this.#at - 1] ?? "") : char),
            );
      if (fault !== undefined) return fault;
    }
  }

  /** Returns the length of a pattern and its replacement. */
  #findPattern(char: string): [number, string] | undefined {
    const isHome = char === "~" && BEFORE_HOME.test(this.#word ?? "");
    const source = isHome ? "~" : (PATTERN.exec(this.#getRest())?.[0] ?? "");
    if (source === "" || this.#word?.includes("://")) return undefined;
    const value = this.#resolveUnknown({ source, kind: "pattern" });
    return value === undefined ? undefined : [source.length, value];
  }

  /** Reads a variable or a substitution. */
  #readExpansion(kind: "bare" | "quoted", take: (value: string) => void): string | undefined {
    const rest = this.#getRest();
    const start = this.#at;
    const takeUnknown = () =>
      take(this.#resolveUnknown({ source: this.#text.slice(start, this.#at), kind }) ?? UNKNOWN);
    if (rest.startsWith("`")) return this.#readQuoted("`", takeUnknown);
    if (rest.startsWith("$(")) return this.#readBracketed("(", ")", takeUnknown);
    const [whole, plain, braced] = /^\$(?:(\w+|[@*#?$!-])|\{(\w+)\})/.exec(rest) ?? [];
    if (whole !== undefined) {
      const value = this.#variables.get(plain ?? braced ?? "");
      return this.#skipAnd(whole.length, () => (value === undefined ? takeUnknown() : take(value)));
    }
    if (rest.startsWith("${")) return this.#readBracketed("{", "}", takeUnknown);
    return this.#skipAnd(1, () => this.#add("$"));
  }

  /** Skips a pair of brackets with its content, including quotes and nested pairs. */
  #readBracketed(open: string, close: string, take: () => void): string | undefined {
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
        if (depth === 0) return this.#skipAnd(at + 1 - this.#at, take);
      }
    }
    return `a bracket ($${open}) is not closed`;
  }

  /** Adds the value of an unquoted variable, which can be several words. */
  #addSplit(value: string): void {
    if (this.#operator !== undefined) return this.#add(value); // a file name is one word
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

  #redirect(redirection: string): void {
    this.#endWord();
    this.#operator = redirection.replace(/^\d+/, "");
  }

  #endWord(): void {
    if (this.#word === undefined) return;
    const isReserved = this.#words.length === 0 && RESERVED.has(this.#word);
    if (this.#operator !== undefined)
      this.#redirections.push({ operator: this.#operator, target: this.#word });
    else if (!isReserved) {
      this.#words.push(this.#word);
      this.#spans.push({ ...this.#span });
    }
    this.#operator = undefined;
    this.#word = undefined;
  }

  #endCommand(operator: string): void {
    this.#endWord();
    this.#operator = undefined;
    if (this.#words.length > 0)
      this.commands.push({
        words: this.#words,
        spans: this.#spans,
        redirections: this.#redirections,
        next: operator === "\n" ? ";" : operator,
      });
    this.#words = [];
    this.#spans = [];
    this.#redirections = [];
  }

  #skipAnd(length: number, act: () => void): undefined {
    this.#at += length;
    act();
    return undefined;
  }

  #getRest(): string {
    return this.#text.slice(this.#at, this.#at + 200);
  }

  #getLine(): string {
    return /^[^\n]*/.exec(this.#text.slice(this.#at))?.[0] ?? "";
  }
}
