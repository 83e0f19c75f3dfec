import { computeDisplayWidth } from "../../base/display-width.ts";
import type { Tone } from "../../state/subject.ts";

/** All characters on the screen that are not text. */
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
  /** A full and an empty cell of a bar. */
  bar: readonly [string, string];
  marked: string;
  /** Before a watched row. */
  watched: string;
  ellipsis: string;
  dot: string;
  /** Between a whole and its part. */
  step: string;
  /** The bar at the left edge of the selected row. */
  accent: string;
}

export const UNICODE: Signs = {
  isAscii: false,
  marks: { held: "● ", free: "○ ", waiting: "◌ ", problem: "▲ ", quiet: "  ", plain: "  ", accent: "  " },
  arrow: "→",
  open: "▾",
  closed: "▸",
  horizontal: "─",
  vertical: "│",
  corners: ["╭", "╮", "╰", "╯"],
  bar: ["▇", "▁"],
  marked: "✓",
  watched: "◆",
  ellipsis: "…",
  dot: "·",
  step: "›",
  accent: "▎",
};

export const ASCII: Signs = {
  isAscii: true,
  marks: { held: "* ", free: "o ", waiting: ". ", problem: "! ", quiet: "  ", plain: "  ", accent: "  " },
  arrow: "->",
  open: "v",
  closed: ">",
  horizontal: "-",
  vertical: "|",
  corners: ["+", "+", "+", "+"],
  bar: ["#", "."],
  marked: "x",
  watched: "@",
  ellipsis: "...",
  dot: "-",
  step: ">",
  accent: ">",
};

/** ASCII replacements of the same width for signs that other modules put into texts. */
const INSTEAD: Readonly<Record<string, string>> = {
  "…": "~",
  "–": "-",
  "—": "-",
  "·": "-",
  "→": ">",
  "←": "<",
  "↑": "^",
  "↓": "v",
  "›": ">",
  "×": "x",
  "≥": ">",
  "‘": "'",
  "’": "'",
  "“": '"',
  "”": '"',
  "\u00a0": " ",
  "✓": "x",
  "─": "-",
  "│": "|",
  "●": "*",
  "○": "o",
  "◌": ".",
  "▲": "!",
  "▼": "v",
  "▾": "v",
  "▸": ">",
  "▇": "#",
  "▁": ".",
  "▎": ">",
  "▂": ".",
  "▃": "-",
  "▅": "=",
  "◆": "@",
};

/** Converts a line to ASCII of the same width. Letters that have no replacement become `?`. */
export function toAscii(line: string): string {
  if (/^[\x00-\x7f]*$/.test(line)) return line;
  return line.replace(/[^\x00-\x7f]/gu, (char) => INSTEAD[char] ?? "?".repeat(computeDisplayWidth(char)));
}
