// Sequences that the console writes besides its frames.

/**
 * Builds the sequences that turn terminal modes on and off, except the alternate screen: no line wrap, bracketed paste,
 * and the mouse (clicks, and movements while a button is down; terminals without 1002 use 1000). `scheme`: the terminal
 * reports when its theme becomes light or dark.
 */
export function buildTerminalModes(wants: { mouse: boolean; scheme: boolean }): { on: string; off: string } {
  const mouse = wants.mouse ? ["?1000", "?1002", "?1006"] : [];
  const all = ["?2004", ...mouse, ...(wants.scheme ? ["?2031"] : [])];
  const formatModes = (end: "h" | "l") => all.map((mode) => `\x1b[${mode}${end}`).join("");
  return { on: `\x1b[?7l${formatModes("h")}`, off: `\x1b[?7h${formatModes("l")}` };
}

/** Turns on kitty's keyboard protocol, which makes keys unambiguous. Each screen of the terminal has its own setting. */
export const PUSH_KEYBOARD = "\x1b[>1u";
export const POP_KEYBOARD = "\x1b[<u";

/** Whether a text contains more than changes of modes. */
export function writesCells(text: string): boolean {
  return !/^(?:\x1b\[\?\d+[hl])*$/.test(text);
}

/** Clears the screen, and moves the cursor to the top left. */
export const CLEAR_SCREEN = "\x1b[m\x1b[H\x1b[J";

/** Erases the rest of a line, which gets the current background. */
export const ERASE_LINE = "\x1b[K";

/** Formats the sequence (OSC 52) that copies a text to the clipboard of the user's terminal. */
export function formatClipboardSequence(text: string): string {
  return `\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`;
}

/** Ends a string sequence. Unlike BEL, it rings nowhere. */
const STRING_END = "\x1b\\";

/** Makes a text a link (OSC 8). @param url  without control characters */
export function formatLink(text: string, url: string): string {
  return `\x1b]8;;${url}${STRING_END}${text}\x1b]8;;${STRING_END}`;
}

/** Sequences that set the colours of cells without their own colours. */
export interface BaseColours {
  letters: string;
  ground: string;
}

/** The terminal's own colours. */
export const OWN_COLOURS: BaseColours = { letters: "\x1b[39m", ground: "\x1b[49m" };

/**
 * Gives cells without their own colours those of a theme, and erased cells its background. If a box painted this
 * background, Ink would process each of its cells for every frame.
 */
export function paintBase(text: string, { letters, ground }: BaseColours): string {
  if (letters === OWN_COLOURS.letters && ground === OWN_COLOURS.ground) return text;
  const painted = text
    .replaceAll("\x1b[m", `\x1b[m${letters}${ground}`)
    .replaceAll(OWN_COLOURS.letters, letters)
    .replaceAll(OWN_COLOURS.ground, ground);
  return `${letters}${ground}${painted}\x1b[39;49m`;
}

/** Several unchanged lines. */
const NEXT_LINES = /(?:\x1b\[E){2,}/g;

/** A colour of the text or the background that is replaced before anything is written with it. */
const UNUSED_COLOURS =
  /\x1b\[38;[\d;]+m(?=(?:\x1b\[(?:48;[\d;]+|49|1|22)m)*\x1b\[(?:38;[\d;]+|39)m)|\x1b\[48;[\d;]+m(?=(?:\x1b\[(?:38;[\d;]+|39|1|22)m)*\x1b\[(?:48;[\d;]+|49)m)/g;

/** Blanks that take more bytes than the two sequences that replace them. */
const LONG_BLANKS = / {12,}/g;

/** Styles that a terminal shows in blanks, but not in cells that it has erased. */
const SHOWN_IN_BLANKS = /\x1b\[(?:4|7|9)m/;

/**
 * Writes a frame in fewer bytes, for slow lines.
 * @param hasGround  whether the terminal gives erased cells the current background: GNU screen does not
 */
export function shortenOutput(text: string, hasGround: boolean): string {
  const short = text.replace(NEXT_LINES, (all) => `\x1b[${all.length / 3}E`).replace(UNUSED_COLOURS, "");
  if (!hasGround) return short;
  return short
    .split("\n")
    .map((line) => (SHOWN_IN_BLANKS.test(line) ? line : line.replace(LONG_BLANKS, eraseCells)))
    .join("\n");
}

function eraseCells({ length }: string): string {
  return `\x1b[${length}X\x1b[${length}C`;
}
