import type { Tone } from "../../model/tables/view.ts";
import type { Surroundings } from "../spec.ts";

/** How a table may look: what the terminal can show, and what the user wants of it. */
export interface Look {
  colours: boolean;
  /** Marks before states, so that no meaning is in a colour alone; undefined on a pipe, where they would be in the way. */
  marks: Readonly<Record<Tone, string>> | undefined;
  /** Columns there are; undefined for as many as it takes. */
  width: number | undefined;
  /** Before a line to copy. */
  arrow: string;
  /** Whether every line must fit; else a line to copy is left to the terminal, which breaks it where it likes. */
  isClipped?: true;
  /** How it is painted where that is not the usual way: with the colours of a theme. */
  paint?(tone: Tone | "heading", text: string): string;
}

const MARKS: Record<Tone, string> = {
  ...{ held: "● ", free: "○ ", waiting: "◌ ", problem: "▲ ", quiet: "  ", plain: "  " },
};
const ASCII_MARKS: Record<Tone, string> = {
  ...{ held: "* ", free: "o ", waiting: ". ", problem: "! ", quiet: "  ", plain: "  " },
};

/** Colours of the terminal's own palette, so that every theme of it fits. */
const CODES: Record<Tone, string> = {
  ...{ held: "32", free: "2", waiting: "33", problem: "31", quiet: "2", plain: "" },
};

/** @param wants.ascii  no signs but ASCII's; @param wants.wide  as many columns as it takes */
export function lookOf({ env, terminal }: Surroundings, wants: { ascii: boolean; wide: boolean }): Look {
  if (!terminal.isOutput()) return { colours: false, marks: undefined, width: undefined, arrow: "->" };
  const isAscii = wants.ascii || !isUtf8(env);
  return {
    colours: (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb",
    marks: isAscii ? ASCII_MARKS : MARKS,
    arrow: isAscii ? "->" : "→",
    width: wants.wide ? undefined : terminal.size().columns,
  };
}

/** As the C library decides it; a terminal without any locale is one of today, and takes UTF-8. */
export function isUtf8(env: Surroundings["env"]): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "C.UTF-8";
  return /utf-?8/i.test(locale);
}

export function painted(text: string, tone: Tone, { colours, paint }: Look): string {
  if (paint !== undefined) return paint(tone, text);
  const code = CODES[tone];
  return !colours || code === "" || text.trim() === "" ? text : `\x1b[${code}m${text}\x1b[0m`;
}

export function heading(text: string, { colours, paint }: Look): string {
  if (paint !== undefined) return paint("heading", text);
  return colours ? `\x1b[1m${text}\x1b[0m` : text;
}
