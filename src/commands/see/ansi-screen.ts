import type { CommandIo } from "../spec.ts";
import { applySgrParameters, CellWriter, DEFAULT_SGR, type SgrState, toBlankState } from "./cell-writer.ts";

const ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[J"; // the alternate screen, empty, without cursor and line wrap
const LEAVE = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/** Synchronized output: terminals that support it show the text between these at once; others ignore them. */
const [BEGIN, END] = ["\x1b[?2026h", "\x1b[?2026l"];
/** A terminal gets shorter output in one piece, and shows it at once anyway. */
const SHORT = 256;
/** So many parts of a screen are painted from the top. Those after them begin where the last one ended. */
const FROM_TOP = 3;

/** Sequences that switch further terminal modes on and off. */
export interface TerminalModes {
  on: string;
  off: string;
}

/** The alternate screen of a terminal, repainted in place without flicker. Leaving it restores the user's screen. */
export class AnsiScreen {
  readonly #io: Pick<CommandIo, "writeOutput" | "terminal">;
  readonly #modes: TerminalModes;
  #shown: readonly string[] = [];
  #size = "";
  /** How many calls of `paint` in succession have left something out, and where the last one ended. */
  #incomplete = 0;
  #next = 0;

  constructor(io: Pick<CommandIo, "writeOutput" | "terminal">, modes: TerminalModes = { on: "", off: "" }) {
    this.#io = io;
    this.#modes = modes;
  }

  /** Whether all lines of the last call of `paint` are on the screen. */
  get isComplete(): boolean {
    return this.#incomplete === 0;
  }

  enter(): void {
    this.#size = "";
    this.#io.writeOutput(ENTER + this.#modes.on);
  }

  /**
   * Paints lines from the top, as many as fit. Writes only what changed, to save bandwidth.
   * @param lines  escaped and cut for the terminal
   * @param partLength  about how many bytes to write; `isComplete` says whether something is left for the next call
   * @returns false once the output is closed
   */
  paint(lines: readonly string[], partLength = Number.POSITIVE_INFINITY): boolean {
    const { rows, columns } = this.#io.terminal.getSize();
    const isResized = this.#size !== `${columns}x${rows}`;
    const before = isResized ? [] : this.#shown;
    const now = lines.slice(0, rows);
    // From the top, so that what a key leads to comes first; but rows there that change all the time must not hold up the others.
    const from = this.#incomplete < FROM_TOP ? 0 : this.#next;
    const { output, shown, next } = formatChanges(before, now, columns, { length: partLength, from });
    const text = (isResized ? "\x1b[m\x1b[H\x1b[J" : "") + output; // clears what a resize has left
    [this.#shown, this.#size] = [shown, `${columns}x${rows}`];
    this.#incomplete = shown.every((line, row) => line === (now[row] ?? "")) ? 0 : this.#incomplete + 1;
    this.#next = next;
    if (text === "") return true;
    return this.#io.writeOutput(text.length < SHORT ? text : BEGIN + text + END);
  }

  /** Paints the whole next frame, because the content of the screen is unknown. */
  forget(): void {
    this.#size = "";
  }

  leave(): void {
    this.#io.writeOutput(this.#modes.off + LEAVE);
  }
}

/** Unchanged cells that are written again between two changes: a movement of the cursor is longer. */
const SHORT_GAP = 3;
/** A row whose changes take fewer bytes is not worth a second way. */
const SHORT_CHANGE = 24;

/** The output that changes the lines on a terminal, and the lines that are there afterwards. */
interface ScreenChange {
  output: string;
  shown: readonly string[];
  /** The row after the last one that was changed or compared. */
  next: number;
}

/** How much of a change to format. */
interface ScreenPart {
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

/** Rows that have moved up or down as a block. */
interface RowShift {
  /** The rows that take part, from 0: the block before and after the move. `end` is the last one. */
  start: number;
  end: number;
  /** How far the block has moved; negative: up. */
  by: number;
}

const FURTHEST = 6;
/** Characters that the terminal must spare us: the sequences of a move have about twenty. */
const LEAST_GAIN = 60;

/** Returns the move that makes most of the rows right; undefined if none is worth it. */
function findRowShift(before: readonly string[], after: readonly string[]): RowShift | undefined {
  let best: (RowShift & { gain: number }) | undefined;
  for (let by = -FURTHEST; by <= FURTHEST; by += 1) {
    if (by === 0) continue;
    for (const block of listMovedBlocks(before, after, by))
      if (block.gain > (best?.gain ?? LEAST_GAIN)) best = block;
  }
  return best && { start: best.start, end: best.end, by: best.by };
}

/** Lists the blocks of neighbouring rows that have moved so far and differ from what was in their places. */
function listMovedBlocks(before: readonly string[], after: readonly string[], by: number) {
  const blocks: (RowShift & { gain: number })[] = [];
  let block: { first: number; gain: number } | undefined;
  for (let row = 0; row <= after.length; row += 1) {
    const isMoved = row < after.length && after[row] === before[row - by];
    if (isMoved) {
      const text = after[row] ?? "";
      block ??= { first: row, gain: 0 };
      block.gain += text === before[row] ? 0 : text.length;
    } else if (block !== undefined) {
      const last = row - 1;
      blocks.push({
        ...(by > 0 ? { start: block.first - by, end: last } : { start: block.first, end: last - by }),
        by,
        gain: block.gain,
      });
      block = undefined;
    }
  }
  return blocks;
}

/** Returns the sequences that move the block within its rows. The terminal is in the default state; the cursor goes to the top left. */
function formatRowShift({ start, end, by }: RowShift): string {
  const move = by > 0 ? `${by}L` : `${-by}M`;
  return `\x1b[${start + 1};${end + 1}r\x1b[${start + 1}H\x1b[${move}\x1b[r`;
}

/** Returns the rows on the terminal after the move. */
function shiftRows(rows: readonly string[], { start, end, by }: RowShift): string[] {
  // The block may end below the last row that is known: what is pushed there is on the terminal.
  return Array.from({ length: Math.max(rows.length, end + 1) }, (_, at) => {
    const from = at < start || at > end ? at : at - by;
    const isBlank = from !== at && (from < start || from > end);
    return isBlank ? "" : (rows[from] ?? "");
  });
}

/** A line as the cells of a terminal, each of one column. Blanks at its end that show nothing are left out. */
interface StyledLine {
  /** One character for each cell. */
  readonly text: string;
  /** The state of each cell; of a blank, what is visible of it. */
  readonly states: readonly SgrState[];
}

/** Characters that take two columns or none, or whose width differs between terminals. */
const UNSURE = /[^\x20-\x7e\xa0-\xac\xae-\u02ff\u2010-\u2027\u2190-\u25ff\u2700-\u27bf]/;
/** Text up to a sequence, and the parameters of the sequence. */
const PART = /([^\x1b]*)(?:\x1b\[([0-9;]*)m|$)/y;

/**
 * Parses a line with SGR sequences into cells.
 * @returns undefined if the columns of its characters are not sure, or it has other sequences
 */
function parseStyledLine(line: string): StyledLine | undefined {
  const states: SgrState[] = [];
  let text = "";
  let state = DEFAULT_SGR;
  PART.lastIndex = 0;
  while (PART.lastIndex < line.length) {
    const part = PART.exec(line);
    const [, characters = "", parameters] = part ?? [];
    if (part === null || UNSURE.test(characters)) return undefined;
    text += characters;
    const blank = toBlankState(state);
    for (const character of characters) states.push(character === " " ? blank : state);
    if (parameters === undefined) break;
    const next = applySgrParameters(state, parameters);
    if (next === undefined) return undefined;
    state = next;
  }
  let length = text.length;
  while (length > 0 && text[length - 1] === " " && states[length - 1] === DEFAULT_SGR) length -= 1;
  return { text: text.slice(0, length), states: states.slice(0, length) };
}
