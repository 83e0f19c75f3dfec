/**
 * Bash hands over the line as it was typed: with quotes, and cut into words at colons, equals signs and `@` too, which
 * names and flags may hold. Here it is read as bash will read it, but nothing in it is expanded or executed.
 */
export interface BashLine {
  /** Words up to the cursor, without quotes; the last one is begun or empty. */
  words: readonly string[];
  /** The quote that is open at the cursor. */
  quote: "" | "'" | '"';
  /** The beginning of the last word that bash leaves as it is: what it puts in replaces only what follows. */
  kept: string;
  /** Whether the last word is bash's own business: where input or output goes, or something that bash will expand. */
  isForBash: boolean;
}

/**
 * @param line    up to the cursor
 * @param breaks  bash's COMP_WORDBREAKS
 */
export function readBashLine(line: string, breaks: string): BashLine {
  const reader = new LineReader(breaks);
  for (const char of line) reader.take(char);
  return reader.end();
}

class LineReader {
  readonly #breaks: string;
  readonly #words: string[] = [];
  #word: string | undefined;
  #quote: BashLine["quote"] = "";
  #isEscaped = false;
  #isTarget = false;
  #isExpanded = false;
  /** Length of what bash keeps of the word. */
  #kept = 0;
  /** The same, before the quote that is open: one that is closed again is no place to begin at. */
  #keptBefore = 0;

  constructor(breaks: string) {
    this.#breaks = breaks;
  }

  take(char: string): void {
    if (this.#isEscaped) this.#unescaped(char);
    else if (this.#quote === "'") this.#quoted(char);
    else if (char === "\\") this.#isEscaped = true;
    else if (this.#quote === '"') this.#quoted(char);
    else if (char === "'" || char === '"') this.#open(char);
    else if (/[\s<>|&;]/.test(char)) this.#endWord(char);
    else this.#plain(char);
  }

  end(): BashLine {
    const word = this.#word ?? "";
    const kept = [...word].slice(0, this.#kept).join("");
    const isForBash = this.#isTarget || this.#isExpanded;
    return { words: [...this.#words, word], quote: this.#quote, kept, isForBash };
  }

  #add(char: string): void {
    if (/[$`]/.test(char) && this.#quote !== "'" && !this.#isEscaped) this.#isExpanded = true;
    this.#word = (this.#word ?? "") + char;
  }

  #length(): number {
    return [...(this.#word ?? "")].length;
  }

  #unescaped(char: string): void {
    if (this.#quote === '"' && !/["\\$`\n]/.test(char)) this.#add("\\");
    if (char !== "\n") this.#add(char); // else the line goes on
    this.#isEscaped = false;
  }

  #quoted(char: string): void {
    if (char !== this.#quote) this.#add(char);
    else {
      this.#quote = "";
      this.#kept = this.#keptBefore;
    }
  }

  #open(quote: "'" | '"'): void {
    this.#add("");
    this.#quote = quote;
    this.#keptBefore = this.#kept;
    this.#kept = this.#length();
  }

  #plain(char: string): void {
    if (char === "@" && this.#breaks.includes(char)) this.#kept = this.#length(); // bash begins with it, not behind it
    this.#add(char);
    if (char !== "@" && this.#breaks.includes(char)) this.#kept = this.#length();
  }

  #endWord(char: string): void {
    const isDescriptor = /[<>]/.test(char) && /^\d+$/.test(this.#word ?? ""); // as in `2>`
    if (this.#word !== undefined && !this.#isTarget && !isDescriptor) this.#words.push(this.#word);
    if (/[<>]/.test(char)) this.#isTarget = true;
    else if (this.#word !== undefined || /[|;]/.test(char)) this.#isTarget = false;
    this.#word = undefined;
    this.#isExpanded = false;
    this.#kept = 0;
  }
}

/** A word as it is put behind what bash keeps, in the quotes that are open. Bash closes them itself. */
export function bashWord(word: string, { quote, kept }: Pick<BashLine, "quote" | "kept">): string {
  const rest = word.slice(kept.length);
  if (quote === "'") return rest.replaceAll("'", "'\\''");
  // In double quotes nothing but leaving them stops `!` from recalling an older line.
  if (quote === '"') return rest.replace(/["\\$`]/g, "\\$&").replaceAll("!", '"\\!"');
  return rest.replace(/[^\w./:=@%+,\u0080-\u{10ffff}-]/gu, "\\$&");
}
