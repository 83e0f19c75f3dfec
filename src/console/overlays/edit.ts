import type { InputEvent } from "../terminal/event.ts";
import { insertText, replaceRange, type TextField } from "./field.ts";
import {
  findBlankStart,
  findBoundaryBefore,
  findBoundaryFrom,
  findWordEnd,
  findWordStart,
} from "./graphemes.ts";

type FieldEdit = (field: TextField) => TextField;

const createMove =
  (where: (text: string, cursor: number) => number): FieldEdit =>
  ({ text, cursor }) => ({ text, cursor: where(text, cursor) });
/** Deletes the text between the cursor and another position. */
const createCut =
  (where: (text: string, cursor: number) => number): FieldEdit =>
  (field) => {
    const other = where(field.text, field.cursor);
    return replaceRange(field, Math.min(other, field.cursor), Math.max(other, field.cursor));
  };

const findLineStart = () => 0;
const findLineEnd = (text: string) => text.length;
const findLeft = (text: string, cursor: number) => findBoundaryBefore(text, cursor);
const findRight = (text: string, cursor: number) => findBoundaryFrom(text, cursor + 1);

/** The editing keys of a field, as in shells. */
const EDITS: Readonly<Record<string, FieldEdit>> = {
  left: createMove(findLeft),
  "ctrl+b": createMove(findLeft),
  right: createMove(findRight),
  "ctrl+f": createMove(findRight),
  home: createMove(findLineStart),
  "ctrl+a": createMove(findLineStart),
  end: createMove(findLineEnd),
  "ctrl+e": createMove(findLineEnd),
  "ctrl+left": createMove(findWordStart),
  "alt+left": createMove(findWordStart),
  "alt+b": createMove(findWordStart),
  "ctrl+right": createMove(findWordEnd),
  "alt+right": createMove(findWordEnd),
  "alt+f": createMove(findWordEnd),
  backspace: createCut(findLeft),
  "ctrl+h": createCut(findLeft),
  "shift+backspace": createCut(findLeft),
  delete: createCut(findRight),
  "ctrl+d": createCut(findRight),
  "ctrl+w": createCut(findBlankStart),
  "alt+backspace": createCut(findWordStart),
  "ctrl+backspace": createCut(findWordStart),
  "alt+d": createCut(findWordEnd),
  "ctrl+delete": createCut(findWordEnd),
  "ctrl+u": createCut(findLineStart),
  "ctrl+k": createCut(findLineEnd),
};

/** Whether a key edits the text of a field, other than by typing. */
export function isEditKey(chord: string): boolean {
  return Object.hasOwn(EDITS, chord);
}

/**
 * Applies a key or a paste to a field. Returns the same field if nothing changes.
 * @returns undefined for an event that does not edit a field (Enter, Tab, Escape, up, a click): the caller handles it
 */
export function editField(field: TextField, event: InputEvent): TextField | undefined {
  if (event.kind === "paste") return insertText(field, event.text);
  if (event.kind !== "key") return undefined;
  const known = Object.hasOwn(EDITS, event.chord) ? EDITS[event.chord] : undefined;
  if (known !== undefined) return known(field);
  return event.text === undefined ? undefined : insertText(field, event.text);
}
