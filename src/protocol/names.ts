import { UsageError } from "../base/errors.ts";
import { MAX_NAME_BYTES, nameFault, quoted } from "../base/text.ts";

const PLAIN = /^[A-Za-z0-9._:@-]+$/;
const ESCAPE = /%([0-9A-F]{2})/g;

/**
 * A name taken from outside, checked before a key is built from it.
 * @param what  what it names, for the message: `lock`, `resource`, …
 * @throws UsageError
 */
export function checkedName(what: string, name: string): string {
  const fault = nameFault(name);
  if (fault !== undefined) throw new UsageError(`${what} name ${quoted(name)} cannot be used: ${fault}`);
  return name;
}

/** A name as one segment of a key: bytes outside `A-Z a-z 0-9 . _ : @ -` become `%XX`. */
export function encodeName(name: string): string {
  if (PLAIN.test(name)) return name;
  return Array.from(new TextEncoder().encode(name), encodeByte).join("");
}

function encodeByte(byte: number): string {
  const char = String.fromCharCode(byte);
  return PLAIN.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

/** The name that a key segment stands for; undefined unless it is exactly what `encodeName` makes of a usable name. */
export function decodeName(segment: string): string | undefined {
  if (PLAIN.test(segment)) return segment.length > MAX_NAME_BYTES ? undefined : segment;
  const raw = segment.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const bytes = Uint8Array.from(raw, (char) => char.charCodeAt(0));
  const name = decodeUtf8(bytes);
  if (name === undefined || nameFault(name) !== undefined) return undefined;
  return encodeName(name) === segment ? name : undefined;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
