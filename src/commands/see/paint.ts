import type { Tone } from "../../model/views/view.ts";
import type { CommandIo } from "../spec.ts";

/** The style of the output: what the terminal can show, and what the user has chosen. */
export interface OutputStyle {
  colours: boolean;
  /** Marks before states, so that colour is never the only sign; undefined on a pipe. */
  marks: Readonly<Record<Tone, string>> | undefined;
  /** Width in columns; undefined for no limit. */
  width: number | undefined;
  /** The sign before a line to copy. */
  arrow: string;
  /** Whether every line must fit. Otherwise the terminal wraps lines to copy. */
  isClipped?: true;
  /** Paints a text in another way than the default, for example with the colours of a theme. */
  paint?(tone: Tone | "heading", text: string): string;
}

const MARKS: Record<Tone, string> = {
  ...{ held: "● ", free: "○ ", waiting: "◌ ", problem: "▲ ", quiet: "  ", plain: "  " },
};
const ASCII_MARKS: Record<Tone, string> = {
  ...{ held: "* ", free: "o ", waiting: ". ", problem: "! ", quiet: "  ", plain: "  " },
};

/** Colours of the terminal's own palette, so that they fit its theme. */
const CODES: Record<Tone, string> = {
  ...{ held: "32", free: "2", waiting: "33", problem: "31", quiet: "2", plain: "" },
};

/**
 * Detects the style for the output.
 * @param wants.ascii  only ASCII signs
 * @param wants.wide  no limit on the width
 */
export function detectOutputStyle(
  { env, terminal }: CommandIo,
  wants: { ascii: boolean; wide: boolean },
): OutputStyle {
  if (!terminal.isOutput()) return { colours: false, marks: undefined, width: undefined, arrow: "->" };
  const isAscii = wants.ascii || !isUtf8(env);
  return {
    colours: (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb",
    marks: isAscii ? ASCII_MARKS : MARKS,
    arrow: isAscii ? "->" : "→",
    width: wants.wide ? undefined : terminal.getSize().columns,
  };
}

/** Detects UTF-8 as the C library does. A terminal without a locale is assumed to support UTF-8. */
export function isUtf8(env: CommandIo["env"]): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "C.UTF-8";
  return /utf-?8/i.test(locale);
}

export function paintText(text: string, tone: Tone, { colours, paint }: OutputStyle): string {
  if (paint !== undefined) return paint(tone, text);
  const code = CODES[tone];
  return !colours || code === "" || text.trim() === "" ? text : `\x1b[${code}m${text}\x1b[0m`;
}

export function paintHeading(text: string, { colours, paint }: OutputStyle): string {
  if (paint !== undefined) return paint("heading", text);
  return colours ? `\x1b[1m${text}\x1b[0m` : text;
}
