/** Words as they are typed into one line, so that `wordsIn` finds them again. Quoted where they have to be. */
export function listText(words: readonly string[]): string {
  return words.map((word) => (/^[^\s'"\\]+$/u.test(word) ? word : quotedWord(word))).join(" ");
}

function quotedWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

// A quote that is not closed goes on to the end: somebody is still typing.
const PART = /'([^']*)(?:'|$)|"((?:[^"\\]|\\.)*)(?:"|\\?$)|\\(.)|\\$|([^\s'"\\]+)/gsu;
/** Parts that touch are one word. */
const WORD = /(?:'[^']*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|\\?$)|\\.|\\$|[^\s'"\\])+/gsu;

/** The words of a line, as in a shell: between spaces, with quotes and backslashes. Never throws. */
export function wordsIn(line: string): string[] {
  return Array.from(line.matchAll(WORD), ([word]) =>
    word.replace(PART, (_, single?: string, double?: string, escaped?: string, bare?: string) => {
      return single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? bare ?? "";
    }),
  );
}
