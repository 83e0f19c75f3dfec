import type { StyleRole } from "./roles.ts";
import type { Theme } from "./theme.ts";

/** Roles of data from etcd. The frame and typed text stay valid without a connection. */
const TOLD: ReadonlySet<StyleRole> = new Set<StyleRole>([
  "held",
  "free",
  "waiting",
  "problem",
  "plain",
  "heading",
  "tab",
  "tabActive",
  "title",
  "marked",
]);

/**
 * Returns a theme for a snapshot that is not live. It renders data from etcd in a quiet style, to show that it may be
 * out of date.
 */
export function dimTheme(theme: Theme): Theme {
  const toDimmed = (role: StyleRole) => (TOLD.has(role) ? "quiet" : role);
  return {
    ...theme,
    hasStyle: (role) => theme.hasStyle(toDimmed(role)),
    style: (role, text) => theme.style(toDimmed(role), text),
  };
}
