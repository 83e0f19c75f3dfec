import { computeStyledWidth } from "../../base/display-width.ts";
import type { OutputStyle } from "../../commands/see/paint.ts";
import { contrastDark, contrastLight } from "./contrast-palettes.ts";
import { ansi, dark, light, mono } from "./palettes.ts";
import { ROLES, type StyleRole, type ThemePalette } from "./roles.ts";
import { applySgr, buildSgrCodes, type ColourDepth, removeColours, type SgrCodes } from "./sgr.ts";
import { ASCII, type Signs, toAscii, UNICODE, withShortRules } from "./signs.ts";

export const THEMES = ["dark", "light", "contrast", "ansi", "mono"] as const;
export type ThemeName = (typeof THEMES)[number];

const PALETTES: Record<ThemeName, ThemePalette> = { dark, light, contrast: contrastDark, ansi, mono };
/** Palettes that differ on a light background. */
const ON_LIGHT: Partial<Record<ThemeName, ThemePalette>> = { contrast: contrastLight };

/** The state of a row that changes its style. */
export interface RowState {
  isSelected: boolean;
  /** Its pane has the keyboard. */
  isFocused: boolean;
  /** The next action applies to it. */
  isMarked?: boolean;
  width: number;
}

/** The complete appearance of the console. */
export interface Theme {
  readonly name: ThemeName;
  readonly signs: Signs;
  /** Whether a role looks different from a text without one. */
  hasStyle(role: StyleRole): boolean;
  /** Applies a role's style. Styles inside the text stay; where they end, the role's style continues. */
  style(role: StyleRole, text: string): string;
  /** Styles a row and pads it to its width. A selected row gets a background behind all its styles. */
  styleRow(line: string, state: RowState): string;
  /** Finishes a line: removes what the terminal cannot show. */
  finishLine(line: string): string;
  /** The output style for the texts of tables and details, which commands use too. Roles are styled later. */
  createLook(width: number): OutputStyle & { width: number };
}

/** What a theme depends on besides its name and the terminal. */
export interface ThemeConditions {
  /** The background of the terminal is known to be light. */
  isLight?: boolean | undefined;
  /** The line to the terminal is slow: long rules are made of signs of one byte. */
  isSlow?: boolean;
}

const made = new Map<string, Theme>();

/** Returns a theme for a terminal. Fixed colours need at least 256 of them; with fewer the theme is `ansi`. */
export function getTheme(
  wanted: ThemeName,
  depth: ColourDepth,
  isAscii: boolean,
  { isLight = false, isSlow = false }: ThemeConditions = {},
): Theme {
  const name = depth === "16" && wanted !== "mono" ? "ansi" : wanted;
  const id = `${name} ${depth} ${isAscii} ${isLight} ${isSlow}`;
  const theme = made.get(id) ?? createTheme(name, depth, isAscii, { isLight, isSlow });
  made.set(id, theme);
  return theme;
}

function createTheme(
  name: ThemeName,
  depth: ColourDepth,
  isAscii: boolean,
  { isLight, isSlow }: { isLight: boolean; isSlow: boolean },
): Theme {
  const palette = (isLight ? ON_LIGHT[name] : undefined) ?? PALETTES[name];
  const codes = Object.fromEntries(
    ROLES.map((role) => [role, buildSgrCodes(palette[role], depth)]),
  ) as Record<StyleRole, SgrCodes>;
  const usual = isAscii ? ASCII : UNICODE;
  const signs = isSlow ? withShortRules(usual) : usual;
  const style = (role: StyleRole, text: string) => applySgr(codes[role], text);
  return {
    hasStyle: (role) => codes[role].on !== "",
    name,
    signs,
    style,
    finishLine: isAscii ? toAscii : (line: string) => line,
    styleRow: createRowPainter(palette, style),
    createLook: (width) => ({
      colours: false,
      marks: signs.marks,
      bar: signs.bar,
      arrow: signs.arrow,
      width,
      isClipped: true,
    }),
  };
}

/**
 * Creates the row painter. In an inverted row, colours would become different backgrounds for each cell, so they are
 * removed.
 */
function createRowPainter(palette: ThemePalette, style: Theme["style"]): Theme["styleRow"] {
  return (line, { isSelected, isFocused, isMarked, width }) => {
    if (!isSelected) return isMarked ? style("marked", line) : line;
    const role = isFocused ? "selected" : "selectedUnfocused";
    const marked = isMarked ? style("marked", line) : line;
    return style(role, padToWidth(palette[role].inverse ? removeColours(marked) : marked, width));
  };
}

/** Pads a styled text with spaces. */
function padToWidth(painted: string, width: number): string {
  return painted + " ".repeat(Math.max(0, width - computeStyledWidth(painted)));
}
