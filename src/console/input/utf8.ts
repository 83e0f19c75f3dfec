/** How many bytes a character has, by its first; 0 for a byte that begins none. */
function lengthOf(first: number): number {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/**
 * The character at the beginning of some bytes, one character each.
 * @returns `more` where its end is still to come, undefined where there is none
 */
export function utf8At(bytes: string): { text: string; length: number } | "more" | undefined {
  const length = lengthOf(bytes.charCodeAt(0));
  if (length === 0) return undefined;
  const own = bytes.slice(0, length);
  if (!/^.[\x80-\xbf]*$/s.test(own)) return undefined;
  if (own.length < length) return "more";
  const text = Buffer.from(own, "latin1").toString("utf8");
  return text.includes("\ufffd") && own !== "\xef\xbf\xbd" ? undefined : { text, length };
}
