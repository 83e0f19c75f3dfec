import chalk from "chalk";
import { isUtf8, type OutputStyle } from "../../cli/commands/see/paint.ts";
import { ASCII_DRAWING, UNICODE_DRAWING } from "../../cli/views/drawing.ts";
import { computeDisplayWidth } from "../../core/base/display-width.ts";
import type { Tone } from "../../site/state/subject.ts";
import { clamp } from "../state/cursor.ts";
import { type BaseColours, OWN_COLOURS } from "../terminal/output-sequences.ts";
import {
  ansi,
  contrastDark,
  contrastLight,
  dark,
  light,
  mono,
  ROLES,
  type Style,
  type StyleRole,
  SURFACES,
  type ThemePalette,
} from "./palettes.ts";

export const THEMES = ["dark", "light", "contrast", "ansi", "mono"] as const;
type ThemeName = (typeof THEMES)[number];

const PALETTES: Record<ThemeName, ThemePalette> = { dark, light, contrast: contrastDark, ansi, mono };
/** Palettes that differ on a light background. */
const ON_LIGHT: Partial<Record<ThemeName, ThemePalette>> = { contrast: contrastLight };

/** Number of colours of a terminal. */
type ColourDepth = "24bit" | "256" | "16";

/** Sequences before and after a text. */
export interface Sequences {
  readonly open: string;
  readonly close: string;
}

/** The look of a role. */
export interface Look extends Sequences {
  readonly style: Style;
  /** The look without its colours. */
  readonly weight: Sequences;
  /** Its colours, in the form that Ink expects. */
  readonly letters: string | undefined;
  readonly ground: string | undefined;
}

/** The complete appearance of the console. */
export interface Theme {
  /** Another one for each theme that looks different. */
  readonly id: string;
  readonly name: ThemeName;
  readonly signs: Signs;
  readonly depth: ColourDepth;
  /** The colours of cells without their own. */
  readonly base: BaseColours;
  /** Returns the look of a role; undefined if it looks like a text without a role. */
  getLook(role: StyleRole): Look | undefined;
  /** Finishes a line: removes what the terminal cannot show. */
  finishLine(line: string): string;
  /** Creates the output style for the texts of tables and details, which commands use too. Roles are styled later. */
  createLook(width: number): OutputStyle & { width: number };
}

const made = new Map<string, Theme>();

/** Returns a theme for a terminal. Fixed colours need at least 256 of them; with fewer the theme is `ansi`. */
export function getTheme(wanted: ThemeName, depth: ColourDepth, isAscii: boolean, isLight = false): Theme {
  const name = depth === "16" && wanted !== "mono" ? "ansi" : wanted;
  const id = `${name} ${depth} ${isAscii} ${isLight}`;
  const theme = made.get(id) ?? { id, ...createTheme(name, depth, isAscii, isLight) };
  made.set(id, theme);
  return theme;
}

