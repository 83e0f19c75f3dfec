/** What a piece of the screen means; a theme says how that looks. */
export const ROLES = [
  // as in the tables' tones
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
  "title",
  "titleFocused",
  "tab",
  "tabActive",
  "badgeReadOnly",
  "badge",
  "barLive",
  "barAway",
  // rows
  "selected",
  "selectedUnfocused",
  "marked",
  // what is typed
  "key",
  "match",
  "cursor",
  "field",
  "danger",
  "disabled",
] as const;
export type Role = (typeof ROLES)[number];

/** SGR of a role. Colours: an index of the 256, a number below 16 of the terminal's own, or `#rrggbb`. */
export interface Style {
  fg?: number | string;
  bg?: number | string;
  /** The background where there are 256 colours, if the nearest of them is none to read on. */
  bg256?: number;
  bold?: true;
  dim?: true;
  inverse?: true;
  underline?: true;
}

export type Palette = Readonly<Record<Role, Style>>;
