import { ALT, createControlKey, createNamedKey, createTypedKey, SHIFT } from "./chord.ts";
import type { InputPiece } from "./piece.ts";
import { parseCsiSequence, parseSs3Sequence } from "./sequences.ts";

/** Maximum number of bytes examined for one piece. No key sequence is longer. */
export const WINDOW = 256;

/** A parsed piece, or undefined if its end has not arrived yet. */
type ParsedPiece = InputPiece | undefined;

/**
 * Parses the piece at the beginning of the input, which holds one character for each byte.
 * @param isAll  no more bytes follow: an incomplete piece produces no event
 * @returns undefined if the end of the piece has not arrived yet; never with `isAll`
 */
export function parseInputPiece(rest: string, isAll: boolean): ParsedPiece {
  const first = rest.charCodeAt(0);
  if (first === 0x1b) return parseEscape(rest, isAll);
  if (first < 0x20 || first === 0x7f) return { length: 1, event: createControlKey(first) };
  if (first >= 0x80 && first < 0xa0) return parseEightBit(rest, first, isAll);
  return parseCharacter(rest, isAll, 0);
}

/** Parses what follows an Escape. */
function parseEscape(rest: string, isAll: boolean): ParsedPiece {
  switch (rest[1]) {
    case undefined:
      return isAll ? { length: 1, event: createNamedKey("escape") } : undefined;
    case "[":
      return parseCsiSequence(rest, 0, isAll);
    case "O":
      return parseSs3Sequence(rest, 0, isAll);
    case "]":
    case "P":
    case "X":
    case "^":
    case "_":
      return parseString(rest, isAll);
    case "\x1b":
      return parseDoubleEscape(rest, isAll);
    default:
      return parseAlt(rest, isAll);
  }
}

/**
 * Parses the start of OSC, DCS, SOS, PM and APC. If nothing follows, or another sequence such as an answer of the terminal,
 * it is a letter typed with Alt.
 */
function parseString(rest: string, isAll: boolean): ParsedPiece {
  if (rest[2] === "\x1b" && rest[3] !== "\\")
    return rest[3] === undefined && !isAll ? undefined : parseAlt(rest, isAll);
  if (rest.length > 2) return { length: 2, begins: rest[1] === "]" ? "osc" : "string" };
  return isAll ? parseAlt(rest, isAll) : undefined;
}

/** Parses two Escapes: the Escape key, or rxvt's encoding of keys with Alt. */
function parseDoubleEscape(rest: string, isAll: boolean): ParsedPiece {
  const third = rest[2];
  if (third === undefined && !isAll) return undefined;
  const key: InputPiece = { length: 1, event: createNamedKey("escape") };
  const piece =
    third === "[" ? parseCsiSequence(rest, 1, isAll) : third === "O" ? parseSs3Sequence(rest, 1, isAll) : key;
  // A paste or a click has no Alt modifier: the first Escape was the key, and the rest followed at once.
  const isOther = piece?.begins === "paste" || (piece?.event !== undefined && piece.event.kind !== "key");
  return isOther ? key : piece;
}

function parseAlt(rest: string, isAll: boolean): ParsedPiece {
  const code = rest.charCodeAt(1);
  // The Linux console's Shift+Tab. Window managers use Alt+Tab, so it does not reach a terminal.
  if (code === 0x09) return { length: 2, event: createNamedKey("tab", SHIFT) };
  if (code < 0x20 || code === 0x7f) return { length: 2, event: createControlKey(code, ALT) };
  const piece = parseCharacter(rest.slice(1), isAll, ALT);
  return piece && { ...piece, length: piece.length + 1 };
}

/**
 * Parses 8-bit codes, one byte instead of two at the start of a sequence. Few terminals send them, but the rest of
 * such a sequence must not be taken for typed text.
 */
function parseEightBit(rest: string, first: number, isAll: boolean): ParsedPiece {
  const second = String.fromCharCode(first - 0x40);
  if (!/[O[\]PX^_]/.test(second)) return { length: 1 };
  const piece = parseEscape(`\x1b${second}${rest.slice(1)}`, isAll);
  if (piece === undefined) return undefined;
  return rest.length === 1 ? { length: 1 } : { ...piece, length: piece.length - 1 };
}

/** Parses a UTF-8 character. Invalid bytes are skipped. */
function parseCharacter(rest: string, isAll: boolean, modifiers: number): ParsedPiece {
  const { text, length } = decodeUtf8(rest);
  if (length === undefined) return isAll ? { length: rest.length } : undefined;
  if (text === undefined || /[\u0080-\u009f]/.test(text)) return { length };
  return { length, event: createTypedKey(text, modifiers) };
}

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
function decodeUtf8(bytes: string): { text: string | undefined; length: number | undefined } {
  const length = getUtf8Length(bytes.charCodeAt(0));
  if (length === 0) return { text: undefined, length: 1 };
  const [own = ""] = /^.[\x80-\xbf]*/s.exec(bytes.slice(0, length)) ?? [];
  if (own.length < length) return { text: undefined, length: own === bytes ? undefined : own.length };
  const text = Buffer.from(own, "latin1").toString("utf8");
  const isNone = text.includes("\ufffd") && own !== "\xef\xbf\xbd";
  return { text: isNone ? undefined : text, length };
}
