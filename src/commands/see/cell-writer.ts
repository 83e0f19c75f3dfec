/** Colours and attributes that a terminal applies to the next characters, as the parameters that set them. */
export interface SgrState {
  readonly foreground: string;
  readonly background: string;
  /** Attributes that are on, by the parameter that turns them on. */
  readonly attributes: readonly string[];
}

/** No colour, no attribute. */
export const DEFAULT_SGR: SgrState = { foreground: "", background: "", attributes: [] };

/** The parameter that turns an attribute off. Bold and dim have the same. */
const OFF: Readonly<Record<string, string>> = { "1": "22", "2": "22", "3": "23", "4": "24", "7": "27" };
const [UNDERLINED, INVERSE] = ["4", "7"];
const COLOURED = /^(?:3[0-7]|9[0-7])$/;
const GROUNDED = /^(?:4[0-7]|10[0-7])$/;

/** By text: one object for each look, so that cells are compared by identity. */
const states = new Map<string, SgrState>([["||", DEFAULT_SGR]]);
/** More looks than any theme has. */
const MOST_STATES = 4_096;

/**
 * Applies the parameters of an SGR sequence.
 * @returns one object for each look; undefined if a parameter is unknown
 */
export function applySgrParameters(state: SgrState, parameters: string): SgrState | undefined {
  let { foreground, background, attributes } = state;
  const rest = parameters === "" ? ["0"] : parameters.split(";");
  for (let code = rest.shift(); code !== undefined; code = rest.shift()) {
    if (code === "0") [foreground, background, attributes] = ["", "", []];
    else if (code === "39") foreground = "";
    else if (code === "49") background = "";
    else if (COLOURED.test(code)) foreground = code;
    else if (GROUNDED.test(code)) background = code;
    else if (code === "38" || code === "48") {
      const colour = [code, ...rest.splice(0, rest[0] === "2" ? 4 : 2)].join(";");
      if (code === "38") foreground = colour;
      else background = colour;
    } else if (Object.hasOwn(OFF, code)) attributes = [...attributes.filter((one) => one !== code), code];
    else if (Object.values(OFF).includes(code)) attributes = attributes.filter((one) => OFF[one] !== code);
    else return undefined;
  }
  return internState(foreground, background, attributes);
}

function internState(foreground: string, background: string, attributes: readonly string[]): SgrState {
  const name = `${foreground}|${background}|${[...attributes].sort().join(";")}`;
  const known = states.get(name);
  if (known !== undefined) return known;
  if (states.size >= MOST_STATES) return { foreground, background, attributes };
  const made = { foreground, background, attributes };
  states.set(name, made);
  return made;
}

/** Returns the shortest sequence that changes one state into another; empty if they look the same. */
function formatSgrChange(from: SgrState, to: SgrState): string {
  const changes = listChanges(from, to);
  if (changes.length === 0) return "";
  const anew = listChanges(DEFAULT_SGR, to);
  const [change, reset] = [changes.join(";"), anew.length === 0 ? "" : `0;${anew.join(";")}`];
  return `\x1b[${reset.length < change.length ? reset : change}m`;
}

/** Returns what is visible of a state in a blank: the same object for all states in which a blank looks the same. */
export function toBlankState(state: SgrState): SgrState {
  if (state.foreground === "" && state.attributes.length === 0) return state;
  const isMarked = state.attributes.includes(UNDERLINED) || state.attributes.includes(INVERSE);
  return isMarked ? state : internState("", state.background, []);
}

function listChanges(from: SgrState, to: SgrState): string[] {
  const off = new Set(
    from.attributes.filter((one) => !to.attributes.includes(one)).map((one) => OFF[one] as string),
  );
  const kept = from.attributes.filter((one) => !off.has(OFF[one] as string));
  const on = to.attributes.filter((one) => !kept.includes(one));
  return [
    ...off,
    ...on,
    ...(from.foreground === to.foreground ? [] : [to.foreground || "39"]),
    ...(from.background === to.background ? [] : [to.background || "49"]),
  ];
}

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
