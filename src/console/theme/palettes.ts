import type { ThemePalette } from "./roles.ts";

/** For dark backgrounds: grey text, few colours, each with one meaning. */
export const dark: ThemePalette = {
  ...{
    held: { fg: "#6cc58a" },
    free: { fg: "#a0a8b2" },
    waiting: { fg: "#e2b34c" },
    problem: { fg: "#f58c8f" },
  },
  ...{ quiet: { fg: "#a0a8b2" }, plain: {}, heading: { fg: "#a3b0bd", bold: true } },
  ...{ bar: { fg: "#cccccc", bg: "#2d2d30" }, barName: { fg: "#ffffff", bg: "#2d2d30", bold: true } },
  ...{ border: { fg: "#5a5a60" }, accent: { fg: "#3794ff" }, title: { fg: "#a3b0bd" } },
  titleFocused: { fg: "#75beff", bold: true, underline: true },
  ...{ tab: { fg: "#a3b0bd" }, tabActive: { fg: "#ffffff", bold: true, underline: true } },
  badgeReadOnly: { fg: "#1e1e1e", bg: "#e2b34c", bold: true },
  badge: { fg: "#ffffff", bg: "#3a6ea5" },
  ...{ barLive: { fg: "#ffffff", bg: "#0a5c96" }, barAway: { fg: "#ffffff", bg: "#a1352f", bold: true } },
  ...{
    selected: { fg: "#ffffff", bg: "#04395e", bg256: 17 },
    selectedUnfocused: { fg: "#e0e0e0", bg: "#37373d" },
    marked: { fg: "#e2b34c", bold: true },
  },
  barPast: { fg: "#ffffff", bg: "#6b3fa0", bold: true },
  ...{ key: { fg: "#79b8ff" }, match: { fg: "#79b8ff", bold: true }, cursor: { inverse: true } },
  ...{
    field: { fg: "#ffffff", bg: "#3c3c3c" },
    danger: { fg: "#f58c8f", bold: true },
    disabled: { fg: "#a0a8b2" },
  },
};

/** The same for light backgrounds. */
export const light: ThemePalette = {
  ...{
    held: { fg: "#116329" },
    free: { fg: "#57606a" },
    waiting: { fg: "#6f4700" },
    problem: { fg: "#b31d28" },
  },
  ...{ quiet: { fg: "#57606a" }, plain: {}, heading: { fg: "#4a5560", bold: true } },
  ...{ bar: { fg: "#333333", bg: "#dddddd" }, barName: { fg: "#000000", bg: "#dddddd", bold: true } },
  ...{ border: { fg: "#b8b8b8" }, accent: { fg: "#0066bf" }, title: { fg: "#4a5560" } },
  titleFocused: { fg: "#005096", bold: true, underline: true },
  ...{ tab: { fg: "#4a5560" }, tabActive: { fg: "#000000", bold: true, underline: true } },
  badgeReadOnly: { fg: "#000000", bg: "#f0c454", bold: true },
  badge: { fg: "#ffffff", bg: "#2f6db5" },
  ...{ barLive: { fg: "#ffffff", bg: "#0a5c96" }, barAway: { fg: "#ffffff", bg: "#a1352f", bold: true } },
  ...{
    selected: { fg: "#000000", bg: "#d6ebff" },
    selectedUnfocused: { fg: "#1f1f1f", bg: "#e4e6f1" },
    marked: { fg: "#6f4700", bold: true },
  },
  barPast: { fg: "#ffffff", bg: "#6b3fa0", bold: true },
  ...{ key: { fg: "#0550ae" }, match: { fg: "#0550ae", bold: true }, cursor: { inverse: true } },
  ...{
    field: { fg: "#000000", bg: "#ececec" },
    danger: { fg: "#b31d28", bold: true },
    disabled: { fg: "#57606a" },
  },
};

/** The terminal's own sixteen colours, which fit any user settings. */
export const ansi: ThemePalette = {
  ...{ held: { fg: 2 }, free: { dim: true }, waiting: { fg: 3 }, problem: { fg: 1 }, quiet: { dim: true } },
  ...{ plain: {}, heading: { bold: true }, bar: { inverse: true }, barName: { inverse: true, bold: true } },
  ...{ border: { dim: true }, accent: { fg: 6, bold: true }, title: {}, tab: {} },
  titleFocused: { fg: 6, bold: true, underline: true },
  ...{ tabActive: { bold: true, underline: true }, badgeReadOnly: { fg: 0, bg: 3, bold: true } },
  ...{ badge: { fg: 15, bg: 4 }, barLive: { fg: 15, bg: 4 }, barAway: { fg: 15, bg: 1, bold: true } },
  ...{ selected: { inverse: true }, selectedUnfocused: { underline: true }, marked: { fg: 3, bold: true } },
  barPast: { fg: 15, bg: 5, bold: true },
  ...{ key: { fg: 6 }, match: { fg: 6, bold: true }, cursor: { inverse: true }, field: { underline: true } },
  ...{ danger: { fg: 1, bold: true }, disabled: { dim: true } },
};

/** Without colours: weight, underline and inversion instead. */
export const mono: ThemePalette = {
  ...{
    held: {},
    free: {},
    waiting: {},
    problem: { bold: true },
    quiet: {},
    plain: {},
    heading: { bold: true },
  },
  ...{ bar: { inverse: true }, barName: { inverse: true, bold: true }, border: {}, title: {} },
  accent: { bold: true },
  ...{ titleFocused: { bold: true, underline: true }, tab: {}, tabActive: { bold: true, underline: true } },
  ...{ badgeReadOnly: { inverse: true, bold: true }, badge: { inverse: true }, barLive: { inverse: true } },
  ...{
    barAway: { inverse: true, bold: true },
    barPast: { inverse: true, bold: true, underline: true },
    selected: { inverse: true },
    selectedUnfocused: { underline: true },
  },
  ...{ marked: { bold: true }, key: { bold: true }, match: { bold: true, underline: true } },
  ...{ cursor: { inverse: true }, field: { underline: true }, danger: { bold: true }, disabled: {} },
};
