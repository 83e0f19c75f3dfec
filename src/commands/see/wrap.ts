import { clean, computeDisplayWidth } from "../../base/text.ts";

/** Wraps a clean text between words. A word that is longer than a line is cut. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").filter(Boolean)) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && computeDisplayWidth(longer) > columns) {
      lines.push(line);
      line = clean(word, columns);
    } else line = clean(longer, columns);
  }
  return line === "" ? lines : [...lines, line];
}
