import { isUtf8 } from "../../commands/see/paint.ts";
import type { Surroundings } from "../../commands/spec.ts";
import type { Depth } from "./sgr.ts";
import { THEMES, type Theme, type ThemeName, themeOf } from "./theme.ts";

/** What a user can ask for: a theme, or `auto` for the one that fits the terminal. */
export type ThemeWish = ThemeName | "auto";

/** What terminals say about themselves. */
type Env = Readonly<Record<string, string | undefined>>;

/**
 * The theme for a terminal.
 * @param wanted   NO_COLOR and terminals without colours win over it: they are `mono`
 * @param isAscii  no signs but ASCII's, whatever the locale can show
 */
export function chosenTheme(wanted: ThemeWish, env: Env, isAscii = false): Theme {
  const depth = depthOf(env);
  const name = depth === undefined ? "mono" : wanted === "auto" ? fitting(env, depth) : wanted;
  return themeOf(name, depth ?? "16", isAscii || !isUtf8(env));
}

/** What finds a theme for a terminal by its name; one that there is not is `auto`. @param ascii  as in `chosenTheme` */
export function themesFor(
  { env }: Pick<Surroundings, "env">,
  { ascii }: { ascii: boolean },
): (name: string) => Theme {
  return (name) => chosenTheme(THEMES.find((one) => one === name) ?? "auto", env, ascii);
}

/** How many colours a terminal says that it shows, and no more; undefined for none. */
export function depthOf(env: Env): Depth | undefined {
  const { TERM = "", COLORTERM = "" } = env;
  if ((env.NO_COLOR ?? "") !== "" || /^(dumb|unknown|emacs|vt\d.*)?$/.test(TERM) || /-m(ono)?$/.test(TERM))
    return undefined;
  if (/^(truecolor|24bit)$/i.test(COLORTERM) || /-direct\d*$/.test(TERM)) return "24bit";
  return /256(color|colour)?/.test(TERM) ? "256" : "16";
}

/**
 * The terminal's own sixteen colours fit any background; named ones need to know it. Few terminals tell. Of those with
 * many colours that do not, nearly all are dark.
 */
function fitting({ COLORFGBG = "" }: Env, depth: Depth): ThemeName {
  if (depth === "16") return "ansi";
  const background = COLORFGBG.split(";").at(-1) ?? "";
  return /^\d+$/.test(background) && (background === "7" || Number(background) > 8) ? "light" : "dark";
}
