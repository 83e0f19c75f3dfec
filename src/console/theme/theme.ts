import { computeStyledWidth } from "../../base/display-width.ts";
import { isUtf8, type OutputStyle } from "../../commands/see/paint.ts";
import type { CommandIo } from "../../commands/spec.ts";
import { ansi, contrastDark, contrastLight, dark, light, mono } from "./palettes.ts";
import { ROLES, type StyleRole, type ThemePalette } from "./roles.ts";
import { applySgr, buildSgrCodes, type ColourDepth, removeColours, type SgrCodes } from "./sgr.ts";
import { ASCII, type Signs, toAscii, UNICODE, withShortRules } from "./signs.ts";

export const THEMES = ["dark", "light", "contrast", "ansi", "mono"] as const;
type ThemeName = (typeof THEMES)[number];

const PALETTES: Record<ThemeName, ThemePalette> = { dark, light, contrast: contrastDark, ansi, mono };
/** Palettes that differ on a light background. */
const ON_LIGHT: Partial<Record<ThemeName, ThemePalette>> = { contrast: contrastLight };

/** The state of a row that changes its style. */
interface RowState {
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
interface ThemeConditions {
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

/** Roles of data from etcd. The frame and typed text stay valid without a connection. */
const TOLD: ReadonlySet<StyleRole> = new Set<StyleRole>([
  "held",
  "free",
  "waiting",
  "problem",
  "plain",
  "heading",
  "tab",
  "tabActive",
  "title",
  "marked",
]);

/**
 * Returns a theme for a snapshot that is not live. It renders data from etcd in a quiet style, to show that it may be
 * out of date.
 */
export function dimTheme(theme: Theme): Theme {
  const toDimmed = (role: StyleRole) => (TOLD.has(role) ? "quiet" : role);
  return {
    ...theme,
    hasStyle: (role) => theme.hasStyle(toDimmed(role)),
    style: (role, text) => theme.style(toDimmed(role), text),
  };
}

/** A theme, or `auto` for the one that fits the terminal. */
type ThemeOption = ThemeName | "auto";

/** Environment variables, in which terminals describe themselves. */
type Env = Readonly<Record<string, string | undefined>>;

/**
 * Chooses the theme for a terminal.
 * @param wanted   NO_COLOR and terminals without colours override it: they get `mono`
 * @param isAscii  use only ASCII signs, even if the locale allows others
 * @param conditions  `isLight` as the terminal answered; undefined if it did not. On a slow line, fewer bytes set a colour
 */
export function chooseTheme(
  wanted: ThemeOption,
  env: Env,
  isAscii = false,
  conditions: ThemeConditions = {},
): Theme {
  const { isLight = announcesLight(env), isSlow = false } = conditions;
  const depth = limitColourDepth(detectColourDepth(env), wanted, isSlow);
  const name = depth === undefined ? "mono" : wanted === "auto" ? chooseThemeName(depth, isLight) : wanted;
  return getTheme(name, depth ?? "16", isAscii || !isUtf8(env), { isLight, isSlow });
}

/** Returns the depth for the line: a colour takes up to 19, 11 or 5 bytes. The colours of a theme that was asked for stay. */
function limitColourDepth(
  depth: ColourDepth | undefined,
  wanted: ThemeOption,
  isSlow: boolean,
): ColourDepth | undefined {
  if (!isSlow || depth === undefined || depth === "16") return depth;
  return wanted === "auto" ? "16" : "256";
}

/**
 * Creates a function that returns the theme for a name; an unknown name means `auto`. @param ascii  see `isAscii` of
 * `chooseTheme` @param getConditions  see there
 */
export function createThemeLookup(
  { env }: Pick<CommandIo, "env">,
  { ascii, getConditions = () => ({}) }: { ascii: boolean; getConditions?: () => ThemeConditions },
): (name: string) => Theme {
  return (name) => chooseTheme(THEMES.find((one) => one === name) ?? "auto", env, ascii, getConditions());
}

/** Whether the background decides about the theme, so that the terminal is worth asking. */
export function dependsOnBackground(env: Env): boolean {
  const depth = detectColourDepth(env);
  return depth !== undefined && depth !== "16";
}

/** Returns the number of colours that a terminal announces, or undefined for a terminal without colours. */
export function detectColourDepth(env: Env): ColourDepth | undefined {
  const { TERM = "", COLORTERM = "" } = env;
  if ((env.NO_COLOR ?? "") !== "" || /^(dumb|unknown|emacs|vt\d.*)?$/.test(TERM) || /-m(ono)?$/.test(TERM))
    return undefined;
  if (/^(truecolor|24bit)$/i.test(COLORTERM) || /-direct\d*$/.test(TERM)) return "24bit";
  return /256(color|colour)?/.test(TERM) ? "256" : "16";
}

/**
 * Chooses a theme. The terminal's own sixteen colours fit any background; the other themes depend on it. Nearly all
 * terminals with many colours that do not say what theirs is are dark.
 */
function chooseThemeName(depth: ColourDepth, isLight: boolean): ThemeName {
  if (depth === "16") return "ansi";
  return isLight ? "light" : "dark";
}

/** Whether a terminal announces a light background in its environment. */
function announcesLight({ COLORFGBG = "" }: Env): boolean {
  const background = COLORFGBG.split(";").at(-1) ?? "";
  return /^\d+$/.test(background) && (background === "7" || Number(background) > 8);
}
