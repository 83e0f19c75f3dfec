const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The first place at or behind an index where a cursor can stand. */
export function boundaryFrom(text: string, index: number): number {
  if (index <= 0) return 0;
  if (index >= text.length) return text.length;
  const found = graphemes.segment(text).containing(index);
  return found === undefined || found.index === index ? index : found.index + found.segment.length;
}

/** The place before the grapheme that ends at an index. */
export function boundaryBefore(text: string, index: number): number {
  return graphemes.segment(text).containing(index - 1)?.index ?? 0;
}

/** What a person takes for letters, in their order. */
export function graphemesOf(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}

const WORD = /[\p{L}\p{N}\p{M}_]/u;

/** Where the word before an index begins. */
export function wordBefore(text: string, index: number): number {
  const letters = graphemesOf(text.slice(0, index));
  const isWord = () => WORD.test(letters.at(-1) ?? "");
  while (letters.length > 0 && !isWord()) letters.pop();
  while (isWord()) letters.pop();
  return letters.join("").length;
}

/** Where the word behind an index ends. */
export function wordBehind(text: string, index: number): number {
  const letters = graphemesOf(text.slice(index)).reverse();
  const isWord = () => WORD.test(letters.at(-1) ?? "");
  while (letters.length > 0 && !isWord()) letters.pop();
  while (isWord()) letters.pop();
  return text.length - letters.join("").length;
}

/** Where the text without spaces before an index begins: what a shell takes away with Ctrl+W. */
export function blankBefore(text: string, index: number): number {
  const kept = text.slice(0, index).replace(/\S*\s*$/, "");
  return kept.length;
}
