import type { ParseResult } from "../../core/base/text.ts";

/** Placeholder in a word for a value that only the shell can determine: `$(hostname)`, an unset variable. */
export const UNKNOWN_VALUE = "\ue000";

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
const RESERVED_WORDS = new Set([
  "!",
  "{",
  "}",
  "if",
  "then",
  "elif",
  "else",
  "fi",
  "do",
  "done",
  "while",
  "until",
]);
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
const MAX_TEXT_LENGTH = 100_000;

/**
 * Parses the commands of a line as `sh` does, as far as possible without running it: quotes, backslashes, comments,
 * redirections, given variables, and operators. Unknown values become `UNKNOWN_VALUE` in the word.
 * @param variables  by name; the value of an unquoted variable is split into words
 * @param resolveUnknown  returns the replacement for an unknown expansion instead of `UNKNOWN_VALUE`; it is also called for
 *   patterns
 * @returns the commands that have words; or the error that the shell would report
 */
export function parseShellCommands(
  text: string,
  variables: ReadonlyMap<string, string>,
  resolveUnknown: UnknownResolver = ({ kind }) => (kind === "pattern" ? undefined : UNKNOWN_VALUE),
): ParseResult<ShellCommand[]> {
  if (text.length > MAX_TEXT_LENGTH) return { fault: "the line is too long" };
  const commands: ShellCommand[] = [];
  let at = 0;
  let words: string[] = [];
  let spans: WordSpan[] = [];
  /** Position of the current word. */
  let span: WordSpan = { start: 0, end: 0, isPart: false };
  /** The current word; undefined between words. */
  let word: string | undefined;
  let redirections: Redirection[] = [];
  /** The operator of a redirection whose target is the next word, which is not a word of the command. */
  let redirection: string | undefined;
  while (at < text.length) {
    const fault = readNext();
    if (fault !== undefined) return { fault };
  }
  endCommand("");
  return { value: commands };

  function readNext(): string | undefined {
    const char = text[at] ?? "";
    if (char === " " || char === "\t") return skipAnd(1, endWord);
    if (char === "#" && word === undefined) return skipAnd(getLine().length, () => {});
    const found = REDIRECTION.exec(getRest())?.[0];
    if (found !== undefined && (word === undefined || !/^\d/.test(found)))
      return skipAnd(found.length, () => redirect(found));
    const operator = OPERATORS.find((one) => text.startsWith(one, at));
    if (operator !== undefined) return skipAnd(operator.length, () => endCommand(operator));
    if (word === undefined) span = { start: at, end: at, isPart: false };
    const fault = readPiece(char);
    span.end = at;
    return fault;
  }

  /** Reads a part of a word. */
  function readPiece(char: string): string | undefined {
    if (char === "\\")
      return skipAnd(Math.min(2, text.length - at), () => add((text[at - 1] ?? "").replace("\n", "")));
    if (char === "'") return readQuoted("'", add);
    if (char === '"') return readDoubleQuoted();
    const pattern = findPattern(char);
    if (pattern !== undefined) return skipAnd(pattern[0], () => add(pattern[1]));
    if (char === "$" || char === "`") return readExpansion("bare", addSplit);
    return skipAnd(1, () => add(char));
  }

  function readQuoted(mark: string, take: (inner: string) => void): string | undefined {
    const end = text.indexOf(mark, at + 1);
    if (end < 0) return `a quote (${mark}) is not closed`;
    const inner = text.slice(at + 1, end);
    return skipAnd(inner.length + 2, () => take(inner));
  }

  function readDoubleQuoted(): string | undefined {
    at += 1;
    add("");
    for (;;) {
      const char = text[at];
      if (char === undefined) return 'a quote (") is not closed';
      if (char === '"') return skipAnd(1, () => {});
      const isEscape = char === "\\" && /^[$`"\\]/.test(text[at + 1] ?? "");
      const fault =
        char === "$" || char === "`"
          ? readExpansion("quoted", add)
          : skipAnd(isEscape ? 2 : 1, () => add(isEscape ? (text[at - 1] ?? "") : char));
      if (fault !== undefined) return fault;
    }
  }

  /** Returns the length of a pattern and its replacement. */
  function findPattern(char: string): [number, string] | undefined {
    const isHome = char === "~" && BEFORE_HOME.test(word ?? "");
    const source = isHome ? "~" : (PATTERN.exec(getRest())?.[0] ?? "");
    if (source === "" || word?.includes("://")) return undefined;
    const value = resolveUnknown({ source, kind: "pattern" });
    return value === undefined ? undefined : [source.length, value];
  }

  /** Reads a variable or a substitution. */
  function readExpansion(kind: "bare" | "quoted", take: (value: string) => void): string | undefined {
    const rest = getRest();
    const start = at;
    const takeUnknown = () => take(resolveUnknown({ source: text.slice(start, at), kind }) ?? UNKNOWN_VALUE);
    if (rest.startsWith("`")) return readQuoted("`", takeUnknown);
    if (rest.startsWith("$(")) return readBracketed("(", ")", takeUnknown);
    const [whole, plain, braced] = /^\$(?:(\w+|[@*#?$!-])|\{(\w+)\})/.exec(rest) ?? [];
    if (whole !== undefined) {
      const value = variables.get(plain ?? braced ?? "");
      return skipAnd(whole.length, () => (value === undefined ? takeUnknown() : take(value)));
    }
    if (rest.startsWith("${")) return readBracketed("{", "}", takeUnknown);
    return skipAnd(1, () => add("$"));
  }

  /** Skips a pair of brackets with its content, including quotes and nested pairs. */
  function readBracketed(open: string, close: string, take: () => void): string | undefined {
    let depth = 0;
    for (let next = at + 1; next < text.length; next += 1) {
      const char = text[next] ?? "";
      if (char === "\\") next += 1;
      else if (char === "'" || char === '"') {
        const end = text.indexOf(char, next + 1);
        next = end < 0 ? text.length : end;
      } else if (char === open) depth += 1;
      else if (char === close) {
        depth -= 1;
        if (depth === 0) return skipAnd(next + 1 - at, take);
      }
    }
    return `a bracket ($${open}) is not closed`;
  }

  /** Adds the value of an unquoted variable, which can be several words. */
  function addSplit(value: string): void {
    if (redirection !== undefined) return add(value); // a file name is one word
    const [first = "", ...others] = value.split(/[ \t\n]+/);
    if (first !== "") add(first);
    for (const other of others) {
      span = { ...span, end: at, isPart: true };
      endWord();
      if (other !== "") add(other);
    }
  }

  function add(part: string): void {
    word = (word ?? "") + part;
  }

  function redirect(found: string): void {
    endWord();
    redirection = found.replace(/^\d+/, "");
  }

  function endWord(): void {
    if (word === undefined) return;
    const isReserved = words.length === 0 && RESERVED_WORDS.has(word);
    if (redirection !== undefined) redirections.push({ operator: redirection, target: word });
    else if (!isReserved) {
      words.push(word);
      spans.push({ ...span });
    }
    redirection = undefined;
    word = undefined;
  }

  function endCommand(operator: string): void {
    endWord();
    redirection = undefined;
    if (words.length > 0)
      commands.push({ words, spans, redirections, next: operator === "\n" ? ";" : operator });
    words = [];
    spans = [];
    redirections = [];
  }

  function skipAnd(length: number, act: () => void): undefined {
    at += length;
    act();
    return undefined;
  }

  function getRest(): string {
    return text.slice(at, at + 200);
  }

  function getLine(): string {
    return /^[^\n]*/.exec(text.slice(at))?.[0] ?? "";
  }
}
