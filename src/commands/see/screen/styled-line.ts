import { applySgrParameters, DEFAULT_SGR, type SgrState, toBlankState } from "./sgr-state.ts";

/** A line as the cells of a terminal, each of one column. Blanks at its end that show nothing are left out. */
export interface StyledLine {
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
export function parseStyledLine(line: string): StyledLine | undefined {
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
