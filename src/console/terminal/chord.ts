import type { KeyEvent } from "./event.ts";

/** Bits of the modifiers: the number that terminals send, less one. */
export const SHIFT = 1;
export const ALT = 2;
export const CTRL = 4;
/** Super, hyper and meta: the console ignores keys with them. */
const FOREIGN = 8 | 16 | 32;

/**
 * Creates the event of a named key. @param modifiers  bits; those of lock keys are ignored @returns undefined for
 * keys that the console ignores
 */
export function createNamedKey(name: string, modifiers = 0): KeyEvent | undefined {
  if ((modifiers & FOREIGN) !== 0) return undefined;
  const isPlain = (modifiers & (SHIFT | ALT | CTRL)) === 0;
  const isSign = [...name].length === 1;
  if (isSign && (modifiers & (ALT | CTRL)) === 0) return { kind: "key", chord: name, text: name };
  const chord = addModifiers(name, modifiers);
  if (name === "space" && (isPlain || modifiers === SHIFT)) return { kind: "key", chord: "space", text: " " };
  return { kind: "key", chord };
}

/** Creates the event of a key that types a character. @returns undefined for keys that the console ignores */
export function createTypedKey(character: string, modifiers = 0): KeyEvent | undefined {
  if ((modifiers & FOREIGN) !== 0) return undefined;
  if (character === " ") return createNamedKey("space", modifiers);
  const isCommand = (modifiers & (ALT | CTRL)) !== 0;
  if (!isCommand) return { kind: "key", chord: character, text: character };
  if ((modifiers & CTRL) === 0) return { kind: "key", chord: addModifiers(character, modifiers & ~SHIFT) };
  return { kind: "key", chord: addModifiers(character.toLowerCase(), modifiers) };
}

/** Creates the event of a control byte: below the space, or DEL. */
export function createControlKey(code: number, modifiers = 0): KeyEvent | undefined {
  switch (code) {
    case 0x0d:
      return createNamedKey("enter", modifiers);
    case 0x09:
      return createNamedKey("tab", modifiers);
    case 0x7f:
      return createNamedKey("backspace", modifiers);
    case 0x1b:
      return createNamedKey("escape", modifiers);
    case 0x00:
      return createNamedKey("space", modifiers | CTRL);
    default:
      return createNamedKey(String.fromCharCode(code + 0x40).toLowerCase(), modifiers | CTRL);
  }
}

function addModifiers(name: string, modifiers: number): string {
  const ctrl = (modifiers & CTRL) !== 0 ? "ctrl+" : "";
  const alt = (modifiers & ALT) !== 0 ? "alt+" : "";
  const shift = (modifiers & SHIFT) !== 0 ? "shift+" : "";
  return ctrl + alt + shift + name;
}
