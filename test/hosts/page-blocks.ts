/** The shell blocks of a page, each with the place where a reader types it: `<!-- on host1 -->` before the block. */
export interface PageBlock {
  place: string;
  text: string;
}

/** @throws Error if a block has no place */
export function readPageBlocks(page: string): PageBlock[] {
  const found = [...page.matchAll(/(?:^<!-- on ([^\n]*) -->\n)?^```sh\n(.*?)^```$/gms)];
  return found.map(([, place, text = ""]) => {
    if (place === undefined) throw new Error(`where is this typed? no <!-- on HOST --> before:\n${text}`);
    return { place, text };
  });
}

/**
 * Counts the commands of a block: its lines, without comments, the text of here-documents, lines that continue others,
 * and `done`. The first line of a loop counts.
 */
export function countCommands(text: string): number {
  const lines = text
    .replace(/\\\n/g, " ")
    .replace(/(<<'?(\w+)'?.*\n)[\s\S]*?^\2$/gm, "$1")
    .split("\n")
    .map((line) => line.trim());
  return lines.filter((line) => line !== "" && !line.startsWith("#") && line !== "done").length;
}
