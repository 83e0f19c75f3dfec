/** Roles of screen elements. A theme defines their styles. */
export const ROLES = [
  // the tones of tables
  "held",
  "free",
  "waiting",
  "problem",
  "quiet",
  "plain",
  "heading",
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
  /** The background for 256 colours, if the nearest of them is not readable. */
  bg256?: number;
  bold?: true;
  dim?: true;
  inverse?: true;
  underline?: true;
}

export type ThemePalette = Readonly<Record<StyleRole, Style>>;
