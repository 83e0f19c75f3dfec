/** The colours of a theme. Roles without a colour look like the text around them. */
interface ThemeColours {
  /** Letters. */
  text?: Style;
  /** Backgrounds, from the back to the front. */
  sidebar?: Style;
  editor?: Style;
  /** The title row of a pane, and an overlay. */
  titleRow?: Style;
  bar: Style;
  /** The title row of the pane that has the focus. */
  focus: Style;
  selection: Style;
  /** An input field, and the selected row of a pane without the focus. */
  field: Style;
  heading?: Style;
  quiet?: Style;
  dimmed?: Style;
  border?: Style;
  accent: Style;
  held?: Style;
  waiting?: Style;
  problem: Style;
  /** Bars and labels that show a state of the console. */
  live: Style;
  away: Style;
  past: Style;
  badge: Style;
}

const bold = true;
const inverse = true;
const underline = true;
const WHITE = "#ffffff";
const BLACK = "#000000";

/** Creates the styles of all roles from the colours of a theme. */
function createPalette(colours: ThemeColours, exceptions: Partial<ThemePalette> = {}): ThemePalette {
  const { sidebar, titleRow, field, heading, quiet, border, accent, waiting, problem, bar, live } = colours;
  return {
    editor: { ...colours.text, ...colours.editor },
    sidebar,
    panel: sidebar,
    titleRow,
    overlay: titleRow,
    titleRowFocused: colours.focus,
    tabStrip: sidebar,
    text: undefined,
    held: colours.held,
    free: quiet,
    waiting,
    problem,
    quiet,
    plain: undefined,
    heading: { ...heading, bold },
    dimmed: colours.dimmed,
    track: border,
    bar,
    barName: { ...bar, bold },
    border,
    accent,
    title: heading,
    titleFocused: { ...accent, ...colours.focus, bold },
    tab: heading,
    tabActive: { ...live, bold },
    badgeReadOnly: { ...colours.badge, bold },
    barLive: live,
    barAway: { ...colours.away, bold },
    barPast: { ...colours.past, bold },
    selected: colours.selection,
    selectedUnfocused: field,
    marked: { ...waiting, bold },
    key: accent,
    match: { ...accent, bold },
    cursor: { inverse },
    field,
    danger: { ...problem, bold },
    disabled: quiet,
    ...exceptions,
  };
}

/** The status bar of dark and light. */
const STATUS_BAR_COLOURS = {
  live: { fg: WHITE, bg: "#0a5c96" },
  away: { fg: WHITE, bg: "#a1352f" },
  past: { fg: WHITE, bg: "#6b3fa0" },
} as const;

/** Grey text, and few colours, each with one meaning. The backgrounds are those of VS Code. */
export const dark = createPalette({
  text: { fg: "#cccccc" },
  sidebar: { bg: "#181818" },
  editor: { bg: "#1f1f1f" },
  titleRow: { bg: "#26262a" },
  bar: { bg: "#2d2d30" },
  focus: { bg: "#20384f" },
  selection: { bg: "#04395e" },
  field: { bg: "#37373d" },
  heading: { fg: "#a3b0bd" },
  quiet: { fg: "#a0a8b2" },
  dimmed: { fg: "#8f8f8f" },
  border: { fg: "#5a5a60" },
  accent: { fg: "#75beff" },
  held: { fg: "#6cc58a" },
  waiting: { fg: "#e2b34c" },
  problem: { fg: "#f58c8f" },
  ...STATUS_BAR_COLOURS,
  badge: { fg: BLACK, bg: "#e2b34c" },
});

export const light = createPalette({
  text: { fg: "#333333" },
  sidebar: { bg: "#f8f8f8" },
  editor: { bg: WHITE },
  titleRow: { bg: "#ebebeb" },
  bar: { bg: "#dddddd" },
  focus: { bg: "#d0e1f2" },
  selection: { bg: "#d6ebff" },
  field: { bg: "#e4e6f1" },
  heading: { fg: "#4a5560" },
  quiet: { fg: "#57606a" },
  dimmed: { fg: "#666666" },
  border: { fg: "#b8b8b8" },
  accent: { fg: "#0550ae" },
  held: { fg: "#116329" },
  waiting: { fg: "#6f4700" },
  problem: { fg: "#b31d28" },
  ...STATUS_BAR_COLOURS,
  badge: { fg: BLACK, bg: "#f0c454" },
});

