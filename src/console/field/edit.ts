import type { InputEvent } from "../input/event.ts";
import { type Field, insert, replaced } from "./field.ts";
import { blankBefore, boundaryBefore, boundaryFrom, wordBefore, wordBehind } from "./graphemes.ts";

type Edit = (field: Field) => Field;

const to =
  (where: (text: string, cursor: number) => number): Edit =>
  ({ text, cursor }) => ({ text, cursor: where(text, cursor) });
/** Takes away what is between the cursor and another place. */
const cut =
  (where: (text: string, cursor: number) => number): Edit =>
  (field) => {
    const other = where(field.text, field.cursor);
    return replaced(field, Math.min(other, field.cursor), Math.max(other, field.cursor));
  };

const start = () => 0;
const end = (text: string) => text.length;
const left = (text: string, cursor: number) => boundaryBefore(text, cursor);
const right = (text: string, cursor: number) => boundaryFrom(text, cursor + 1);

/** What keys do in a field, as in shells. */
const EDITS: Readonly<Record<string, Edit>> = {
  ...{ left: to(left), "ctrl+b": to(left), right: to(right), "ctrl+f": to(right) },
  ...{ home: to(start), "ctrl+a": to(start), end: to(end), "ctrl+e": to(end) },
  ...{ "ctrl+left": to(wordBefore), "alt+left": to(wordBefore), "alt+b": to(wordBefore) },
  ...{ "ctrl+right": to(wordBehind), "alt+right": to(wordBehind), "alt+f": to(wordBehind) },
  ...{ backspace: cut(left), "ctrl+h": cut(left), "shift+backspace": cut(left) },
  ...{ delete: cut(right), "ctrl+d": cut(right) },
  ...{ "ctrl+w": cut(blankBefore), "alt+backspace": cut(wordBefore), "ctrl+backspace": cut(wordBefore) },
  ...{ "alt+d": cut(wordBehind), "ctrl+delete": cut(wordBehind) },
  ...{ "ctrl+u": cut(start), "ctrl+k": cut(end) },
};

/**
 * A field after a key or a paste; the same one where that changes nothing.
 * @returns undefined for what is no matter of a field (Enter, Tab, Escape, up, a click): whoever has it decides
 */
export function edit(field: Field, event: InputEvent): Field | undefined {
  if (event.kind === "paste") return insert(field, event.text);
  if (event.kind !== "key") return undefined;
  const known = Object.hasOwn(EDITS, event.chord) ? EDITS[event.chord] : undefined;
  if (known !== undefined) return known(field);
  return event.text === undefined ? undefined : insert(field, event.text);
}
