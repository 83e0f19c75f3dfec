import type { StyleRole } from "./roles.ts";
import type { Theme } from "./theme.ts";

/** Roles of data from etcd. The frame and typed text stay valid without a connection. */
const TOLD: ReadonlySet<StyleRole> = new Set<StyleRole>([
  ...(["held", "free", "waiting", "problem", "plain", "heading", "tab", "tabActive"] as const),
  ...(["title", "marked"] as const),
]);

/**
 * Returns a theme for a snapshot that is not live. It renders data from etcd in a quiet style, to show that it may be
 * out of date.
 */
export function dimTheme(theme: Theme): Theme {
  const style = (role: StyleRole, text: string) => theme.style(TOLD.has(role) ? "quiet" : role, text);
  return { ...theme, style };
}
