/** Binary strings: texts with one character for each byte, as keys and binary values of etcd are. */

/** Encodes a text in UTF-8. */
export function encodeUtf8(text: string): string {
  return toBinaryString(new TextEncoder().encode(text));
}

/** Decodes bytes in UTF-8. @returns undefined if they are not valid UTF-8 */
export function decodeUtf8(bytes: string): string | undefined {
  if (/^[ -~]*$/.test(bytes)) return bytes;
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return decoder.decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

/** Formats a key for people. Bytes that are not text become `\xNN`, so that different keys never look the same. */
export function formatKey(key: string): string {
  const escapeByte = (byte: string) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`;
  const text = decodeUtf8(key) ?? key.replace(/[\x80-\xff]/g, escapeByte);
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, escapeByte);
}

/** Number of bytes that are converted at a time: the number of arguments of a function is limited. */
const BYTES_PER_CALL = 8_192;

export function toBinaryString(bytes: Uint8Array): string {
  const chunks = Array.from({ length: Math.ceil(bytes.length / BYTES_PER_CALL) }, (_, at) =>
    String.fromCharCode(...bytes.subarray(at * BYTES_PER_CALL, (at + 1) * BYTES_PER_CALL)),
  );
  return chunks.join("");
}
