import { createContext, use } from "react";
import { getTheme, type Theme } from "./theme.ts";

/** The theme of all components. */
export const ThemeContext = createContext<Theme>(getTheme("mono", "16", true));

export function useTheme(): Theme {
  return use(ThemeContext);
}
