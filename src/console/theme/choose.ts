import type { Surroundings } from "../../commands/spec.ts";
import { type Theme, type ThemeName, THEMES, themeOf } from "./theme.ts";
export function themesFor({ env, terminal }: Surroundings, { ascii }: { ascii: boolean }): (name: string) => Theme {
  const isMono = (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb" || !terminal.isOutput();
  const known = new Map<string, Theme>();
  return (name) => {
    const wanted: ThemeName = isMono ? "mono" : (THEMES.find((one) => one === name) ?? "dark");
    const theme = known.get(wanted) ?? themeOf(wanted, env.COLORTERM === "truecolor" ? "24bit" : "256", ascii);
    known.set(wanted, theme);
    return theme;
  };
}
