import { ALT, CTRL, namedKey, SHIFT, typedKey } from "./chord.ts";
import { csiEvent, modifiersOf, tilde } from "./csi.ts";
import { RXVT_ARROWS, SS3 } from "./names.ts";
import type { Piece } from "./piece.ts";

/** Longest sequence that is a key; of a longer one nothing is made. */
const LONGEST = 64;

/**
 * `ESC [` and what follows up to its last byte, as ECMA-48 has it: whatever stands between, it is swallowed as a whole.
 * @param rest  bytes, one character each
 * @param skip  Escapes before the one that begins it: Alt, as rxvt sends it
 * @returns undefined where its end is still to come
 */
export function csi(rest: string, skip: number, isAll: boolean): Piece | undefined {
  const body = rest.slice(skip + 2);
  if (body.startsWith("[")) return linuxKey(body, skip, isAll);
  if (body.startsWith("M")) return oldMouse(body, skip, isAll);
  const [taken = ""] = /^[ -?]*/.exec(body) ?? [];
  const final = body[taken.length];
  if (final === undefined || !/[@-~]/.test(final)) return brokenCsi(rest, taken, skip, isAll);
  const length = skip + 2 + taken.length + 1;
  if (taken.length >= LONGEST) return { length };
  if (taken === "200" && final === "~") return { length, begins: "paste" };
  return { length, event: csiEvent(taken, final, skip > 0 ? ALT : 0) };
}

/** Not complete, or broken off by what cannot stand in it: nothing comes of it. */
function brokenCsi(rest: string, taken: string, skip: number, isAll: boolean): Piece | undefined {
  const length = skip + 2 + taken.length;
  const isOpen = rest.length === length;
  if (taken.length >= LONGEST) return { length, begins: "csi" };
  if (isOpen && !isAll) return undefined;
  // rxvt ends keys with Shift in `$`, which for all others announces a last byte.
  const [, number] = /^(\d+)\$$/.exec(taken) ?? [];
  if (number !== undefined) return { length, event: tilde(Number(number), SHIFT | (skip > 0 ? ALT : 0)) };
  const isAltBracket = isOpen && rest === "\x1b[";
  return { length, event: isAltBracket ? typedKey("[", ALT) : undefined };
}

/** `ESC [ [ A`, the Linux console's F1 to F5. */
function linuxKey(body: string, skip: number, isAll: boolean): Piece | undefined {
  const letter = body[1];
  if (letter === undefined) return isAll ? { length: skip + 3 } : undefined;
  if (!/[@-~]/.test(letter)) return { length: skip + 3 };
  const at = "ABCDE".indexOf(letter);
  const event = at < 0 ? undefined : namedKey(`f${at + 1}`, skip > 0 ? ALT : 0);
  return { length: skip + 4, event };
}

/** X10's clicks, three bytes behind `ESC [ M`: nobody asked for them. */
function oldMouse(body: string, skip: number, isAll: boolean): Piece | undefined {
  const [taken = ""] = /^M[^\x1b]{0,3}/.exec(body) ?? [];
  if (taken.length === body.length && taken.length < 4 && !isAll) return undefined;
  return { length: skip + 2 + taken.length };
}

/** `ESC O` and a letter, of some terminals with modifiers before it: `ESC O 5 P`, `ESC O 1;5 P`. Else as `csi`. */
export function ss3(rest: string, skip: number, isAll: boolean): Piece | undefined {
  const body = rest.slice(skip + 2);
  const [taken = ""] = /^[0-9:;]*/.exec(body) ?? [];
  const letter = body[taken.length];
  const length = skip + 2 + taken.length;
  if (taken.length >= LONGEST) return { length, begins: "csi" };
  if (letter === undefined && !isAll) return undefined;
  if (letter === undefined || !/[ -~]/.test(letter))
    return { length, event: rest === "\x1bO" ? typedKey("O", ALT) : undefined };
  const modifiers = modifiersOf(taken.split(";").at(-1) ?? "") | (skip > 0 ? ALT : 0);
  const [name, more] =
    taken === "" && Object.hasOwn(RXVT_ARROWS, letter) ? [RXVT_ARROWS[letter], CTRL] : [SS3[letter], 0];
  return { length: length + 1, event: name === undefined ? undefined : namedKey(name, modifiers | more) };
}