function createTheme(
  name: ThemeName,
  depth: ColourDepth,
  isAscii: boolean,
  isLight: boolean,
): Omit<Theme, "id"> {
  const palette = (isLight ? ON_LIGHT[name] : undefined) ?? PALETTES[name];
  const looks = new Map(ROLES.map((role) => [role, buildLook(palette[role] ?? {}, depth)]));
  const signs = isAscii ? ASCII : UNICODE;
  return {
    name,
    signs,
    depth,
    base: {
      letters: formatColour(38, palette.editor?.fg, depth) || OWN_COLOURS.letters,
      ground: formatColour(48, palette.editor?.bg, depth) || OWN_COLOURS.ground,
    },
    getLook: (role) => looks.get(role),
    finishLine: isAscii ? toAscii : (line: string) => line,
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

function buildLook(style: Style, depth: ColourDepth): Look | undefined {
  if (Object.keys(style).length === 0) return undefined;
  const { fg, bg } = style;
  const [letters, ground] = [formatColour(38, fg, depth), formatColour(48, bg, depth)];
  const weight = formatWeight(style);
  return {
    style,
    open: `${letters}${ground}${weight.open}`,
    close: `${weight.close}${ground && OWN_COLOURS.ground}${letters && OWN_COLOURS.letters}`,
    weight,
    letters: formatInkColour(fg, depth),
    ground: formatInkColour(bg, depth),
  };
}

function formatInkColour(of: Style["fg"], depth: ColourDepth): string | undefined {
  const shown = of === undefined ? undefined : reduceColour(of, depth);
  return typeof shown === "number" ? `ansi256(${shown})` : shown;
}

/** Parameters of SGR that begin and end a style. */
const WEIGHTS = { bold: [1, 22], dim: [2, 22], underline: [4, 24], inverse: [7, 27] } as const;

function formatWeight(style: Style): Sequences {
  const names = (["bold", "dim", "underline", "inverse"] as const).filter((name) => style[name]);
  const format = (at: 0 | 1) => names.map((name) => `\x1b[${WEIGHTS[name][at]}m`).join("");
  return { open: format(0), close: format(1) };
}

/** Formats a colour as a sequence. @param what  38 for letters, 48 for backgrounds */
function formatColour(what: 38 | 48, of: Style["fg"], depth: ColourDepth): string {
  if (of === undefined) return "";
  const shown = reduceColour(of, depth);
  if (typeof shown === "string") {
    const parts = [1, 3, 5].map((at) => Number.parseInt(shown.slice(at, at + 2), 16));
    return `\x1b[${what};2;${parts.join(";")}m`;
  }
  if (shown >= 16) return `\x1b[${what};5;${shown}m`;
  return `\x1b[${what - 8 + (shown < 8 ? shown : shown + 52)}m`;
}

/** Returns the colour that a terminal can show. */
function reduceColour(of: number | string, depth: ColourDepth): number | string {
  return typeof of === "string" && depth === "256" ? findNearest256(of) : of;
}

const LEVELS = { "16": 1, "256": 2, "24bit": 3 } as const;

/** Sets the number of colours that Ink uses. Otherwise Ink would guess it from the environment. */
export function setColourDepth({ depth }: Pick<Theme, "depth">): void {
  chalk.level = LEVELS[depth];
}

/** The replacements for roles of data from etcd. The frame and typed text stay valid without a connection. */
const OUTDATED_ROLES: Partial<Record<StyleRole, StyleRole>> = {
  held: "quiet",
  free: "quiet",
  waiting: "quiet",
  problem: "quiet",
  plain: "quiet",
  heading: "quiet",
  tab: "quiet",
  tabActive: "selectedUnfocused",
  title: "quiet",
  marked: "quiet",
};

/**
 * Returns a theme for a snapshot that is not live. It renders data from etcd in a quiet style, because the data may be
 * outdated.
 */
export function dimTheme(theme: Theme): Theme {
  const getLook = (role: StyleRole) => theme.getLook(OUTDATED_ROLES[role] ?? role);
  return { ...theme, id: `${theme.id} dimmed`, getLook };
}

/** Roles that look the same under an overlay: lines, and the bars, which say at all times whether the console is live. */
const UNSHADED_ROLES: ReadonlySet<StyleRole> = new Set<StyleRole>([
  "border",
  "track",
  "bar",
  "barName",
  "barLive",
  "barAway",
  "barPast",
  "badgeReadOnly",
]);
/** The replacements for the signs of the focus, which no pane has under an overlay. */
const UNFOCUSED_ROLES: Partial<Record<StyleRole, StyleRole>> = {
  titleRowFocused: "titleRow",
  accent: "border",
};

/** Returns a theme for the page under an overlay: all texts in one quiet style, on the same backgrounds. */
export function shadeTheme(theme: Theme): Theme {
  const dimmed = theme.getLook("dimmed");
  const shade = (role: StyleRole) => {
    const shown = UNFOCUSED_ROLES[role] ?? role;
    if (UNSHADED_ROLES.has(shown)) return theme.getLook(shown);
    const bg = SURFACES.some((surface) => surface === shown) ? theme.getLook(shown)?.style.bg : undefined;
    return bg === undefined ? dimmed : buildLook({ ...dimmed?.style, bg }, theme.depth);
  };
  const looks = new Map(ROLES.map((role) => [role, shade(role)]));
  return { ...theme, getLook: (role) => looks.get(role) };
}

/** Environment variables, in which terminals describe themselves. */
type Env = Readonly<Record<string, string | undefined>>;

/** What a terminal has answered about its colours: whether its background is light, and whether it has those of 24 bits. */
export interface TerminalColours {
  readonly isLight?: boolean | undefined;
  readonly hasAllColours?: boolean;
}

/**
 * Chooses the theme for a terminal.
 * @param wanted   a name. `auto` or an unknown name: the theme that fits the terminal. NO_COLOR and terminals without
 * colours override it: they get `mono`
 * @param isAscii  use only ASCII signs, even if the locale allows others
 * @param told     what the terminal has answered
 */
export function chooseTheme(wanted: string, env: Env, isAscii = false, told: TerminalColours = {}): Theme {
  const { isLight = announcesLight(env), hasAllColours } = told;
  const announced = detectColourDepth(env);
  const depth = announced && hasAllColours ? "24bit" : announced;
  const known = THEMES.find((name) => name === wanted);
  // The terminal's own sixteen colours fit any background; the other themes depend on it. Nearly all terminals with many
  // colours that do not say what theirs is are dark.
  const fitting = depth === "16" ? "ansi" : isLight ? "light" : "dark";
  const name = depth === undefined ? "mono" : (known ?? fitting);
  return getTheme(name, depth ?? "16", isAscii || !isUtf8(env), isLight);
}

/** Whether the theme depends on the background, so that it makes sense to ask the terminal. */
export function dependsOnBackground(env: Env): boolean {
  const depth = detectColourDepth(env);
  return depth !== undefined && depth !== "16";
}

/**
 * Whether a terminal may have more colours than it announces, and can be asked. GNU Screen writes the question to the terminal around
 * it, which may show it as text; tmux answers.
 */
export function mayHaveMoreColours(env: Env): boolean {
  const isInScreen = /^screen/.test(env.TERM ?? "") && env.TMUX === undefined;
  const depth = detectColourDepth(env);
  return depth !== undefined && depth !== "24bit" && !isInScreen;
}

/** Returns the number of colours that a terminal announces, or undefined for a terminal without colours. */
export function detectColourDepth(env: Env): ColourDepth | undefined {
  const { TERM = "", COLORTERM = "" } = env;
  if ((env.NO_COLOR ?? "") !== "" || /^(dumb|unknown|emacs|vt\d.*)?$/.test(TERM) || /-m(ono)?$/.test(TERM))
    return undefined;
  if (/^(truecolor|24bit)$/i.test(COLORTERM) || /-direct\d*$/.test(TERM)) return "24bit";
  return /256(color|colour)?/.test(TERM) ? "256" : "16";
}

/** Whether a terminal announces a light background in its environment. */
function announcesLight({ COLORFGBG = "" }: Env): boolean {
  const background = COLORFGBG.split(";").at(-1) ?? "";
  return /^\d+$/.test(background) && (background === "7" || Number(background) > 8);
}

/** Levels of each component in the colour cube of the 256 colours. */
const CUBE_LEVELS = [0, 95, 135, 175, 215, 255];

/** Backgrounds whose nearest colour is that of another background, or makes text unreadable: the only dark blue is navy, so there is grey instead. Four are texts that must be lighter on it. */
const CHOSEN_COLOURS: Readonly<Record<string, number>> = {
  "#181818": 233,
  "#20384f": 236,
  "#04395e": 238,
  "#f58c8f": 217,
  "#75beff": 117,
  "#a0a8b2": 249,
  "#a3b0bd": 250,
  "#f8f8f8": 255,
  "#ebebeb": 254,
  "#e4e6f1": 253,
  "#dddddd": 252,
  "#d0e1f2": 189,
};

/**
 * Returns the nearest of the 256 colours that users do not redefine: those of the cube and the greys. This keeps texts
 * readable, whereas Ink rounds each component and makes dark greys lighter. For a few backgrounds, the colour is chosen
 * by hand.
 * @param colour  `#rrggbb`
 */
export function findNearest256(colour: string): number {
  return CHOSEN_COLOURS[colour] ?? computeNearest256(colour);
}

function computeNearest256(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)) as [
    number,
    number,
    number,
  ];
  const [cr, cg, cb] = [findNearestLevel(r), findNearestLevel(g), findNearestLevel(b)];
  const grey = clamp(Math.round(((r + g + b) / 3 - 8) / 10), 0, 23);
  const computeDistance = (x: number, y: number, z: number) => (x - r) ** 2 + (y - g) ** 2 + (z - b) ** 2;
  const cube = computeDistance(CUBE_LEVELS[cr] ?? 0, CUBE_LEVELS[cg] ?? 0, CUBE_LEVELS[cb] ?? 0);
  const level = 8 + 10 * grey;
  return computeDistance(level, level, level) < cube ? 232 + grey : 16 + 36 * cr + 6 * cg + cb;
}

