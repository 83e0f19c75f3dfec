import { ALT, CTRL, controlKey, namedKey, SHIFT, typedKey } from "./chord.ts";
import type { InputEvent } from "./event.ts";
import { mouseEvent } from "./mouse.ts";
import { KITTY, KITTY_PAD, KITTY_PAD_FIRST, LETTERS, RXVT_ARROWS, TILDE } from "./names.ts";

/** Modifiers of rxvt, by the byte that it ends its sequences with. */
const RXVT: Readonly<Record<string, number>> = { "^": CTRL, "@": CTRL | SHIFT };
/** A modifier that no key of ours is pressed with. */
const UNKNOWN = 8;
const MOUSE = /^<([0-9;]+)$/;
/** A key's number, its modifier, and what happened to it. */
const NUMBERED = /^(\d{1,3})(?:;(\d{0,3})(?::(\d))?)?$/;
/** Beside that the keys that a modifier and the layout make of it, and the text. */
const KITTYS = /^(\d{1,7})(?::(\d{0,7}))?(?::(\d{0,7}))?(?:;(\d{0,3})(?::(\d))?)?(?:;([\d:]*))?$/;

/**
 * What a sequence tells.
 * @param taken  what stands between `ESC [` and its last byte
 * @param more   modifiers that are told in another way
 * @returns undefined for answers of the terminal, keys that are none of ours, and what nobody knows
 */
export function csiEvent(taken: string, final: string, more: number): InputEvent | undefined {
  const [, mouse] = MOUSE.exec(taken) ?? [];
  if (mouse !== undefined) return mouseEvent(mouse, final);
  if (final === "u") return kittyKey(taken, more);
  if (final === "~" && taken.startsWith("27;")) return otherKey(taken, more);
  if (taken === "" && (final === "I" || final === "O")) return { kind: "focus", has: final === "I" };
  if (taken === "" && RXVT_ARROWS[final] !== undefined) return namedKey(RXVT_ARROWS[final], SHIFT | more);
  return numberedKey(taken, final, more);
}

/** `CSI 5;2~`, `CSI 1;5A`; `CSI 12;40R` is the place of the cursor, not F3. */
function numberedKey(taken: string, final: string, more: number): InputEvent | undefined {
  const [, number = "", modifier = "", event = "1"] = NUMBERED.exec(taken === "" ? "1" : taken) ?? [];
  if (number === "" || !isPressed(event)) return undefined;
  const modifiers = modifiersOf(modifier) | more;
  if (final === "~") return tilde(Number(number), modifiers);
  const rxvt = RXVT[final];
  if (rxvt !== undefined) return taken === number ? tilde(Number(number), rxvt | more) : undefined;
  if (Number(number) !== 1) return undefined;
  if (final === "Z") return namedKey("tab", SHIFT | modifiers);
  const name = LETTERS[final];
  return name === undefined ? undefined : namedKey(name, modifiers);
}

/** A key by the number that stands before `~`. */
export function tilde(number: number, modifiers: number): InputEvent | undefined {
  const name = TILDE[number];
  return name === undefined ? undefined : namedKey(name, modifiers);
}

/** xterm's modifyOtherKeys: `CSI 27;MODIFIER;CODE~`. */
function otherKey(taken: string, more: number): InputEvent | undefined {
  const [, modifier = "", code = ""] = /^27;(\d{1,3});(\d{1,7})$/.exec(taken) ?? [];
  return code === "" ? undefined : coded(Number(code), modifiersOf(modifier) | more);
}

/** kitty's: `CSI CODE:SHIFTED:BASE;MODIFIER:EVENT;TEXT u`. */
function kittyKey(taken: string, more: number): InputEvent | undefined {
  const [, code = "", shifted = "", base = "", modifier = "", event = "1", text = ""] =
    KITTYS.exec(taken) ?? [];
  if (code === "" || !isPressed(event)) return undefined;
  const modifiers = modifiersOf(modifier) | more;
  const pad = KITTY_PAD[Number(code) - KITTY_PAD_FIRST];
  if (pad !== undefined) return typedKey(pad, modifiers);
  if ((modifiers & (CTRL | ALT)) !== 0) {
    // Ctrl and a letter that is none of ours: the letter that stands there on a Latin keyboard.
    return coded(Number(code) > 0x7f && base !== "" ? Number(base) : Number(code), modifiers);
  }
  const typed = text === "" ? ((modifiers & SHIFT) !== 0 ? shifted : "") : text.split(":")[0];
  return coded(Number(typed || code), modifiers);
}

/** A key by its character's code. */
function coded(code: number, modifiers: number): InputEvent | undefined {
  const name = KITTY[code];
  if (name !== undefined) return namedKey(name, modifiers);
  if (code === 0x08) return controlKey(code, modifiers & ~CTRL);
  // Private characters are keys such as Shift itself; of controls none but those with names is a key's code.
  const isText = code >= 0x20 && code <= 0x10ffff && !(code >= 0x7f && code < 0xa0);
  if (!isText || (code >= 0xd800 && code <= 0xf8ff)) return undefined;
  const character = String.fromCodePoint(code);
  const isUpper = (modifiers & SHIFT) !== 0 && (modifiers & CTRL) === 0;
  return typedKey(isUpper ? upper(character) : character, modifiers);
}

/** Not where it becomes several, as ß does. */
function upper(character: string): string {
  const upper = character.toUpperCase();
  return [...upper].length === 1 ? upper : character;
}

/** Pressed or repeated; let go, it has done its work. */
function isPressed(event: string): boolean {
  return event === "1" || event === "2";
}

/** Modifiers by how terminals tell them: one more than their bits. */
export function modifiersOf(parameter: string): number {
  const number = Number(parameter || 1);
  return number >= 1 && number <= 256 ? number - 1 : UNKNOWN;
}
