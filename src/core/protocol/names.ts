import { decodeUtf8 } from "../base/bytes.ts";
import { UsageError } from "../base/errors.ts";
import { findNameFault, MAX_NAME_BYTES, quoteText } from "../base/text.ts";

const PLAIN_NAME = /^[A-Za-z0-9._:@-]+$/;
const ESCAPED_BYTE = /%([0-9A-F]{2})/g;

/**
 * Validates a name from user input before a key is built from it.
 * @param what  the kind of thing it names, for the message: `lock`, `resource`, …
 * @throws UsageError
 */
export function validateName(what: string, name: string): string {
  const fault = findNameFault(name);
  if (fault !== undefined)
    throw new UsageError(`${what} name ${quoteText(String(name))} cannot be used: ${fault}`);
  return name;
}

/** Maximum number of locks in a claim: one transaction claims or frees them, and etcd allows 128 operations in it. */
const MOST_LOCKS = 16;

/** Checks the names of the locks of a claim. A name may be given twice. @throws UsageError */
export function validateLocks(names: readonly string[]): readonly string[] {
  const locks = [...new Set(names.map((name) => validateName("lock", name)))];
  if (locks.length <= MOST_LOCKS) return locks;
  throw new UsageError(`a claim has at most ${MOST_LOCKS} locks; got ${locks.length}`);
}

/** Whether a name is a segment of keys as it is. In the order of keys, an encoded character precedes all that are not encoded. */
export function isPlainName(name: string): boolean {
  return PLAIN_NAME.test(name);
}

/** Encodes a name as one segment of a key: bytes outside `A-Z a-z 0-9 . _ : @ -` become `%XX`. */
export function encodeName(name: string): string {
  if (isPlainName(name)) return name;
  return Array.from(new TextEncoder().encode(name), encodeByte).join("");
}

function encodeByte(byte: number): string {
  const char = String.fromCharCode(byte);
  return isPlainName(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

/**
 * Decodes a key segment. Returns undefined unless the segment is exactly what `encodeName` produces for a valid name.
 */
export function decodeName(segment: string): string | undefined {
  if (PLAIN_NAME.test(segment)) return segment.length > MAX_NAME_BYTES ? undefined : segment;
  const raw = segment.replace(ESCAPED_BYTE, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const name = decodeUtf8(raw);
  if (name === undefined || findNameFault(name) !== undefined) return undefined;
  return encodeName(name) === segment ? name : undefined;
}
