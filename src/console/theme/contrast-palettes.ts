import type { ThemePalette } from "./roles.ts";

// High contrast: every text has at least 7:1 (WCAG AAA) against its background, with 256 colours too.

/** For dark backgrounds. The selected row is inverted, because a dark background of its own would hardly be seen. */
export const contrastDark: ThemePalette = {
  ...{
    held: { fg: "#87ff87" },
    free: { fg: "#d0d0d0" },
    waiting: { fg: "#ffd700" },
    problem: { fg: "#ffafaf", bold: true },
  },
  ...{ quiet: { fg: "#d0d0d0" }, plain: { fg: "#ffffff" }, heading: { fg: "#ffffff", bold: true } },
  ...{ bar: { fg: "#ffffff", bg: "#303030" }, barName: { fg: "#ffffff", bg: "#303030", bold: true } },
  ...{ border: { fg: "#d0d0d0" }, accent: { fg: "#5fd7ff", bold: true }, title: { fg: "#d0d0d0" } },
  titleFocused: { fg: "#5fd7ff", bold: true, underline: true },
  ...{ tab: { fg: "#ffffff" }, tabActive: { fg: "#ffffff", bold: true, underline: true } },
  ...{ badgeReadOnly: { fg: "#000000", bg: "#ffd700", bold: true }, badge: { fg: "#000000", bg: "#87d7ff" } },
  barPast: { fg: "#000000", bg: "#d7afff", bold: true },
  ...{ barLive: { fg: "#000000", bg: "#5fd7ff" }, barAway: { fg: "#ffffff", bg: "#870000", bold: true } },
  ...{
    selected: { inverse: true },
    selectedUnfocused: { fg: "#ffffff", bg: "#303030", underline: true },
    marked: { fg: "#ffd700", bold: true },
  },
  ...{ key: { fg: "#87d7ff" }, match: { fg: "#87d7ff", bold: true }, cursor: { inverse: true } },
  ...{
    field: { fg: "#ffffff", bg: "#303030", underline: true },
    danger: { fg: "#ffafaf", bold: true },
    disabled: { fg: "#d0d0d0" },
  },
};

/** The same for light backgrounds. Its grounds are white: on grey, no red and no brown of the 256 colours has 7:1. */
export const contrastLight: ThemePalette = {
  ...{
    held: { fg: "#005f00" },
    free: { fg: "#444444" },
    waiting: { fg: "#5c2e00" },
    problem: { fg: "#a80000", bold: true },
  },
  ...{ quiet: { fg: "#444444" }, plain: { fg: "#000000" }, heading: { fg: "#000000", bold: true } },
  ...{ bar: { fg: "#ffffff", bg: "#303030" }, barName: { fg: "#ffffff", bg: "#303030", bold: true } },
  ...{ border: { fg: "#444444" }, accent: { fg: "#0000af", bold: true }, title: { fg: "#303030" } },
  titleFocused: { fg: "#0000af", bold: true, underline: true },
  ...{ tab: { fg: "#000000" }, tabActive: { fg: "#000000", bold: true, underline: true } },
  ...{ badgeReadOnly: { fg: "#000000", bg: "#ffd700", bold: true }, badge: { fg: "#ffffff", bg: "#00005f" } },
  barPast: { fg: "#ffffff", bg: "#5f0087", bold: true },
  ...{ barLive: { fg: "#ffffff", bg: "#00005f" }, barAway: { fg: "#ffffff", bg: "#870000", bold: true } },
  ...{
    selected: { inverse: true },
    selectedUnfocused: { fg: "#000000", bold: true, underline: true },
    marked: { fg: "#5c2e00", bold: true },
  },
  ...{ key: { fg: "#000087" }, match: { fg: "#000087", bold: true }, cursor: { inverse: true } },
  ...{ field: { underline: true }, danger: { fg: "#a80000", bold: true }, disabled: { fg: "#444444" } },
};
