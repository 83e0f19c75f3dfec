/** Formats the first texts of a list, and the number of the others: `web1, web2 and 3 more`. */
export function formatShortList(texts: readonly string[], most: number): string {
  const few = texts.slice(0, most).join(", ");
  return texts.length > most ? `${few} and ${texts.length - most} more` : few;
}
