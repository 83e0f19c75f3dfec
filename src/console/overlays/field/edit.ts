import type { InputEvent } from "../../terminal/input/event.ts";
import { insertText, replaceRange, type TextField } from "./field.ts";
import {
  findBlankStart,
  findBoundaryBefore,
  findBoundaryFrom,
  findWordEnd,
  findWordStart,
} from "./graphemes.ts";

type FieldEdit = (field: TextField) => TextField;

/** Finds a position in a text, seen from the cursor. */
type FindPosition = (text: string, cursor: number) => number;

const findLineStart: FindPosition = () => 0;
const findLineEnd: FindPosition = (text) => text.length;
const findRight: FindPosition = (text, cursor) => findBoundaryFrom(text, cursor + 1);

/** The keys that move the cursor, as in shells. */
const MOVES: readonly (readonly [to: FindPosition, keys: readonly string[]])[] = [
  [findBoundaryBefore, ["left", "ctrl+b"]],
  [findRight, ["right", "ctrl+f"]],
  [findLineStart, ["home", "ctrl+a"]],
  [findLineEnd, ["end", "ctrl+e"]],
  [findWordStart, ["ctrl+left", "alt+left", "alt+b"]],
  [findWordEnd, ["ctrl+right", "alt+right", "alt+f"]],
];

/** The keys that delete the text between the cursor and another position. */
const CUTS: typeof MOVES = [
  [findBoundaryBefore, ["backspace", "ctrl+h", "shift+backspace"]],
  [findRight, ["delete", "ctrl+d"]],
  [findBlankStart, ["ctrl+w"]],
  [findWordStart, ["alt+backspace", "ctrl+backspace"]],
  [findWordEnd, ["alt+d", "ctrl+delete"]],
  [findLineStart, ["ctrl+u"]],
  [findLineEnd, ["ctrl+k"]],
];

const EDITS = new Map<string, FieldEdit>([
  ...MOVES.flatMap(([to, keys]) => keys.map((key) => [key, createMove(to)] as const)),
  ...CUTS.flatMap(([to, keys]) => keys.map((key) => [key, createCut(to)] as const)),
]);

function createMove(to: FindPosition): FieldEdit {
  return ({ text, cursor }) => ({ text, cursor: to(text, cursor) });
}

function createCut(to: FindPosition): FieldEdit {
  return (field) => {
    const other = to(field.text, field.cursor);
    return replaceRange(field, Math.min(other, field.cursor), Math.max(other, field.cursor));
  };
}

/** Whether a key edits the text of a field, other than by typing. */
export function isEditKey(chord: string): boolean {
  return EDITS.has(chord);
}

/**
 * Applies a key or a paste to a field. Returns the same field if nothing changes.
 * @returns undefined for an event that does not edit a field (Enter, Tab, Escape, up, a click): the caller handles it
 */
export function editField(field: TextField, event: InputEvent): TextField | undefined {
  if (event.kind === "paste") return insertText(field, event.text);
  if (event.kind !== "key") return undefined;
  const known = EDITS.get(event.chord);
  if (known !== undefined) return known(field);
  return event.text === undefined ? undefined : insertText(field, event.text);
}
