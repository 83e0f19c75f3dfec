import { ALT, CTRL, createNamedKey, createTypedKey, SHIFT } from "./chord.ts";
import { findTildeKey, parseCsiEvent, parseModifiers } from "./csi.ts";
import { RXVT_ARROWS, SS3 } from "./names.ts";
import type { InputPiece } from "./piece.ts";

/** Maximum length of a key sequence. Longer ones are ignored. */
const LONGEST = 64;

/**
 * Parses `ESC [` and what follows up to the last byte, as defined by ECMA-48. Unknown sequences are skipped as a
 * whole.
 * @param rest  bytes, one character each
 * @param skip  number of Escapes before the sequence: Alt, as rxvt sends it
 * @returns undefined if the end of the sequence has not arrived yet
 */
export function parseCsiSequence(rest: string, skip: number, isAll: boolean): InputPiece | undefined {
  const body = rest.slice(skip + 2);
  if (body.startsWith("[")) return parseLinuxKey(body, skip, isAll);
  if (body.startsWith("M")) return parseX10Mouse(body, skip, isAll);
  const [taken = ""] = /^[ -?]*/.exec(body) ?? [];
  const final = body[taken.length];
  if (final === undefined || !/[@-~]/.test(final)) return parseBrokenCsi(rest, taken, skip, isAll);
  const length = skip + 2 + taken.length + 1;
  if (taken.length >= LONGEST) return { length };
  if (taken === "200" && final === "~") return { length, begins: "paste" };
  return { length, event: parseCsiEvent(taken, final, skip > 0 ? ALT : 0) };
}

/** Handles an incomplete sequence, or one interrupted by an invalid byte. It usually produces no event. */
function parseBrokenCsi(rest: string, taken: string, skip: number, isAll: boolean): InputPiece | undefined {
  const length = skip + 2 + taken.length;
  const isOpen = rest.length === length;
  if (taken.length >= LONGEST) return { length, begins: "csi" };
  if (isOpen && !isAll) return undefined;
  // rxvt ends keys with Shift in `$`. In other sequences a final byte follows it.
  const [, number] = /^(\d+)\$$/.exec(taken) ?? [];
  if (number !== undefined)
    return { length, event: findTildeKey(Number(number), SHIFT | (skip > 0 ? ALT : 0)) };
  const isAltBracket = isOpen && rest === "\x1b[";
  return { length, event: isAltBracket ? createTypedKey("[", ALT) : undefined };
}

/** Parses `ESC [ [ A`: F1 to F5 of the Linux console. */
function parseLinuxKey(body: string, skip: number, isAll: boolean): InputPiece | undefined {
  const letter = body[1];
  if (letter === undefined) return isAll ? { length: skip + 3 } : undefined;
  if (!/[@-~]/.test(letter)) return { length: skip + 3 };
  const at = "ABCDE".indexOf(letter);
  const event = at < 0 ? undefined : createNamedKey(`f${at + 1}`, skip > 0 ? ALT : 0);
  return { length: skip + 4, event };
}

/** Skips X10 mouse reports, three bytes after `ESC [ M`. The console does not request them. */
function parseX10Mouse(body: string, skip: number, isAll: boolean): InputPiece | undefined {
  const [taken = ""] = /^M[^\x1b]{0,3}/.exec(body) ?? [];
  if (taken.length === body.length && taken.length < 4 && !isAll) return undefined;
  return { length: skip + 2 + taken.length };
}

/**
 * Parses `ESC O` and a letter. Some terminals put modifiers before the letter: `ESC O 5 P`, `ESC O 1;5 P`. Otherwise
 * as `parseCsiSequence`.
 */
export function parseSs3Sequence(rest: string, skip: number, isAll: boolean): InputPiece | undefined {
  const body = rest.slice(skip + 2);
  const [taken = ""] = /^[0-9:;]*/.exec(body) ?? [];
  const letter = body[taken.length];
  const length = skip + 2 + taken.length;
  if (taken.length >= LONGEST) return { length, begins: "csi" };
  if (letter === undefined && !isAll) return undefined;
  if (letter === undefined || !/[ -~]/.test(letter))
    return { length, event: rest === "\x1bO" ? createTypedKey("O", ALT) : undefined };
  const modifiers = parseModifiers(taken.split(";").at(-1) ?? "") | (skip > 0 ? ALT : 0);
  const [name, more] =
    taken === "" && Object.hasOwn(RXVT_ARROWS, letter) ? [RXVT_ARROWS[letter], CTRL] : [SS3[letter], 0];
  return {
    length: length + 1,
    event: name === undefined ? undefined : createNamedKey(name, modifiers | more),
  };
}
