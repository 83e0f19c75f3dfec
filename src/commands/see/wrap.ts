import { clean, displayWidth } from "../../base/text.ts";

/** A clean text in lines that have room, broken between words; a word that is longer than a line is cut. */
export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").filter(Boolean)) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && displayWidth(longer) > columns) {
      lines.push(line);
      line = clean(word, columns);
    } else line = clean(longer, columns);
  }
  return line === "" ? lines : [...lines, line];
}
