/** How many bytes a character has, by its first; 0 for a byte that begins none. */
function lengthOf(first: number): number {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/**
 * The character at the beginning of some bytes, one character each.
 * @returns how many bytes it takes, undefined where its end is still to come; its text, undefined where there is none:
 * what has begun as one and broke off goes as a whole
 */
export function utf8At(bytes: string): { text: string | undefined; length: number | undefined } {
  const length = lengthOf(bytes.charCodeAt(0));
  if (length === 0) return { text: undefined, length: 1 };
  const [own = ""] = /^.[\x80-\xbf]*/s.exec(bytes.slice(0, length)) ?? [];
  if (own.length < length) return { text: undefined, length: own === bytes ? undefined : own.length };
  const text = Buffer.from(own, "latin1").toString("utf8");
  const isNone = text.includes("\ufffd") && own !== "\xef\xbf\xbd";
  return { text: isNone ? undefined : text, length };
}
