import type { KeyEvent } from "./event.ts";

/** Modifiers as terminals count them, less one. */
export const SHIFT = 1;
export const ALT = 2;
export const CTRL = 4;
/** Super, hyper and meta: no key of ours, whatever it is pressed with. */
const FOREIGN = 8 | 16 | 32;

/** A key that has a name. @param modifiers  bits; those of locks are passed over @returns undefined for none of ours */
export function namedKey(name: string, modifiers = 0): KeyEvent | undefined {
  if ((modifiers & FOREIGN) !== 0) return undefined;
  const isPlain = (modifiers & (SHIFT | ALT | CTRL)) === 0;
  const isSign = [...name].length === 1;
  if (isSign && (modifiers & (ALT | CTRL)) === 0) return { kind: "key", chord: name, text: name };
  const chord = prefixed(name, modifiers);
  if (name === "space" && (isPlain || modifiers === SHIFT)) return { kind: "key", chord: "space", text: " " };
  return { kind: "key", chord };
}

/** A key that types a character. @returns undefined for none of ours */
export function typedKey(character: string, modifiers = 0): KeyEvent | undefined {
  if ((modifiers & FOREIGN) !== 0) return undefined;
  if (character === " ") return namedKey("space", modifiers);
  const isCommand = (modifiers & (ALT | CTRL)) !== 0;
  if (!isCommand) return { kind: "key", chord: character, text: character };
  if ((modifiers & CTRL) === 0) return { kind: "key", chord: prefixed(character, modifiers & ~SHIFT) };
  return { kind: "key", chord: prefixed(character.toLowerCase(), modifiers) };
}

/** A byte below the space, or DEL. */
export function controlKey(code: number, modifiers = 0): KeyEvent | undefined {
  switch (code) {
    case 0x0d:
      return namedKey("enter", modifiers);
    case 0x09:
      return namedKey("tab", modifiers);
    case 0x7f:
      return namedKey("backspace", modifiers);
    case 0x1b:
      return namedKey("escape", modifiers);
    case 0x00:
      return namedKey("space", modifiers | CTRL);
    default:
      return namedKey(String.fromCharCode(code + 0x40).toLowerCase(), modifiers | CTRL);
  }
}

function prefixed(name: string, modifiers: number): string {
  const ctrl = (modifiers & CTRL) !== 0 ? "ctrl+" : "";
  const alt = (modifiers & ALT) !== 0 ? "alt+" : "";
  const shift = (modifiers & SHIFT) !== 0 ? "shift+" : "";
  return ctrl + alt + shift + name;
}