function findNearestLevel(value: number): number {
  const computeOffset = (at: number) => Math.abs((CUBE_LEVELS[at] ?? 0) - value);
  return CUBE_LEVELS.reduce((best, _, at) => (computeOffset(at) < computeOffset(best) ? at : best), 0);
}

/** All characters on the screen that are not text. */
export interface Signs {
  isAscii: boolean;
  marks: Readonly<Record<Tone, string>>;
  arrow: string;
  open: string;
  closed: string;
  horizontal: string;
  vertical: string;
  /** The name that Ink has for the lines of a frame. */
  frame: "round" | "classic";
  /** A full and an empty cell of a bar. */
  bar: readonly [string, string];
  marked: string;
  /** Before a watched row. */
  watched: string;
  ellipsis: string;
  dot: string;
  /** Between a whole and its part. */
  step: string;
  /** The bar at the left edge of the selected row. */
  accent: string;
}

export const UNICODE: Signs = {
  isAscii: false,
  marks: UNICODE_DRAWING.marks,
  arrow: "→",
  open: "▾",
  closed: "▸",
  horizontal: "─",
  vertical: "│",
  frame: "round",
  bar: ["▇", "▁"],
  marked: "✓",
  watched: "◆",
  ellipsis: "…",
  dot: "·",
  step: "›",
  accent: "▎",
};

