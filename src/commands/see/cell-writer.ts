import { DEFAULT_SGR, formatSgrChange, type SgrState, toBlankState } from "./screen/sgr-state.ts";

/** Blanks are cheaper to erase than to write from this number on. */
const LONG_GAP = 11;

/**
 * Builds the output that changes cells of a terminal, with the shortest movements and SGR sequences it knows. It expects
 * line wrap off, and the terminal in the default state, and leaves it so.
 */
export class CellWriter {
  /** Columns of the terminal. */
  readonly #columns: number;
  #output = "";
  #bytes = 0;
  #state = DEFAULT_SGR;
  #row: number | undefined;
  /** Undefined: not known, such as after a character in the last column. */
  #column: number | undefined;

  constructor(columns: number) {
    this.#columns = columns;
  }

  /** Length of the output so far, bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns a writer that continues after the output so far, so that two ways can be compared. */
  fork(): CellWriter {
    const fork = new CellWriter(this.#columns);
    [fork.#output, fork.#bytes, fork.#state] = [this.#output, this.#bytes, this.#state];
    [fork.#row, fork.#column] = [this.#row, this.#column];
    return fork;
  }

  /** Writes characters with their states into cells of a row. All from 0. */
  writeCells(row: number, column: number, text: string, states: readonly SgrState[]): void {
    for (let at = 0; at < text.length; ) {
      const blanks = countBlanks(text, states, at);
      if (blanks >= LONG_GAP) this.#eraseCells(row, column + at, blanks);
      else this.#writeCell(row, column + at, text[at] ?? " ", states[at] ?? DEFAULT_SGR);
      at += blanks >= LONG_GAP ? blanks : 1;
    }
  }

  #writeCell(row: number, column: number, character: string, state: SgrState): void {
    this.#moveTo(row, column);
    this.#setState(state, character === " ");
    this.#write(character);
    this.#column = column + 1 < this.#columns ? column + 1 : undefined;
  }

  /** Replaces cells by blanks that show nothing. The cursor stays where it is. */
  #eraseCells(row: number, column: number, count: number): void {
    this.#moveTo(row, column);
    this.#setState(DEFAULT_SGR, true);
    this.#write(`\x1b[${count}X`);
  }

  /** Clears a row from a column on. */
  clearFrom(row: number, column: number): void {
    this.#moveTo(row, column);
    this.#setState(DEFAULT_SGR, true);
    this.#write("\x1b[K");
  }

  /** Replaces a row by a line whose columns are not known. */
  replaceRow(row: number, line: string): void {
    this.#moveTo(row, 0);
    this.#setState(DEFAULT_SGR);
    this.#write(`\x1b[2K${line}\x1b[m`);
    this.#column = undefined;
  }

  /** Whether characters with these states can be written at the cursor without a sequence. */
  canContinue(row: number, column: number, text: string, states: readonly SgrState[]): boolean {
    if (row !== this.#row || column !== this.#column) return false;
    return states.every((state, at) => this.#looksLike(state, text[at] === " "));
  }

  /** Returns the output. Call it once. */
  finish(): string {
    this.#setState(DEFAULT_SGR);
    return this.#output;
  }

  #write(text: string): void {
    this.#output += text;
    this.#bytes += Buffer.byteLength(text);
  }

  #setState(state: SgrState, isBlank = false): void {
    if (this.#looksLike(state, isBlank)) return;
    this.#write(formatSgrChange(this.#state, state));
    this.#state = state;
  }

  /** Whether a cell looks the same in the current state. */
  #looksLike(state: SgrState, isBlank: boolean): boolean {
    return state === (isBlank ? toBlankState(this.#state) : this.#state);
  }

  #moveTo(row: number, column: number): void {
    if (row === this.#row && column === this.#column) return;
    this.#write(this.#formatMove(row, column));
    [this.#row, this.#column] = [row, column];
  }

  #formatMove(row: number, column: number): string {
    if (row === this.#row && column === 0) return "\r";
    if (row === this.#row && this.#column !== undefined && column > this.#column) {
      const steps = column - this.#column;
      return `\x1b[${steps === 1 ? "" : steps}C`;
    }
    if (column === this.#column && this.#row !== undefined && row === this.#row + 1) return "\x1b[B";
    return `\x1b[${row + 1}${column === 0 ? "" : `;${column + 1}`}H`;
  }
}

/** Counts the blanks from a place on that show nothing. */
function countBlanks(text: string, states: readonly SgrState[], from: number): number {
  let at = from;
  while (text[at] === " " && states[at] === DEFAULT_SGR) at += 1;
  return at - from;
}
