import { type ParseResult, quoteText } from "../../../base/text.ts";

/** A regular expression without the constructs that need backtracking. */
export type PatternNode =
  /** One character. */
  | { kind: "set"; has: (codePoint: number) => boolean }
  | { kind: "assertion"; at: "start" | "end" | "boundary" | "inside" }
  | { kind: "sequence"; items: readonly PatternNode[] }
  | { kind: "choice"; items: readonly PatternNode[] }
  | { kind: "repeat"; item: PatternNode; least: number; most: number };

/** Maximum length of a pattern, characters. */
const MAX_PATTERN_LENGTH = 200;
/** Maximum number in `{m,n}`. */
const MAX_REPEAT = 100;

/** Stops the parser. Never leaves this file. */
class PatternFault extends Error {}

/**
 * Parses a regular expression: letters, `.`, `[a-z]`, `\d \w \s \b`, `^`, `$`, groups, `|`, `* + ?` and `{m,n}`. Case
 * is ignored. Back references and look-around are refused, because they cannot be matched in linear time.
 */
export function parsePattern(text: string): ParseResult<PatternNode> {
  if (text.length > MAX_PATTERN_LENGTH)
    return { fault: `the pattern has ${text.length} characters; the maximum is ${MAX_PATTERN_LENGTH}` };
  try {
    return { value: new PatternParser(text).parse() };
  } catch (error) {
    if (!(error instanceof PatternFault)) throw error;
    return { fault: `pattern ${quoteText(text)}: ${error.message}` };
  }
}

class PatternParser {
  readonly #letters: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#letters = Array.from(text);
  }

  parse(): PatternNode {
    const node = this.#parseChoice();
    if (this.#at < this.#letters.length)
      throw new PatternFault('")" without "("; write \\) for the character');
    return node;
  }

  #peek(): string | undefined {
    return this.#letters[this.#at];
  }

  #accept(letter: string): boolean {
    if (this.#peek() !== letter) return false;
    this.#at += 1;
    return true;
  }

  #parseChoice(): PatternNode {
    const items = [this.#parseSequence()];
    while (this.#accept("|")) items.push(this.#parseSequence());
    return items.length === 1 && items[0] !== undefined ? items[0] : { kind: "choice", items };
  }

  #parseSequence(): PatternNode {
    const items: PatternNode[] = [];
    for (let next = this.#peek(); next !== undefined && next !== "|" && next !== ")"; next = this.#peek())
      items.push(this.#parseRepeats(this.#parseAtom()));
    return { kind: "sequence", items };
  }

  #parseRepeats(atom: PatternNode): PatternNode {
    const bounds = this.#parseBounds();
    if (bounds === undefined) return atom;
    if (atom.kind === "assertion") throw new PatternFault("nothing to repeat");
    this.#accept("?"); // lazy: whether a text matches does not depend on it
    if (this.#parseBounds() !== undefined) throw new PatternFault("a repetition of a repetition");
    const [least, most] = bounds;
    return { kind: "repeat", item: atom, least, most };
  }

  #parseBounds(): readonly [least: number, most: number] | undefined {
    if (this.#accept("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.#accept("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.#accept("?")) return [0, 1];
    const found = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.#letters.slice(this.#at, this.#at + 12).join(""));
    if (found === null) return undefined;
    this.#at += found[0].length;
    const least = Number(found[1]);
    const most =
      found[2] === undefined ? least : found[3] === "" ? Number.POSITIVE_INFINITY : Number(found[3]);
    if (least > MAX_REPEAT || (Number.isFinite(most) && most > MAX_REPEAT))
      throw new PatternFault(`at most ${MAX_REPEAT} repetitions can be asked for`);
    if (least > most) throw new PatternFault("the numbers of a repetition are in the wrong order");
    return [least, most];
  }

  #parseAtom(): PatternNode {
    const letter = this.#letters[this.#at++] ?? "";
    switch (letter) {
      case "^":
        return { kind: "assertion", at: "start" };
      case "$":
        return { kind: "assertion", at: "end" };
      case ".":
        return { kind: "set", has: () => true };
      case "(":
        return this.#parseGroup();
      case "[":
        return this.#parseClass();
      case "\\":
        return this.#parseEscape();
      case "*":
      case "+":
      case "?":
        throw new PatternFault(`nothing to repeat before "${letter}"; write \\${letter} for the character`);
      default:
        return createLetterNode(letter);
    }
  }

  #parseGroup(): PatternNode {
    if (this.#accept("?") && !this.#accept(":"))
      throw new PatternFault("(?…) is not supported, except for (?:…)");
    const node = this.#parseChoice();
    if (!this.#accept(")")) throw new PatternFault('"(" without ")"; write \\( for the character');
    return node;
  }

  #parseEscape(): PatternNode {
    const letter = this.#letters[this.#at++];
    if (letter === "b") return { kind: "assertion", at: "boundary" };
    if (letter === "B") return { kind: "assertion", at: "inside" };
    const has = findEscapedSet(letter);
    return has === undefined ? createLetterNode(toEscapedLetter(letter)) : { kind: "set", has };
  }

  #parseClass(): PatternNode {
    const isNegated = this.#accept("^");
    const tests: ((codePoint: number) => boolean)[] = [];
    while (!this.#accept("]")) {
      const first = this.#parseClassItem();
      if (typeof first === "function") {
        tests.push(first);
        continue;
      }
      const isRange = this.#peek() === "-" && ![undefined, "]"].includes(this.#letters[this.#at + 1]);
      if (isRange) this.#at += 1;
      const last = isRange ? this.#parseClassItem() : first;
      if (typeof last === "function" || last < first) throw new PatternFault("a range in [] is wrong");
      tests.push((codePoint) => codePoint >= first && codePoint <= last);
    }
    const hasCase = (codePoint: number) => tests.some((has) => has(codePoint) || has(toUpper(codePoint)));
    return { kind: "set", has: isNegated ? (codePoint) => !hasCase(codePoint) : hasCase };
  }

  #parseClassItem(): number | ((codePoint: number) => boolean) {
    const letter = this.#letters[this.#at++];
    if (letter === undefined) throw new PatternFault('"[" without "]"; write \\[ for the character');
    if (letter !== "\\") return toCodePoint(letter);
    const escaped = this.#letters[this.#at++];
    return findEscapedSet(escaped) ?? toCodePoint(toEscapedLetter(escaped));
  }
}

