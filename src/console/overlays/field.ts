import { clean } from "../../base/text.ts";
import { findBoundaryFrom } from "./graphemes.ts";

/** A line of text that the user edits. */
export interface TextField {
  readonly text: string;
  /** Where the next letter is inserted: an index into the text, never within a grapheme. */
  readonly cursor: number;
}

/** Maximum length of a field, in UTF-16 units: longer than any name or reason may be. */
export const MAX_FIELD_LENGTH = 2_000;

/** Creates a field with a text, cleaned and cut to the maximum length. The cursor is at its end. */
export function createField(text = ""): TextField {
  return insertText({ text: "", cursor: 0 }, text);
}

/**
 * Inserts a text at the cursor and moves the cursor behind it. The text becomes one line without terminal control
 * sequences. The part that does not fit is dropped.
 */
export function insertText(field: TextField, text: string): TextField {
  const room = Math.max(0, MAX_FIELD_LENGTH - field.text.length);
  const added = truncateGraphemes(toSingleLine(text), room);
  return added === "" ? field : replaceRange(field, field.cursor, field.cursor, added);
}

/** Replaces the text between two indexes. The cursor moves behind the replacement. */
export function replaceRange({ text }: TextField, from: number, to: number, by = ""): TextField {
  const whole = text.slice(0, from) + by + text.slice(to);
  // The inserted text may form one grapheme with the text after it.
  return { text: whole, cursor: findBoundaryFrom(whole, from + by.length) };
}

/** Converts a text to one line. Line breaks at its edges are part of the paste, not of the intended text. */
function toSingleLine(text: string): string {
  // Cuts a paste of megabytes first, so that only the part that may fit is cleaned.
  return clean(text.slice(0, 4 * MAX_FIELD_LENGTH).replace(/^[\r\n]+|[\r\n]+$/g, ""));
}

/** Cuts a text to the whole graphemes that fit. */
function truncateGraphemes(text: string, length: number): string {
  if (text.length <= length) return text;
  let kept = 0;
  for (let next = findBoundaryFrom(text, 1); next <= length; next = findBoundaryFrom(text, kept + 1)) {
    kept = next;
    if (kept >= text.length) break;
  }
  return text.slice(0, kept);
}
