import { cleanToWidth, computeDisplayWidth } from "../../base/display-width.ts";

/** Wraps a clean text between words. A word that is longer than a line is cut. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").filter(Boolean)) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && computeDisplayWidth(longer) > columns) {
      lines.push(line);
      line = cleanToWidth(word, columns);
    } else line = cleanToWidth(longer, columns);
  }
  return line === "" ? lines : [...lines, line];
}
