import { clean } from "../../base/text.ts";
import { boundaryFrom } from "./graphemes.ts";

/** A line that is being typed. */
export interface Field {
  readonly text: string;
  /** Where the next letter goes: an index into the text, never within a grapheme. */
  readonly cursor: number;
}

/** Longest text of a field, in UTF-16 units: more than any name or reason may have. */
export const LONGEST = 2_000;

/** A field with a text, cleaned and cut to its bound. The cursor stands at its end. */
export function fieldOf(text = ""): Field {
  return insert({ text: "", cursor: 0 }, text);
}

/**
 * A field with a text put in at the cursor, which then stands behind it. The text is made one line, and all that a
 * terminal would take for a command goes; what does not fit is left out.
 */
export function insert(field: Field, text: string): Field {
  const room = Math.max(0, LONGEST - field.text.length);
  const added = cutTo(oneLine(text), room);
  return added === "" ? field : replaced(field, field.cursor, field.cursor, added);
}

/** A field with the part from one index to another replaced; the cursor stands behind it. */
export function replaced({ text }: Field, from: number, to: number, by = ""): Field {
  const whole = text.slice(0, from) + by + text.slice(to);
  // What was put in may have become one grapheme with what stands behind it.
  return { text: whole, cursor: boundaryFrom(whole, from + by.length) };
}

/** Line breaks at the edges are how a paste ends, not what was meant. */
function oneLine(text: string): string {
  // A paste of megabytes is not cleaned as a whole for the little of it that fits.
  return clean(text.slice(0, 4 * LONGEST).replace(/^[\r\n]+|[\r\n]+$/g, ""));
}

/** The whole graphemes of a text that fit. */
function cutTo(text: string, length: number): string {
  if (text.length <= length) return text;
  let kept = 0;
  for (let next = boundaryFrom(text, 1); next <= length; next = boundaryFrom(text, kept + 1)) {
    kept = next;
    if (kept >= text.length) break;
  }
  return text.slice(0, kept);
}
