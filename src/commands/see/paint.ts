import type { Tone } from "../../state/subject.ts";
import type { CommandIo } from "../spec.ts";

/** The style of the output: what the terminal can show, and what the user has chosen. */
export interface OutputStyle {
  colours: boolean;
  /** Marks before states, so that colour is never the only sign; undefined on a pipe. */
  marks: Readonly<Record<Tone, string>> | undefined;
  /** A full and an empty cell of a bar behind shares; undefined for no bars. */
  bar?: readonly [string, string];
  /** Width in columns; undefined for no limit. */
  width: number | undefined;
  /** The sign before a line to copy. */
  arrow: string;
  /** Whether every line must fit. Otherwise the terminal wraps lines to copy. */
  isClipped?: true;
}

/** A piece of a line, and its role; without a role it is never painted. */
export interface TextSpan {
  text: string;
  role?: Tone | "heading" | undefined;
}

const MARKS: Record<Tone, string> = {
  held: "● ",
  free: "○ ",
  waiting: "◌ ",
  problem: "▲ ",
  quiet: "  ",
  plain: "  ",
};
const ASCII_MARKS: Record<Tone, string> = {
  held: "* ",
  free: "o ",
  waiting: ". ",
  problem: "! ",
  quiet: "  ",
  plain: "  ",
};

/** Colours of the terminal's own palette, so that they fit its theme. */
const CODES: Record<Tone, string> = {
  held: "32",
  free: "2",
  waiting: "33",
  problem: "31",
  quiet: "2",
  plain: "",
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

/** Paints the pieces of a line, and joins them. */
export function paintSpans(spans: readonly TextSpan[], style: OutputStyle): string {
  return spans.map((span) => paintSpan(span, style)).join("");
}

function paintSpan({ text, role }: TextSpan, style: OutputStyle): string {
  if (role === undefined) return text;
  if (role !== "heading") return paintText(text, role, style);
  return style.colours ? `\x1b[1m${text}\x1b[0m` : text;
}

export function paintText(text: string, tone: Tone, { colours }: OutputStyle): string {
  const code = CODES[tone];
  return !colours || code === "" || text.trim() === "" ? text : `\x1b[${code}m${text}\x1b[0m`;
}

/** Removes the blanks at the end of a line. Blanks that are painted stay. */
export function trimSpans(spans: readonly TextSpan[], style: OutputStyle): TextSpan[] {
  const kept = [...spans];
  for (let last = kept.pop(); last !== undefined; last = kept.pop()) {
    const isPainted = paintSpan(last, style) !== last.text;
    const text = isPainted ? last.text : last.text.trimEnd();
    if (text !== "") return [...kept, { ...last, text }];
  }
  return [];
}
