/** Keys and values as people write and read them. */
import { decodeUtf8, encodeUtf8 } from "../../../core/base/bytes.ts";
import { UsageError } from "../../../core/base/errors.ts";
import { parseJson } from "../../../core/base/parse-json.ts";
import { quoteShellWord } from "../../../core/base/shell.ts";
import { formatBytes } from "../../../core/base/size.ts";
import { quoteText } from "../../../core/base/text.ts";
import { compareLines, formatValueLines, MOST_COMPARED } from "../see/show-raw.ts";

/**
 * Parses a key, or the beginning of one.
 * @param isBase64  whether it is written in base64, because it is not text
 * @returns a binary string
 * @throws UsageError
 */
export function parseKey(word: string, isBase64: boolean | undefined): string {
  if (!isBase64) return encodeUtf8(word);
  try {
    return atob(word);
  } catch (cause) {
    throw new UsageError(`--base64: ${quoteText(word)} is not base64`, { cause });
  }
}

/** Parses the name of one key. @throws UsageError also for an empty one, which etcd does not have */
export function parseNamedKey(word = "", isBase64: boolean | undefined): string {
  if (word === "") throw new UsageError("KEY must not be empty");
  return parseKey(word, isBase64);
}

/** Writes a key as a word for a shell that `parseKey` reads; with --base64 if it is not text. */
export function quoteKey(key: string, isBase64: boolean | undefined): string {
  const text = isBase64 ? undefined : decodeUtf8(key);
  if (text !== undefined && !text.includes("\0")) return quoteShellWord(text);
  return isBase64 ? btoa(key) : `${btoa(key)} (with --base64, and PREFIX in base64 too)`;
}

/** Bytes on a line of a hexadecimal dump, and bytes that are shown at most. */
const BYTES_A_LINE = 16;
const MOST_BYTES = 512;
/** Control characters that text does not have. */
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/**
 * Formats a value for a terminal: JSON indented, other text as it is, and everything else as a hexadecimal dump.
 * @param bytes  a binary string
 */
export function formatBytesLines(bytes: string): string[] {
  const text = decodeUtf8(bytes);
  if (text === undefined || CONTROLS.test(text)) return dumpBytes(bytes);
  return formatValueLines(removeJsonSpace(text));
}

/** Removes the white space between the tokens of a JSON text, so that it is laid out anew. Other texts stay. */
function removeJsonSpace(text: string): string {
  const parsed = parseJson(text);
  if (parsed === undefined) return text;
  const compact = text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
  return JSON.stringify(parsed) === compact ? compact : text;
}

function dumpBytes(bytes: string): string[] {
  const shown = bytes.slice(0, MOST_BYTES);
  const lines = Array.from({ length: Math.ceil(shown.length / BYTES_A_LINE) }, (_, at) =>
    dumpLine(shown.slice(at * BYTES_A_LINE, (at + 1) * BYTES_A_LINE), at * BYTES_A_LINE),
  );
  const more = bytes.length - shown.length;
  return [
    `binary, ${formatBytes(bytes.length)}:`,
    ...lines,
    ...(more > 0 ? [`and ${formatBytes(more)} more`] : []),
  ];
}

function dumpLine(bytes: string, offset: number): string {
  const hex = Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join(" ");
  const text = bytes.replace(/[^ -~]/g, ".");
  return `${offset.toString(16).padStart(8, "0")}  ${hex.padEnd(3 * BYTES_A_LINE)} ${text}`;
}

/** Formats the change from one value to another, line by line. Undefined: there is none. */
export function formatDifference(before: string | undefined, after: string | undefined): string[] {
  const [old = [], now = []] = [before, after].map((value) =>
    value === undefined ? [] : formatBytesLines(value),
  );
  if (Math.max(old.length, now.length) > MOST_COMPARED)
    return [`${old.length} lines before, ${now.length} after: too many to compare; after:`, ...now];
  const lines = compareLines(old, now).map(({ mark, text }) => `${mark} ${text}`.trimEnd());
  const isSameText = before !== after && old.join("\n") === now.join("\n");
  return isSameText ? [...lines, "only bytes differ that are not shown here, such as white space"] : lines;
}
