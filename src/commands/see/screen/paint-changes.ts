import { CellWriter } from "./cell-writer.ts";
import { findRowShift, formatRowShift, shiftRows } from "./row-shift.ts";
import { DEFAULT_SGR } from "./sgr-state.ts";
import { parseStyledLine, type StyledLine } from "./styled-line.ts";

/** Unchanged cells that are written again between two changes: a movement of the cursor is longer. */
const SHORT_GAP = 3;
/** A row whose changes take fewer bytes is not worth a second way. */
const SHORT_CHANGE = 24;

/** The output that changes the lines on a terminal, and the lines that are there afterwards. */
export interface ScreenChange {
  output: string;
  shown: readonly string[];
  /** The row after the last one that was changed or compared. */
  next: number;
}

/** How much of a change to format. */
export interface ScreenPart {
  /** Bytes after which no further row is changed; the others stay as they are. */
  length: number;
  /** The first row; those above it come after the last one. */
  from: number;
}

const WHOLE: ScreenPart = { length: Number.POSITIVE_INFINITY, from: 0 };

/**
 * Formats the output that changes the lines on a terminal into others.
 * @param before  as they are on the terminal; empty if it is clear
 * @param after   as many as fit, each escaped and cut for the terminal
 */
export function formatChanges(
  before: readonly string[],
  after: readonly string[],
  columns: number,
  part: ScreenPart = WHOLE,
): ScreenChange {
  const shift = findRowShift(before, after);
  const shown = [...(shift === undefined ? before : shiftRows(before, shift))];
  const height = Math.max(shown.length, after.length);
  while (shown.length < height) shown.push("");
  let writer = new CellWriter(columns);
  let done = 0;
  for (; done < height && writer.bytes < part.length; done += 1) {
    const row = (part.from + done) % height;
    const [was = "", is = ""] = [shown[row], after[row]];
    if (was !== is) writer = writeLineChange(writer, row, was, is);
    shown[row] = is;
  }
  const output = (shift === undefined ? "" : formatRowShift(shift)) + writer.finish();
  return { output, shown, next: height === 0 ? 0 : (part.from + done) % height };
}

/** Writes a row's change in the shorter of two ways, and returns the writer that has done it. */
function writeLineChange(writer: CellWriter, row: number, was: string, is: string): CellWriter {
  const now = parseStyledLine(is);
  const old = parseStyledLine(was);
  // The columns of what is there must be known, too: otherwise nobody knows where they begin.
  if (now === undefined || old === undefined) {
    writer.replaceRow(row, is);
    return writer;
  }
  const changed = writer.fork();
  writeDifferences(changed, row, old, now);
  if (old.text.length > now.text.length) changed.clearFrom(row, now.text.length);
  if (changed.bytes < writer.bytes + SHORT_CHANGE) return changed;
  const start = findDifference(old, now, 0);
  writer.clearFrom(row, start);
  writeDifferences(writer, row, { text: old.text.slice(0, start), states: old.states.slice(0, start) }, now);
  return writer.bytes < changed.bytes ? writer : changed;
}

function writeDifferences(writer: CellWriter, row: number, old: StyledLine, now: StyledLine): void {
  const { length } = now.text;
  for (let at = findDifference(old, now, 0); at < length; ) {
    let end = at + 1;
    while (end < length && !isSameCell(old, now, end)) end += 1;
    writer.writeCells(row, at, now.text.slice(at, end), now.states.slice(at, end));
    at = findDifference(old, now, end);
    const [text, states] = [now.text.slice(end, at), now.states.slice(end, at)];
    if (
      at < length &&
      text.length <= SHORT_GAP &&
      isAscii(text) &&
      writer.canContinue(row, end, text, states)
    )
      writer.writeCells(row, end, text, states);
  }
}

/** Returns the first column from `at` on that differs, or the length. */
function findDifference(old: StyledLine, now: StyledLine, at: number): number {
  let column = at;
  while (column < now.text.length && isSameCell(old, now, column)) column += 1;
  return column;
}

/** A cell beyond the end is a blank. */
function isSameCell(old: StyledLine, now: StyledLine, at: number): boolean {
  return (old.text[at] ?? " ") === now.text[at] && (old.states[at] ?? DEFAULT_SGR) === now.states[at];
}

/** Other characters take more bytes than a movement of the cursor. */
const isAscii = (text: string) => /^[ -~]*$/.test(text);
