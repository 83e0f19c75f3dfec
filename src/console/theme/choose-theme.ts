import { isUtf8 } from "../../commands/see/paint.ts";
import type { CommandIo } from "../../commands/spec.ts";
import type { ColourDepth } from "./sgr.ts";
import { getTheme, THEMES, type Theme, type ThemeConditions, type ThemeName } from "./theme.ts";

/** A theme, or `auto` for the one that fits the terminal. */
export type ThemeOption = ThemeName | "auto";

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
