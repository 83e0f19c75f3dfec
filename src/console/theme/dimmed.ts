import type { Role } from "./roles.ts";
import type { Theme } from "./theme.ts";

/** What tells of etcd; the frame around it, and what is being typed, are as true as ever. */
const TOLD: ReadonlySet<Role> = new Set<Role>([
  ...(["held", "free", "waiting", "problem", "plain", "heading", "tab", "tabActive"] as const),
  ...(["title", "marked"] as const),
]);

/** A theme for a picture that is not live: all that it tells is pale, so that nobody takes it for what is. */
export function dimmed(theme: Theme): Theme {
  const style = (role: Role, text: string) => theme.style(TOLD.has(role) ? "quiet" : role, text);
  return { ...theme, style, look: (width) => ({ ...theme.look(width), paint: style }) };
}
