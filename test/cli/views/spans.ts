/** Spans of a text in which each is preceded by its role: `{held}● held{} web1`. */
export function spansOf<Role extends string>(text: string): { text: string; role?: Role }[] {
  const pieces = text.matchAll(/(?:\{(\w*)\})?([^{]+)/g);
  return Array.from(pieces, ([, role, piece = ""]) => ({ text: piece, ...(role && { role: role as Role }) }));
}
