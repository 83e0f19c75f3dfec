import {
  ALT_BIT,
  type AnswerString,
  CTRL_BIT,
  createControlKey,
  createNamedKey,
  createTypedKey,
  type InputEvent,
  type MouseEvent,
  SHIFT_BIT,
  type TerminalReport,
} from "./input-event.ts";

/** Input that continues beyond one piece: OSC, DCS; other strings; a paste; a sequence too long to be a key. */
export type ParserMode = AnswerString | "string" | "paste" | "csi";

/** A parsed piece of input: its length in bytes, and its event, if any. */
export interface InputPiece {
  length: number;
  event?: InputEvent | TerminalReport | undefined;
  /** The mode that starts after it. */
  begins?: ParserMode;
}

/** Maximum length of a key sequence. Longer ones are ignored. */
const MAX_SEQUENCE_LENGTH = 64;

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
  if (taken.length >= MAX_SEQUENCE_LENGTH) return { length };
  if (taken === "200" && final === "~") return { length, begins: "paste" };
  return { length, event: parseCsiEvent(taken, final, skip > 0 ? ALT_BIT : 0) };
}

/** Handles an incomplete sequence, or one interrupted by an invalid byte. It usually produces no event. */
function parseBrokenCsi(rest: string, taken: string, skip: number, isAll: boolean): InputPiece | undefined {
  const length = skip + 2 + taken.length;
  const isOpen = rest.length === length;
  if (taken.length >= MAX_SEQUENCE_LENGTH) return { length, begins: "csi" };
  if (isOpen && !isAll) return undefined;
  // rxvt ends keys with Shift in `$`. In other sequences a final byte follows it.
  const [, number] = /^(\d+)\$$/.exec(taken) ?? [];
  if (number !== undefined)
    return { length, event: findTildeKey(Number(number), SHIFT_BIT | (skip > 0 ? ALT_BIT : 0)) };
  const isAltBracket = isOpen && rest === "\x1b[";
  return { length, event: isAltBracket ? createTypedKey("[", ALT_BIT) : undefined };
}

/** Parses `ESC [ [ A`: F1 to F5 of the Linux console. */
function parseLinuxKey(body: string, skip: number, isAll: boolean): InputPiece | undefined {
  const letter = body[1];
  if (letter === undefined) return isAll ? { length: skip + 3 } : undefined;
  if (!/[@-~]/.test(letter)) return { length: skip + 3 };
  const at = "ABCDE".indexOf(letter);
  const event = at < 0 ? undefined : createNamedKey(`f${at + 1}`, skip > 0 ? ALT_BIT : 0);
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
  if (taken.length >= MAX_SEQUENCE_LENGTH) return { length, begins: "csi" };
  if (letter === undefined && !isAll) return undefined;
  if (letter === undefined || !/[ -~]/.test(letter))
    return { length, event: rest === "\x1bO" ? createTypedKey("O", ALT_BIT) : undefined };
  const modifiers = parseModifiers(taken.split(";").at(-1) ?? "") | (skip > 0 ? ALT_BIT : 0);
  const [name, more] =
    taken === "" && Object.hasOwn(RXVT_ARROWS, letter) ? [RXVT_ARROWS[letter], CTRL_BIT] : [SS3[letter], 0];
  return {
    length: length + 1,
    event: name === undefined ? undefined : createNamedKey(name, modifiers | more),
  };
}

/** Modifiers of rxvt, by the last byte of its sequences. */
const RXVT_MODIFIERS: Readonly<Record<string, number>> = { "^": CTRL_BIT, "@": CTRL_BIT | SHIFT_BIT };

/** Stands for an invalid modifier number. It is one of the foreign bits, so the key is ignored. */
const INVALID_MODIFIER = 8;

const MOUSE = /^<([0-9;]+)$/;

/** The number of a key, its modifier, and the event type. */
const NUMBERED_KEY = /^(\d{1,3})(?:;(\d{0,3})(?::(\d))?)?$/;

/** Additionally the shifted key, the key of the base layout, and the text. */
const KITTY_KEY = /^(\d{1,7})(?::(\d{0,7}))?(?::(\d{0,7}))?(?:;(\d{0,3})(?::(\d))?)?(?:;([\d:]*))?$/;

/**
 * Parses a CSI sequence.
 * @param taken  the text between `ESC [` and the last byte
 * @param more   additional modifiers
 * @returns undefined for ignored keys and for unknown sequences
 */
function parseCsiEvent(taken: string, final: string, more: number): InputEvent | TerminalReport | undefined {
  const [, mouse] = MOUSE.exec(taken) ?? [];
  if (mouse !== undefined) return parseMouseEvent(mouse, final);
  if (taken.startsWith("?")) return parsePrivateReport(taken, final);
  if (final === "n" && (taken === "0" || taken === "3")) return { kind: "report", of: "status" };
  if (final === "u") return parseKittyKey(taken, more);
  if (final === "~" && taken.startsWith("27;")) return parseModifyOtherKeys(taken, more);
  if (taken === "" && (final === "I" || final === "O")) return { kind: "focus", has: final === "I" };
  if (taken === "" && RXVT_ARROWS[final] !== undefined)
    return createNamedKey(RXVT_ARROWS[final], SHIFT_BIT | more);
  return parseNumberedKey(taken, final, more);
}

