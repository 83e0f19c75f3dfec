import { computeDisplayWidth } from "../../core/base/display-width.ts";
import { cleanInput } from "../../core/base/text.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { computeCellsWidth, type RowCell } from "../theme/Row.tsx";

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
function replaceRange({ text }: TextField, from: number, to: number, by = ""): TextField {
  const whole = text.slice(0, from) + by + text.slice(to);
  // The inserted text may form one grapheme with the text after it.
  return { text: whole, cursor: findBoundaryFrom(whole, from + by.length) };
}

/** Converts a text to one line. Line breaks at its edges are part of the paste, not of the intended text. */
function toSingleLine(text: string): string {
  // Cuts a paste of megabytes first, so that only the part that may fit is cleaned.
  return cleanInput(text.slice(0, 4 * MAX_FIELD_LENGTH).replace(/^[\r\n]+|[\r\n]+$/g, ""));
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

/** Builds a field: as much of it as fits, with the cursor in view. @param width  columns */
export function buildFieldCells(field: TextField, width: number, isActive = true): RowCell[] {
  const { before, at, after } = computeFieldWindow(field, width);
  const under = at === "" ? " " : at;
  const cells: RowCell[] = [
    { text: before, role: "field" },
    isActive ? { text: under, role: "cursor", ground: "field" } : { text: under, role: "field" },
    { text: after, role: "field" },
  ];
  const rest = Math.max(0, width - computeCellsWidth(cells));
  return [...cells, { text: " ".repeat(rest), role: "field" }];
}

/** The visible part of a field. */
interface FieldWindow {
  before: string;
  /** The text under the cursor: a grapheme, or a space at the end. */
  at: string;
  after: string;
}

/** Share of the width kept for the text after the cursor, so that the user sees what follows. */
const CONTEXT_SHARE = 0.25;

/**
 * Computes the part of a field that fits, with the cursor in it.
 * @param width  columns, at least 2; the maximum of all three parts together
 */
export function computeFieldWindow({ text, cursor }: TextField, width: number): FieldWindow {
  const behind = findBoundaryFrom(text, cursor + 1);
  const at = text.slice(cursor, behind) || " ";
  const room = Math.max(0, width - computeDisplayWidth(at));
  const [left, right] = [text.slice(0, cursor), text.slice(behind)];
  const kept = Math.min(computeDisplayWidth(right), Math.floor(room * CONTEXT_SHARE));
  const before = takeFitting(splitGraphemes(left).reverse(), room - kept)
    .reverse()
    .join("");
  const after = takeFitting(splitGraphemes(right), room - computeDisplayWidth(before)).join("");
  return { before, at, after };
}

/** Returns the first letters that fit. */
function takeFitting(letters: readonly string[], width: number): string[] {
  const shown: string[] = [];
  let taken = 0;
  for (const letter of letters) {
    taken += computeDisplayWidth(letter);
    if (taken > width) break;
    shown.push(letter);
  }
  return shown;
}

let segmenter: Intl.Segmenter | undefined;

/** Splits a text into graphemes. The segmenter takes 10 ms to create, and is not needed before something is edited. */
function segment(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** Returns the first valid cursor position at or after an index. */
export function findBoundaryFrom(text: string, index: number): number {
  if (index <= 0) return 0;
  if (index >= text.length) return text.length;
  const found = segment(text).containing(index);
  return found === undefined || found.index === index ? index : found.index + found.segment.length;
}

/** Returns the start of the grapheme that ends at an index. */
function findBoundaryBefore(text: string, index: number): number {
  return segment(text).containing(index - 1)?.index ?? 0;
}

function splitGraphemes(text: string): string[] {
  return Array.from(segment(text), (one) => one.segment);
}

const WORD_CHARACTER = /[\p{L}\p{N}\p{M}_]/u;

/** Returns the start of the word before an index. */
function findWordStart(text: string, index: number): number {
  const letters = splitGraphemes(text.slice(0, index));
  const isWord = () => WORD_CHARACTER.test(letters.at(-1) ?? "");
  while (letters.length > 0 && !isWord()) letters.pop();
  while (isWord()) letters.pop();
  return letters.join("").length;
}

/** Returns the end of the word after an index. */
function findWordEnd(text: string, index: number): number {
  const letters = splitGraphemes(text.slice(index)).reverse();
  const isWord = () => WORD_CHARACTER.test(letters.at(-1) ?? "");
  while (letters.length > 0 && !isWord()) letters.pop();
  while (isWord()) letters.pop();
  return text.length - letters.join("").length;
}

/** Returns the start of the non-blank text before an index: what Ctrl+W deletes in a shell. */
function findBlankStart(text: string, index: number): number {
  const kept = text.slice(0, index).replace(/\S*\s*$/, "");
  return kept.length;
}