export const ASCII: Signs = {
  isAscii: true,
  marks: ASCII_DRAWING.marks,
  arrow: "->",
  open: "v",
  closed: ">",
  horizontal: "-",
  vertical: "|",
  frame: "classic",
  bar: ["#", "."],
  marked: "x",
  watched: "@",
  ellipsis: "...",
  dot: "-",
  step: ">",
  accent: ">",
};

/** ASCII replacements of the same width for signs that other modules put into texts. */
const ASCII_REPLACEMENTS: Readonly<Record<string, string>> = {
  "…": "~",
  "–": "-",
  "—": "-",
  "·": "-",
  "→": ">",
  "←": "<",
  "↑": "^",
  "↓": "v",
  "›": ">",
  "×": "x",
  "≥": ">",
  "‘": "'",
  "’": "'",
  "“": '"',
  "”": '"',
  "\u00a0": " ",
  "✓": "x",
  "─": "-",
  "│": "|",
  "●": "*",
  "○": "o",
  "◌": ".",
  "▲": "!",
  "▼": "v",
  "▾": "v",
  "▸": ">",
  "▇": "#",
  "▁": ".",
  "▎": ">",
  "▂": ".",
  "▃": "-",
  "▅": "=",
  "◆": "@",
  "⌂": "^",
  "◉": "*",
  "▤": "=",
  "≡": "q",
  "▣": "#",
  "▽": "v",
  ƒ: "f",
  "◷": "@",
  "↺": "<",
  "◎": "o",
};

/** Converts a line to ASCII of the same width. Letters that have no replacement become `?`. */
export function toAscii(line: string): string {
  if (/^[\x00-\x7f]*$/.test(line)) return line;
  return line.replace(
    /[^\x00-\x7f]/gu,
    (char) => ASCII_REPLACEMENTS[char] ?? "?".repeat(computeDisplayWidth(char)),
  );
}