/** Parses an answer, which begins like no key: `CSI ? 62;22 c`, `CSI ? 1 u`, `CSI ? 997;2 n`. */
function parsePrivateReport(taken: string, final: string): TerminalReport | undefined {
  if (final === "c") return { kind: "report", of: "attributes" };
  if (final === "u") return { kind: "report", of: "keyboard" };
  const [, scheme] = /^\?997;([12])$/.exec(taken) ?? [];
  if (final !== "n" || scheme === undefined) return undefined;
  return { kind: "report", of: "scheme", isLight: scheme === "2" };
}

/** Parses `CSI 5;2~` and `CSI 1;5A`. `CSI 12;40R` is a cursor position report, not F3. */
function parseNumberedKey(taken: string, final: string, more: number): InputEvent | undefined {
  const [, number = "", modifier = "", event = "1"] = NUMBERED_KEY.exec(taken === "" ? "1" : taken) ?? [];
  if (number === "" || !isPressed(event)) return undefined;
  const modifiers = parseModifiers(modifier) | more;
  if (final === "~") return findTildeKey(Number(number), modifiers);
  const rxvt = RXVT_MODIFIERS[final];
  if (rxvt !== undefined) return taken === number ? findTildeKey(Number(number), rxvt | more) : undefined;
  if (Number(number) !== 1) return undefined;
  if (final === "Z") return createNamedKey("tab", SHIFT_BIT | modifiers);
  const name = LETTER_KEYS[final];
  return name === undefined ? undefined : createNamedKey(name, modifiers);
}

/** Returns a key by the number before `~`. */
function findTildeKey(number: number, modifiers: number): InputEvent | undefined {
  const at = TILDE_FUNCTIONS.indexOf(number);
  const name = at < 0 ? TILDE_KEYS[number - 1] : `f${at + 1}`;
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
    KITTY_KEY.exec(taken) ?? [];
  if (code === "" || !isPressed(event)) return undefined;
  const modifiers = parseModifiers(modifier) | more;
  const pad = KITTY_PAD[Number(code) - KITTY_PAD_FIRST];
  if (pad !== undefined) return createTypedKey(pad, modifiers);
  if ((modifiers & (CTRL_BIT | ALT_BIT)) !== 0) {
    // Ctrl or Alt with a non-Latin letter: uses the key at the same position of a Latin keyboard.
    return createCodedKey(Number(code) > 0x7f && base !== "" ? Number(base) : Number(code), modifiers);
  }
  const typed = text === "" ? ((modifiers & SHIFT_BIT) !== 0 ? shifted : "") : text.split(":")[0];
  return createCodedKey(Number(typed || code), modifiers);
}

function createCodedKey(code: number, modifiers: number): InputEvent | undefined {
  const name = KITTY_KEYS[code];
  if (name !== undefined) return createNamedKey(name, modifiers);
  if (code === 0x08) return createControlKey(code, modifiers & ~CTRL_BIT);
  // Private characters are keys such as Shift itself. Of the control characters, only the named ones are key codes.
  const isText = code >= 0x20 && code <= 0x10ffff && !(code >= 0x7f && code < 0xa0);
  if (!isText || (code >= 0xd800 && code <= 0xf8ff)) return undefined;
  const character = String.fromCodePoint(code);
  const isUpper = (modifiers & SHIFT_BIT) !== 0 && (modifiers & CTRL_BIT) === 0;
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
function parseModifiers(parameter: string): number {
  const number = Number(parameter || 1);
  return number >= 1 && number <= 256 ? number - 1 : INVALID_MODIFIER;
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

/** Keys by the number before `~`, from 1. */
const TILDE_KEYS = ["home", "insert", "delete", "end", "pageup", "pagedown", "home", "end"];
/** The same for F1, F2 and so on. */
const TILDE_FUNCTIONS = [11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34];

/** Keys by the last letter of their sequence. */
const LETTER_KEYS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
};

/** Keys by the letter after `ESC O`, including the keypad in application mode. */
const SS3: Readonly<Record<string, string>> = {
  ...LETTER_KEYS,
  M: "enter",
  I: "tab",
  X: "=",
  j: "*",
  k: "+",
  l: ",",
  m: "-",
  n: ".",
  o: "/",
  " ": "space",
  ...Object.fromEntries(Array.from("pqrstuvwxy", (letter, digit) => [letter, String(digit)])),
};

/** The arrow keys of rxvt: with Shift after `ESC [`, with Ctrl after `ESC O`. */
const RXVT_ARROWS: Readonly<Record<string, string>> = { a: "up", b: "down", c: "right", d: "left" };

/** The keypad of the kitty protocol without its numbers. */
const KITTY_MOVES = ["left", "right", "up", "down", "pageup", "pagedown", "home", "end", "insert", "delete"];

/** Keys of the kitty protocol that type no character. */
const KITTY_KEYS: Readonly<Record<number, string>> = {
  9: "tab",
  13: "enter",
  27: "escape",
  32: "space",
  127: "backspace",
  57414: "enter",
  ...Object.fromEntries(KITTY_MOVES.map((name, at) => [57417 + at, name])),
  ...Object.fromEntries(Array.from({ length: 8 }, (_, at) => [57376 + at, `f${13 + at}`])),
};

/** The keypad of the kitty protocol, by the character typed: `0` to `9`, then signs. */
const KITTY_PAD = "0123456789./*-+";

const KITTY_PAD_FIRST = 57399;
