/** Returns the length of a character in bytes, by its first byte, or 0 if no character starts with it. */
function getUtf8Length(first: number): number {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/**
 * Decodes the character at the beginning of the input, which holds one character for each byte.
 * @returns its length in bytes, undefined if its end has not arrived yet; and its text, undefined for invalid bytes:
 * an interrupted character is skipped as a whole
 */
export function decodeUtf8(bytes: string): { text: string | undefined; length: number | undefined } {
  const length = getUtf8Length(bytes.charCodeAt(0));
  if (length === 0) return { text: undefined, length: 1 };
  const [own = ""] = /^.[\x80-\xbf]*/s.exec(bytes.slice(0, length)) ?? [];
  if (own.length < length) return { text: undefined, length: own === bytes ? undefined : own.length };
  const text = Buffer.from(own, "latin1").toString("utf8");
  const isNone = text.includes("\ufffd") && own !== "\xef\xbf\xbd";
  return { text: isNone ? undefined : text, length };
}