/** The terminal's own sixteen colours on its own background, which fit any user settings. */
export const ansi = createPalette(
  {
    bar: { inverse },
    focus: { underline },
    selection: { inverse },
    field: { underline },
    quiet: { dim: true },
    dimmed: { dim: true },
    border: { dim: true },
    accent: { fg: 6 },
    held: { fg: 2 },
    waiting: { fg: 3 },
    problem: { fg: 1 },
    live: { fg: 15, bg: 4 },
    away: { fg: 15, bg: 1 },
    past: { fg: 15, bg: 5 },
    badge: { fg: 0, bg: 3 },
  },
  { tabActive: { bold, underline }, accent: { fg: 6, bold } },
);

/** Without colours: weight, underline and inversion instead. */
export const mono = createPalette(
  {
    bar: { inverse },
    focus: { underline },
    selection: { inverse },
    field: { underline },
    accent: { bold },
    problem: { bold },
    live: { inverse },
    away: { inverse },
    past: { inverse, underline },
    badge: { inverse },
  },
  { tabActive: { bold, underline }, match: { bold, underline } },
);

// High contrast: every text has at least 7:1 (WCAG AAA) against its background, with 256 colours too. The selected row is
// inverted: a background that leaves 7:1 to all colours would be almost invisible.

export const contrastDark = createPalette({
  text: { fg: WHITE },
  sidebar: { bg: BLACK },
  editor: { bg: BLACK },
  titleRow: { bg: "#1c1c1c" },
  bar: { bg: "#303030" },
  focus: { bg: "#303030", underline },
  selection: { inverse },
  field: { bg: "#303030", underline },
  heading: { fg: WHITE },
  quiet: { fg: "#d0d0d0" },
  dimmed: { fg: "#b2b2b2" },
  border: { fg: "#d0d0d0" },
  accent: { fg: "#5fd7ff" },
  held: { fg: "#87ff87" },
  waiting: { fg: "#ffd700" },
  problem: { fg: "#ffafaf", bold },
  live: { fg: BLACK, bg: "#5fd7ff" },
  away: { fg: WHITE, bg: "#870000" },
  past: { fg: BLACK, bg: "#d7afff" },
  badge: { fg: BLACK, bg: "#ffd700" },
});

/** The backgrounds are white: on grey, no red and no brown of the 256 colours reaches 7:1. */
export const contrastLight = createPalette({
  text: { fg: BLACK },
  sidebar: { bg: WHITE },
  editor: { bg: WHITE },
  titleRow: { bg: WHITE },
  bar: { fg: WHITE, bg: "#303030" },
  focus: { bg: WHITE, underline },
  selection: { inverse },
  field: { bg: WHITE, underline },
  heading: { fg: BLACK },
  quiet: { fg: "#444444" },
  dimmed: { fg: "#585858" },
  border: { fg: "#444444" },
  accent: { fg: "#000087" },
  held: { fg: "#005f00" },
  waiting: { fg: "#5c2e00" },
  problem: { fg: "#a80000", bold },
  live: { fg: WHITE, bg: "#00005f" },
  away: { fg: WHITE, bg: "#870000" },
  past: { fg: WHITE, bg: "#5f0087" },
  badge: { fg: BLACK, bg: "#ffd700" },
});

/** Roles of containers: their backgrounds, with the colour of the texts on them. */
export const SURFACES = [
  "editor",
  "sidebar",
  "panel",
  "titleRow",
  "titleRowFocused",
  "tabStrip",
  "overlay",
] as const;

/** Roles of screen elements. A theme defines their styles. */
export const ROLES = [
  ...SURFACES,
  // the colour of a text without a role
  "text",
  // the tones of tables
  "held",
  "free",
  "waiting",
  "problem",
  "quiet",
  "plain",
  "heading",
  // the page under an overlay
  "dimmed",
  // the rest of a bar that is not full
  "track",
  // the frame
  "bar",
  "barName",
  "border",
  // lines around the focused pane, and the bar at the left of the selected row
  "accent",
  "title",
  "titleFocused",
  "tab",
  "tabActive",
  "badgeReadOnly",
  "barLive",
  "barAway",
  "barPast",
  // rows
  "selected",
  "selectedUnfocused",
  "marked",
  // input
  "key",
  "match",
  "cursor",
  "field",
  "danger",
  "disabled",
] as const;
export type StyleRole = (typeof ROLES)[number];

/**
 * Style of a role. A colour is an index into the 256 colours (those below 16 are the terminal's own), or `#rrggbb`.
 */
export interface Style {
  fg?: number | string;
  bg?: number | string;
  bold?: true;
  dim?: true;
  inverse?: true;
  underline?: true;
}

/** The styles of all roles; undefined for one that looks like the text around it. */
export type ThemePalette = Readonly<Record<StyleRole, Style | undefined>>;
