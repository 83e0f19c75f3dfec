import { ALT, CTRL, controlKey, namedKey, SHIFT, typedKey } from "./chord.ts";
import type { InputEvent } from "./event.ts";
import { mouseEvent } from "./mouse.ts";
import { KITTY, KITTY_PAD, KITTY_PAD_FIRST, LETTERS, SHIFTED, TILDE } from "./names.ts";

/** What stands between `ESC [` and its last byte. */
export interface Csi {
  /** `<`, `?`, `>`, or nothing. */
  prefix: string;
  parameters: string;
  intermediates: string;
  final: string;
}

/** Modifiers of rxvt, by the byte that it ends its sequences with. */
const RXVT: Readonly<Record<string, number>> = { "^": CTRL, $: SHIFT, "@": CTRL | SHIFT };

/** What a sequence tells; undefined for answers of the terminal, keys that are none of ours, and what nobody knows. */
export function csiEvent(
  { prefix, parameters, intermediates, final }: Csi,
  isAlt: boolean,
): InputEvent | undefined {
  const more = isAlt ? ALT : 0;
  if (prefix === "<") return mouseEvent(parameters, final);
  if (prefix !== "" || intermediates !== "") return undefined;
  const numbers = parameters.split(";").map((part) => Number.parseInt(part, 10) || 0);
  const [first = 0, second = 0] = numbers;
  const rxvt = RXVT[final];
  if (rxvt !== undefined) return numbers.length === 1 ? tilde(first, rxvt | more) : undefined;
  if (final === "~")
    return first === 27 ? otherKey(numbers) : tilde(first, modifiersOf(second) | more, parameters);
  if (final === "u") return kittyKey(parameters, more);
  if (final === "Z") return namedKey("tab", SHIFT | modifiersOf(second) | more);
  if (final === "I" || final === "O")
    return parameters === "" ? { kind: "focus", has: final === "I" } : undefined;
  if (parameters === "" && SHIFTED[final] !== undefined) return namedKey(SHIFTED[final], SHIFT | more);
  return letter(final, parameters, second, more);
}

/** `CSI 5A` has been seen of no terminal; `CSI 12;40R` is the place of the cursor, not F3. */
function letter(final: string, parameters: string, second: number, more: number): InputEvent | undefined {
  const name = LETTERS[final];
  if (name === undefined || isReleased(parameters)) return undefined;
  if (parameters !== "" && !/^1(?:;\d{1,3}(?::[12])?)?$/.test(parameters)) return undefined;
  return namedKey(name, modifiersOf(second) | more);
}

function tilde(number: number, modifiers: number, parameters = ""): InputEvent | undefined {
  const name = TILDE[number];
  return name === undefined || isReleased(parameters) ? undefined : namedKey(name, modifiers);
}

/** xterm's modifyOtherKeys: `CSI 27;MODIFIER;CODE~`. */
function otherKey([, modifier = 0, code = 0]: readonly number[]): InputEvent | undefined {
  return coded(code, modifiersOf(modifier));
}

/** kitty's: `CSI CODE:SHIFTED;MODIFIER:EVENT;TEXT u`. */
function kittyKey(parameters: string, more: number): InputEvent | undefined {
  const [codes = "", modifier = ""] = parameters.split(";");
  if (isReleased(parameters)) return undefined;
  const [code = 0, shifted = 0] = codes.split(":").map(Number);
  const modifiers = modifiersOf(Number.parseInt(modifier, 10) || 0) | more;
  const pad = KITTY_PAD[code - KITTY_PAD_FIRST];
  if (pad !== undefined) return typedKey(pad, modifiers);
  const isShifted = (modifiers & SHIFT) !== 0 && shifted > 0;
  return coded(isShifted ? shifted : code, modifiers);
}

/** A key by its character's code. */
function coded(code: number, modifiers: number): InputEvent | undefined {
  const name = KITTY[code];
  if (name !== undefined) return namedKey(name, modifiers);
  // Private characters are keys such as Shift itself.
  if (!(code >= 0 && code <= 0x10ffff) || (code >= 0xd800 && code <= 0xf8ff)) return undefined;
  if (code < 0x20) return controlKey(code, modifiers);
  if (code >= 0x7f && code < 0xa0) return undefined;
  const character = String.fromCodePoint(code);
  const isUpper = (modifiers & SHIFT) !== 0 && (modifiers & CTRL) === 0;
  return typedKey(isUpper ? character.toUpperCase() : character, modifiers);
}

/** The key was let go: it has done its work when it was pressed. */
function isReleased(parameters: string): boolean {
  return /;\d*:3(?:;|$)/.test(parameters);
}

function modifiersOf(parameter: number): number {
  return Math.max(0, parameter - 1);
}
