/** An event of the terminal, independent of its byte encoding. */
export type InputEvent = KeyEvent | PasteEvent | MouseEvent | FocusEvent;

/**
 * A key, as a chord: the character it types (`j`, `G`, `é`, `:`), or its name (`up`, `pageup`, `f1`, `enter`, `tab`,
 * `escape`, `space`, `backspace`, `delete`, `insert`, `home`, `end`), after its modifiers in the order `ctrl+`,
 * `alt+`, `shift+`. Shift is not a modifier of a character: the chord is `G`, never `shift+g`.
 */
interface KeyEvent {
  kind: "key";
  chord: string;
  /** The text that it types into a field; undefined for keys that type nothing. */
  text?: string;
}

/** A whole paste. It never counts as commands. */
interface PasteEvent {
  kind: "paste";
  text: string;
}

export interface MouseEvent {
  kind: "mouse";
  action: "press" | "release" | "drag" | "wheel-up" | "wheel-down";
  button: "left" | "middle" | "right" | "none";
  /** From 0, from the top left. */
  column: number;
  row: number;
}

/** The terminal window has received or lost the focus. */
interface FocusEvent {
  kind: "focus";
  has: boolean;
}

/** Bits of the modifiers: the number that terminals send, less one. */
export const SHIFT_BIT = 1;
export const ALT_BIT = 2;
export const CTRL_BIT = 4;
/** Super, hyper and meta: the console ignores keys with them. */
const FOREIGN_MODIFIERS = 8 | 16 | 32;

/**
 * Creates the event of a named key.
 * @param modifiers  bits; those of lock keys are ignored
 * @returns undefined for keys that the console ignores
 */
export function createNamedKey(name: string, modifiers = 0): KeyEvent | undefined {
  if ((modifiers & FOREIGN_MODIFIERS) !== 0) return undefined;
  const isPlain = (modifiers & (SHIFT_BIT | ALT_BIT | CTRL_BIT)) === 0;
  const isSign = [...name].length === 1;
  if (isSign && (modifiers & (ALT_BIT | CTRL_BIT)) === 0) return { kind: "key", chord: name, text: name };
  const chord = addModifiers(name, modifiers);
  if (name === "space" && (isPlain || modifiers === SHIFT_BIT))
    return { kind: "key", chord: "space", text: " " };
  return { kind: "key", chord };
}

/** Creates the event of a key that types a character. @returns undefined for keys that the console ignores */
export function createTypedKey(character: string, modifiers = 0): KeyEvent | undefined {
  if ((modifiers & FOREIGN_MODIFIERS) !== 0) return undefined;
  if (character === " ") return createNamedKey("space", modifiers);
  const isCommand = (modifiers & (ALT_BIT | CTRL_BIT)) !== 0;
  if (!isCommand) return { kind: "key", chord: character, text: character };
  if ((modifiers & CTRL_BIT) === 0)
    return { kind: "key", chord: addModifiers(character, modifiers & ~SHIFT_BIT) };
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
      return createNamedKey("space", modifiers | CTRL_BIT);
    default:
      return createNamedKey(String.fromCharCode(code + 0x40).toLowerCase(), modifiers | CTRL_BIT);
  }
}

function addModifiers(name: string, modifiers: number): string {
  const ctrl = (modifiers & CTRL_BIT) !== 0 ? "ctrl+" : "";
  const alt = (modifiers & ALT_BIT) !== 0 ? "alt+" : "";
  const shift = (modifiers & SHIFT_BIT) !== 0 ? "shift+" : "";
  return ctrl + alt + shift + name;
}

/** An answer of the terminal to a question of the console. It is never a key. `colours`: it has those of 24 bits. */
export type TerminalReport =
  | BackgroundReport
  | { kind: "report"; of: "attributes" | "keyboard" | "status" | "colours" }
  | { kind: "report"; of: "scheme"; isLight: boolean };

/** The background colour, each part from 0 to 1. */
interface BackgroundReport {
  kind: "report";
  of: "background";
  red: number;
  green: number;
  blue: number;
}

/** Maximum length of an OSC or DCS string that is kept, in bytes. Longer ones cannot be answers to the console. */
export const LONGEST_REPORT = 64;

/** `11;rgb:RRRR/GGGG/BBBB`, with one to four digits for each part; some terminals add an alpha part. */
const BACKGROUND = /^11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})(?:\/[0-9a-f]{1,4})?$/i;
/** The beginning of such an answer. */
const BACKGROUND_START = /^1(?:1(?:;(?:r(?:g(?:b(?:a?(?::[0-9a-f/]*)?)?)?)?)?)?)?$/i;

/** The colour that the console sets to ask for it. Terminals without colours of 24 bits have another one then. */
export const ASKED_COLOUR = "48;2;1;2;3";
/** The answers that a terminal has the capability `RGB`, or that colour. */
const COLOURS = /^(?:1\+r524742(?:=[0-9a-f/]*)?|[01]\$r(?:[\d:;]*;)?48[:;]2[:;]:?1[:;]2[:;]3m)$/i;
/** The beginning of an answer to these questions. */
const COLOURS_START = /^[01](?:[+$](?:r[0-9a-f=/:;]{0,50}m?)?)?$/i;

/** A string of the terminal that may be an answer: OSC or DCS. */
export type AnswerString = "osc" | "dcs";

/** Parses the text of an OSC or DCS string. @returns undefined for all but an answer */
export function parseStringReport(kind: AnswerString, text: string): TerminalReport | undefined {
  if (kind === "osc") return parseOscReport(text);
  return COLOURS.test(text) ? { kind: "report", of: "colours" } : undefined;
}

/** @returns undefined for all but the answer about the background */
export function parseOscReport(text: string): BackgroundReport | undefined {
  const [, ...parts] = BACKGROUND.exec(text) ?? [];
  const [red, green, blue] = parts.map((part) => Number.parseInt(part, 16) / (16 ** part.length - 1));
  if (red === undefined || green === undefined || blue === undefined) return undefined;
  return { kind: "report", of: "background", red, green, blue };
}

/** Whether a text may be the beginning of an answer. */
export function isReportStarted(kind: AnswerString, text: string): boolean {
  return (kind === "osc" ? BACKGROUND_START : COLOURS_START).test(text);
}

/** Whether dark text is easier to read on a background: its perceived brightness is over one half. */
export function isLightBackground({ red, green, blue }: BackgroundReport): boolean {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5;
}
