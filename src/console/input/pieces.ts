import { ALT, controlKey, namedKey, SHIFT, typedKey } from "./chord.ts";
import type { Piece } from "./piece.ts";
import { csi, ss3 } from "./sequences.ts";
import { utf8At } from "./utf8.ts";

/** As many bytes are looked at for one piece: no sequence that is a key is longer. */
export const WINDOW = 256;

/** What a piece of input can be: undefined where its end is still to come. */
type Found = Piece | undefined;

/**
 * The piece at the beginning of some bytes, one character each.
 * @param isAll  nothing will follow: what is not complete comes to nothing
 * @returns undefined where its end is still to come; never with `isAll`
 */
export function pieceOf(rest: string, isAll: boolean): Found {
  const first = rest.charCodeAt(0);
  if (first === 0x1b) return escaped(rest, isAll);
  if (first < 0x20 || first === 0x7f) return { length: 1, event: controlKey(first) };
  if (first >= 0x80 && first < 0xa0) return eightBit(rest, first, isAll);
  return character(rest, isAll, 0);
}

/** What stands behind an Escape. */
function escaped(rest: string, isAll: boolean): Found {
  switch (rest[1]) {
    case undefined:
      return isAll ? { length: 1, event: namedKey("escape") } : undefined;
    case "[":
      return csi(rest, 0, isAll);
    case "O":
      return ss3(rest, 0, isAll);
    case "]":
    case "P":
    case "X":
    case "^":
    case "_":
      return string(rest, isAll);
    case "\x1b":
      return doubled(rest, isAll);
    default:
      return withAlt(rest, isAll);
  }
}

/** OSC, DCS, SOS, PM, APC. Alone, it is a letter typed with Alt. */
function string(rest: string, isAll: boolean): Found {
  if (rest.length > 2) return { length: 2, begins: "string" };
  return isAll ? withAlt(rest, isAll) : undefined;
}

/** Escape twice: the key, unless it is how rxvt sends keys with Alt. */
function doubled(rest: string, isAll: boolean): Found {
  const third = rest[2];
  if (third === undefined && !isAll) return undefined;
  const key: Piece = { length: 1, event: namedKey("escape") };
  const piece = third === "[" ? csi(rest, 1, isAll) : third === "O" ? ss3(rest, 1, isAll) : key;
  // No Alt makes a paste or a click: that was the key, and they came at once behind it.
  const isOther = piece?.begins === "paste" || (piece?.event !== undefined && piece.event.kind !== "key");
  return isOther ? key : piece;
}

function withAlt(rest: string, isAll: boolean): Found {
  const code = rest.charCodeAt(1);
  // The Linux console's Shift+Tab; Alt+Tab is for windows and reaches no terminal.
  if (code === 0x09) return { length: 2, event: namedKey("tab", SHIFT) };
  if (code < 0x20 || code === 0x7f) return { length: 2, event: controlKey(code, ALT) };
  const piece = character(rest.slice(1), isAll, ALT);
  return piece && { ...piece, length: piece.length + 1 };
}

/** What begins sequences in one byte instead of two: few terminals send it, but its rest must not be typed. */
function eightBit(rest: string, first: number, isAll: boolean): Found {
  const second = String.fromCharCode(first - 0x40);
  if (!/[O[\]PX^_]/.test(second)) return { length: 1 };
  const piece = escaped(`\x1b${second}${rest.slice(1)}`, isAll);
  if (piece === undefined) return undefined;
  return rest.length === 1 ? { length: 1 } : { ...piece, length: piece.length - 1 };
}

/** A character of UTF-8; bytes that are none are passed over. */
function character(rest: string, isAll: boolean, modifiers: number): Found {
  const { text, length } = utf8At(rest);
  if (length === undefined) return isAll ? { length: rest.length } : undefined;
  if (text === undefined || /[\u0080-\u009f]/.test(text)) return { length };
  return { length, event: typedKey(text, modifiers) };
}
