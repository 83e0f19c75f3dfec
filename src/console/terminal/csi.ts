import { ALT, CTRL, createControlKey, createNamedKey, createTypedKey, SHIFT } from "./chord.ts";
import type { InputEvent, MouseEvent } from "./event.ts";
import { KITTY, KITTY_PAD, KITTY_PAD_FIRST, LETTERS, RXVT_ARROWS, TILDE } from "./names.ts";
import type { TerminalReport } from "./report.ts";

/** Modifiers of rxvt, by the last byte of its sequences. */
const RXVT: Readonly<Record<string, number>> = { "^": CTRL, "@": CTRL | SHIFT };
/** Stands for an invalid modifier number. It is one of the foreign bits, so the key is ignored. */
const UNKNOWN = 8;
const MOUSE = /^<([0-9;]+)$/;
/** The number of a key, its modifier, and the event type. */
const NUMBERED = /^(\d{1,3})(?:;(\d{0,3})(?::(\d))?)?$/;
/** Additionally the shifted key, the key of the base layout, and the text. */
const KITTYS = /^(\d{1,7})(?::(\d{0,7}))?(?::(\d{0,7}))?(?:;(\d{0,3})(?::(\d))?)?(?:;([\d:]*))?$/;

/**
 * Parses a CSI sequence.
 * @param taken  the text between `ESC [` and the last byte
 * @param more   additional modifiers
 * @returns undefined for ignored keys and for unknown sequences
 */
export function parseCsiEvent(
  taken: string,
  final: string,
  more: number,
): InputEvent | TerminalReport | undefined {
  const [, mouse] = MOUSE.exec(taken) ?? [];
  if (mouse !== undefined) return parseMouseEvent(mouse, final);
  if (final === "c" && taken.startsWith("?")) return { kind: "report", of: "attributes" };
  if (final === "n" && (taken === "0" || taken === "3")) return { kind: "report", of: "status" };
  if (final === "u") return parseKittyKey(taken, more);
  if (final === "~" && taken.startsWith("27;")) return parseModifyOtherKeys(taken, more);
  if (taken === "" && (final === "I" || final === "O")) return { kind: "focus", has: final === "I" };
  if (taken === "" && RXVT_ARROWS[final] !== undefined)
    return createNamedKey(RXVT_ARROWS[final], SHIFT | more);
  return parseNumberedKey(taken, final, more);
}

/** Parses `CSI 5;2~` and `CSI 1;5A`. `CSI 12;40R` is a cursor position report, not F3. */
function parseNumberedKey(taken: string, final: string, more: number): InputEvent | undefined {
  const [, number = "", modifier = "", event = "1"] = NUMBERED.exec(taken === "" ? "1" : taken) ?? [];
  if (number === "" || !isPressed(event)) return undefined;
  const modifiers = parseModifiers(modifier) | more;
  if (final === "~") return findTildeKey(Number(number), modifiers);
  const rxvt = RXVT[final];
  if (rxvt !== undefined) return taken === number ? findTildeKey(Number(number), rxvt | more) : undefined;
  if (Number(number) !== 1) return undefined;
  if (final === "Z") return createNamedKey("tab", SHIFT | modifiers);
  const name = LETTERS[final];
  return name === undefined ? undefined : createNamedKey(name, modifiers);
}

/** Returns a key by the number before `~`. */
export function findTildeKey(number: number, modifiers: number): InputEvent | undefined {
  const name = TILDE[number];
  return name === undefined ? undefined : createNamedKey(name, modifiers);
}

/** Parses xterm's modifyOtherKeys: `CSI 27;MODIFIER;CODE~`. */
function parseModifyOtherKeys(taken: string, more: number): InputEvent | undefined {
  const [, modifier = "", code = ""] = /^27;(\d{1,3});(\d{1,7})$/.exec(taken) ?? [];
  return code === "" ? undefined : createCodedKey(Number(code), parseModifiers(modifier) | more);
}

