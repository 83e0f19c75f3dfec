import { displayWidth } from "../../base/text.ts";
import type { Field } from "./field.ts";
import { boundaryFrom, graphemesOf } from "./graphemes.ts";

/** The part of a field that is in sight. */
export interface FieldWindow {
  before: string;
  /** What the cursor stands on: a grapheme, or a space at the end. */
  at: string;
  after: string;
}

/** How much of the width stays for what is behind the cursor, so that one sees where one goes. */
const AHEAD = 0.25;

/**
 * The part of a field that fits, with the cursor in it.
 * @param width  columns, from 2 on; all three together take no more
 */
export function window({ text, cursor }: Field, width: number): FieldWindow {
  const behind = boundaryFrom(text, cursor + 1);
  const at = text.slice(cursor, behind) || " ";
  const room = Math.max(0, width - displayWidth(at));
  const [left, right] = [text.slice(0, cursor), text.slice(behind)];
  const kept = Math.min(displayWidth(right), Math.floor(room * AHEAD));
  const before = fitted(graphemesOf(left).reverse(), room - kept)
    .reverse()
    .join("");
  const after = fitted(graphemesOf(right), room - displayWidth(before)).join("");
  return { before, at, after };
}

/** The first letters that fit. */
function fitted(letters: readonly string[], width: number): string[] {
  const shown: string[] = [];
  let taken = 0;
  for (const letter of letters) {
    taken += displayWidth(letter);
    if (taken > width) break;
    shown.push(letter);
  }
  return shown;
}
