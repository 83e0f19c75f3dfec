import type { TerminalModes } from "../../commands/see/ansi-screen.ts";

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