/** Parses the kitty protocol: `CSI CODE:SHIFTED:BASE;MODIFIER:EVENT;TEXT u`. */
function parseKittyKey(taken: string, more: number): InputEvent | undefined {
  const [, code = "", shifted = "", base = "", modifier = "", event = "1", text = ""] =
    KITTYS.exec(taken) ?? [];
  if (code === "" || !isPressed(event)) return undefined;
  const modifiers = parseModifiers(modifier) | more;
  const pad = KITTY_PAD[Number(code) - KITTY_PAD_FIRST];
  if (pad !== undefined) return createTypedKey(pad, modifiers);
  if ((modifiers & (CTRL | ALT)) !== 0) {
    // Ctrl or Alt with a non-Latin letter: uses the key at the same position of a Latin keyboard.
    return createCodedKey(Number(code) > 0x7f && base !== "" ? Number(base) : Number(code), modifiers);
  }
  const typed = text === "" ? ((modifiers & SHIFT) !== 0 ? shifted : "") : text.split(":")[0];
  return createCodedKey(Number(typed || code), modifiers);
}

/** Creates the event of a key by its character code. */
function createCodedKey(code: number, modifiers: number): InputEvent | undefined {
  const name = KITTY[code];
  if (name !== undefined) return createNamedKey(name, modifiers);
  if (code === 0x08) return createControlKey(code, modifiers & ~CTRL);
  // Private characters are keys such as Shift itself. Of the control characters, only the named ones are key codes.
  const isText = code >= 0x20 && code <= 0x10ffff && !(code >= 0x7f && code < 0xa0);
  if (!isText || (code >= 0xd800 && code <= 0xf8ff)) return undefined;
  const character = String.fromCodePoint(code);
  const isUpper = (modifiers & SHIFT) !== 0 && (modifiers & CTRL) === 0;
  return createTypedKey(isUpper ? toUpperCharacter(character) : character, modifiers);
}

/** Keeps a character whose capital form is more than one character, such as ß. */
function toUpperCharacter(character: string): string {
  const upper = character.toUpperCase();
  return [...upper].length === 1 ? upper : character;
}

/** Whether a key was pressed or repeated. Releases are ignored. */
function isPressed(event: string): boolean {
  return event === "1" || event === "2";
}

/** Converts the modifier number of a terminal, which is one more than the bits. */
export function parseModifiers(parameter: string): number {
  const number = Number(parameter || 1);
  return number >= 1 && number <= 256 ? number - 1 : UNKNOWN;
}

const BUTTONS = ["left", "middle", "right", "none"] as const;

/** Parses `CSI < BUTTON;COLUMN;ROW M`, or `m` for a release. */
function parseMouseEvent(parameters: string, final: string): MouseEvent | undefined {
  const match = /^(\d{1,3});(\d{1,5});(\d{1,5})$/.exec(parameters);
  if (match === null || (final !== "M" && final !== "m")) return undefined;
  const [code = 0, column = 0, row = 0] = match.slice(1).map(Number);
  const position = { kind: "mouse" as const, column: Math.max(0, column - 1), row: Math.max(0, row - 1) };
  if ((code & 128) !== 0) return undefined; // additional buttons, which are ignored
  if ((code & 64) !== 0) return createWheelEvent(code & 3, position);
  const button = BUTTONS[code & 3] ?? "none";
  const action = final === "m" ? "release" : (code & 32) !== 0 ? "drag" : "press";
  return { ...position, action, button };
}

/** Creates the event of a wheel turn up or down. Horizontal turns are ignored. */
function createWheelEvent(
  which: number,
  position: Pick<MouseEvent, "kind" | "column" | "row">,
): MouseEvent | undefined {
  if (which > 1) return undefined;
  return { ...position, action: which === 0 ? "wheel-up" : "wheel-down", button: "none" };
}