function createLetterNode(letter: string): PatternNode {
  const wanted = toCodePoint(letter.toLowerCase());
  return { kind: "set", has: (codePoint) => codePoint === wanted };
}

function isDigit(codePoint: number): boolean {
  return codePoint >= 48 && codePoint <= 57;
}

/** Whether a character is a letter, a digit or `_`, for `\w` and `\b`. The text is in lower case. */
export function isWordCodePoint(codePoint: number): boolean {
  return isDigit(codePoint) || codePoint === 95 || (codePoint >= 97 && codePoint <= 122);
}

function isBlank(codePoint: number): boolean {
  return /\s/.test(String.fromCodePoint(codePoint));
}

const SETS: Readonly<Record<string, (codePoint: number) => boolean>> = {
  d: isDigit,
  w: isWordCodePoint,
  s: isBlank,
};

/** Returns the set of `\d`, `\w` or `\s`, or of the opposites in upper case. */
function findEscapedSet(letter: string | undefined): ((codePoint: number) => boolean) | undefined {
  const has = SETS[letter?.toLowerCase() ?? ""];
  return has === undefined || letter === letter?.toLowerCase() ? has : (codePoint) => !has(codePoint);
}

function toEscapedLetter(letter: string | undefined): string {
  if (letter === undefined) throw new PatternFault('it ends with "\\"');
  if (letter === "t") return "\t";
  if (/^[A-Za-z0-9]$/.test(letter)) throw new PatternFault(`\\${letter} is not supported`);
  return letter;
}

function toCodePoint(letter: string): number {
  return letter.codePointAt(0) ?? 0;
}

function toUpper(codePoint: number): number {
  return toCodePoint(String.fromCodePoint(codePoint).toUpperCase());
}
