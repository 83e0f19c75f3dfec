import { cleanToWidth } from "../../base/display-width.ts";
import type { TerminalModes } from "../../commands/see/ansi-screen.ts";

// Sequences that the console writes besides its frames.

/**
 * Builds the codes that turn terminal modes on and off, apart from the alternate screen: bracketed paste, and the mouse:
 * clicks, and movements while a button is down. A terminal without 1002 keeps 1000.
 */
export function buildTerminalModes(wants: { mouse: boolean }): TerminalModes {
  const mouse = wants.mouse ? ["?1000", "?1002", "?1006"] : [];
  const all = ["?2004", ...mouse];
  const formatModes = (end: "h" | "l") => all.map((mode) => `\x1b[${mode}${end}`).join("");
  return { on: formatModes("h"), off: formatModes("l") };
}

/** Formats the sequence (OSC 52) that copies a text to the clipboard of the user's terminal. */
export function formatClipboardSequence(text: string): string {
  return `\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`;
}

/** Ends a string sequence. Unlike BEL, it rings nowhere. */
const END = "\x1b\\";

/** Formats the sequences of a notification for the desktop: OSC 9, and OSC 777 of other terminals. */
export function formatDesktopNotification(text: string): string {
  const shown = toTitleText(text);
  // The name comes first, because "9;4;…" would be a progress bar.
  return `\x1b]9;signalbox: ${shown}${END}\x1b]777;notify;signalbox;${shown.replaceAll(";", ",")}${END}`;
}

/** Stores the title of the window in the terminal, and restores it. */
export const PUSH_TITLE = "\x1b[22;2t";
export const POP_TITLE = "\x1b[23;2t";

/** Formats the sequence that sets the title of the window. */
export function formatWindowTitle(text: string): string {
  return `\x1b]2;${toTitleText(text)}${END}`;
}

/** Texts come from etcd: nothing in them may end the sequence, or begin another one. */
function toTitleText(text: string): string {
  return cleanToWidth(text, 120).replace(/[\p{C}]/gu, "");
}
