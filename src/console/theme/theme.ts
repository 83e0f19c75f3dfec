import { displayWidth } from "../../base/text.ts";
import type { Look } from "../../commands/see/paint.ts";
import { ansi, dark, light, mono } from "./palettes.ts";
import { type Palette, ROLES, type Role } from "./roles.ts";
import { type Codes, codesOf, type Depth, unpainted, withoutColours, wrapped } from "./sgr.ts";
import { ASCII, asciiOf, type Signs, UNICODE } from "./signs.ts";

export const THEMES = ["dark", "light", "ansi", "mono"] as const;
export type ThemeName = (typeof THEMES)[number];

const PALETTES: Record<ThemeName, Palette> = { dark, light, ansi, mono };

/** How a row stands out. */
export interface RowState {
  isSelected: boolean;
  /** Its pane has the keyboard. */
  isFocused: boolean;
  /** It is one of those that the next action is for. */
  isMarked?: boolean;
  width: number;
}

/** How everything looks. */
export interface Theme {
  readonly name: ThemeName;
  readonly signs: Signs;
  /** What is painted in the text already stays so; around it the role's own style goes on. */
  style(role: Role, text: string): string;
  /** A line as wide as it must be; a selected one with a background behind all that is painted in it. */
  row(line: string, state: RowState): string;
  /** A finished line, with nothing in it that the terminal cannot show. */
  finished(line: string): string;
  /** For tables and details that commands paint too. */
  look(width: number): Look & { width: number };
}

const made = new Map<string, Theme>();

/** A theme for a terminal. The named colours of `dark` and `light` need 256 at least: with fewer, it is `ansi`. */
export function themeOf(wanted: ThemeName, depth: Depth, isAscii: boolean): Theme {
  const name = depth === "16" && wanted !== "mono" ? "ansi" : wanted;
  const id = `${name} ${depth} ${isAscii}`;
  const theme = made.get(id) ?? newTheme(name, depth, isAscii);
  made.set(id, theme);
  return theme;
}

function newTheme(name: ThemeName, depth: Depth, isAscii: boolean): Theme {
  const palette = PALETTES[name];
  const codes = Object.fromEntries(ROLES.map((role) => [role, codesOf(palette[role], depth)])) as Record<
    Role,
    Codes
  >;
  const signs = isAscii ? ASCII : UNICODE;
  const style = (role: Role, text: string) => wrapped(codes[role], text);
  return {
    ...{ name, signs, style, finished: isAscii ? asciiOf : (line: string) => line },
    row: rowPainter(palette, style),
    look: (width) => ({
      ...{ colours: name !== "mono", marks: signs.marks, arrow: signs.arrow, width, isClipped: true },
      paint: (tone, text) => (text.trim() === "" ? text : style(tone, text)),
    }),
  };
}

/** In an inverted row colours would become backgrounds, each cell's another: there are none. */
function rowPainter(palette: Palette, style: Theme["style"]): Theme["row"] {
  return (line, { isSelected, isFocused, isMarked, width }) => {
    if (!isSelected) return isMarked ? style("marked", line) : line;
    const role = isFocused ? "selected" : "selectedUnfocused";
    const marked = isMarked ? style("marked", line) : line;
    return style(role, padTo(palette[role].inverse ? withoutColours(marked) : marked, width));
  };
}

/** Columns of a painted text. */
export function widthOf(painted: string): number {
  return displayWidth(unpainted(painted));
}

/** A painted text in no more columns than these; what it is painted with goes on to its end. */
export function cutTo(painted: string, width: number): string {
  if (widthOf(painted) <= width) return painted;
  let room = width - 1;
  return painted.replaceAll(/(\x1b\[[0-9;:]*m)|([^\x1b])/gu, (piece, sequence: string | undefined) => {
    if (sequence !== undefined || room < 0) return sequence ?? "";
    room -= displayWidth(piece);
    if (room >= 0) return piece;
    room = -1;
    return "…";
  });
}

/** A painted text with spaces behind it. */
export function padTo(painted: string, width: number): string {
  return painted + " ".repeat(Math.max(0, width - widthOf(painted)));
}
