import { displayWidth } from "../../base/text.ts";
import type { Tone } from "../../model/tables/view.ts";

/** Everything on the screen that is no letter. */
export interface Signs {
  isAscii: boolean;
  marks: Readonly<Record<Tone, string>>;
  arrow: string;
  open: string;
  closed: string;
  horizontal: string;
  vertical: string;
  /** Corners of a frame: top left, top right, bottom left, bottom right. */
  corners: readonly [string, string, string, string];
  /** A cell of a bar, full and empty. */
  bar: readonly [string, string];
  marked: string;
  /** Behind the title of the column that a table is sorted by: smallest first, largest first. */
  sorted: readonly [string, string];
  ellipsis: string;
  dot: string;
  dash: string;
}

export const UNICODE: Signs = {
  isAscii: false,
  marks: { held: "● ", free: "○ ", waiting: "◌ ", problem: "▲ ", quiet: "  ", plain: "  " },
  ...{ arrow: "→", open: "▾", closed: "▸", horizontal: "─", vertical: "│" },
  corners: ["╭", "╮", "╰", "╯"],
  bar: ["▇", "▁"],
  sorted: ["▲", "▼"],
  ...{ marked: "✓", ellipsis: "…", dot: "·", dash: "–" },
};

export const ASCII: Signs = {
  isAscii: true,
  marks: { held: "* ", free: "o ", waiting: ". ", problem: "! ", quiet: "  ", plain: "  " },
  ...{ arrow: "->", open: "v", closed: ">", horizontal: "-", vertical: "|" },
  corners: ["+", "+", "+", "+"],
  bar: ["#", "."],
  sorted: ["^", "v"],
  ...{ marked: "x", ellipsis: "...", dot: "-", dash: "-" },
};

/** What stands for signs that other rooms have put into texts: each as wide as it was. */
const INSTEAD: Readonly<Record<string, string>> = {
  ...{ "…": "~", "–": "-", "—": "-", "·": "-", "→": ">", "←": "<", "↑": "^", "↓": "v", "×": "x", "≥": ">" },
  ...{ "‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " ", "✓": "x", "─": "-", "│": "|" },
  ...{ "●": "*", "○": "o", "◌": ".", "▲": "!", "▼": "v", "▾": "v", "▸": ">", "▇": "#", "▁": "." },
};

/** A line without anything but ASCII, as wide as it was. Letters that are none become `?`. */
export function asciiOf(line: string): string {
  if (/^[\x00-\x7f]*$/.test(line)) return line;
  return line.replace(/[^\x00-\x7f]/gu, (char) => INSTEAD[char] ?? "?".repeat(displayWidth(char)));
}
