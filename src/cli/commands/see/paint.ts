import type { TextSpan, Tone } from "../../../site/state/subject.ts";
import type { CommandIo } from "../../frame/command.ts";
import { ASCII_DRAWING, UNICODE_DRAWING } from "../../views/drawing.ts";

export type { TextSpan } from "../../../site/state/subject.ts";

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

/** Colours of the terminal's own palette, so that they fit its theme. */
const CODES: Record<Tone, string> = {
  held: "32",
  free: "2",
  waiting: "33",
  problem: "31",
  quiet: "2",
  plain: "",
  accent: "36",
};

/**
 * Detects the style for the output.
 * @param wants.ascii  only ASCII signs
 * @param wants.wide  no limit on the width
 * @param wants.bars  bars behind shares
 */
export function detectOutputStyle(
  { env, terminal }: CommandIo,
  wants: { readonly ascii?: boolean; readonly wide?: boolean; readonly bars?: boolean | undefined } = {},
): OutputStyle {
  if (!terminal.isOutput()) return { colours: false, marks: undefined, width: undefined, arrow: "->" };
  const isAscii = wants.ascii || !isUtf8(env);
  const { marks, bar } = isAscii ? ASCII_DRAWING : UNICODE_DRAWING;
  return {
    colours: (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb",
    marks,
    ...(wants.bars && { bar }),
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
