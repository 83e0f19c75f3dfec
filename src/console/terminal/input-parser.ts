import { cleanInput } from "../../core/base/text.ts";
import {
  ALT_BIT,
  type AnswerString,
  createControlKey,
  createNamedKey,
  createTypedKey,
  type InputEvent,
  isReportStarted,
  LONGEST_REPORT,
  parseStringReport,
  SHIFT_BIT,
  type TerminalReport,
} from "./input-event.ts";
import { type InputPiece, type ParserMode, parseCsiSequence, parseSs3Sequence } from "./key-sequences.ts";

/**
 * The kind of incomplete input, for `flush`. `report`: an answer of the terminal has certainly begun, and its rest must
 * not be taken for keys, however late it arrives.
 */
type PendingInput = "escape" | "sequence" | "report" | "paste";

/** Input from the terminal: events of the user, and answers. */
type TerminalInput = InputEvent | TerminalReport;

/**
 * How long to wait for the rest of incomplete input, ms. After Escape, the user notices the wait. A sequence that has
 * begun is not a key, and slow lines split sequences: its end must not be taken for keys.
 */
const INPUT_TIMEOUTS_MS: Readonly<Record<PendingInput, number>> = {
  escape: 40,
  sequence: 1_000,
  report: 10_000,
  paste: 1_000,
};

/**
 * The same for an Escape that is unlikely to be the key: the terminal owes an answer, which the Escape may begin, or
 * the keyboard sends a whole sequence for the key.
 */
const UNLIKELY_ESCAPE_TIMEOUT_MS = 250;

/** Calls `then` once after some ms. @returns a function that cancels the call */
type TimeoutFunction = (milliseconds: number, then: () => void) => () => void;

/** Receives the bytes of a terminal. */
interface KeyReader {
  feed(bytes: Uint8Array): void;
  /** Sets whether the terminal owes an answer. Until it answers, an Escape may begin the answer. */
  expectReport(isExpected: boolean): void;
  /** The terminal sends a sequence for the Escape key (kitty's protocol): an Escape alone begins another one. */
  expectCodedKeys(): void;
  /** Stops all events of the user, including those of the bytes just read. */
  end(): void;
}

/**
 * Creates a reader that converts terminal input to events, with the timer that distinguishes Escape from the start of
 * a sequence.
 * @param onReport  receives answers of the terminal, also after `end`
 */
export function createKeyReader(
  onEvent: (event: InputEvent) => void,
  onReport: (report: TerminalReport) => void = () => {},
  startTimeout: TimeoutFunction = startTimer,
): KeyReader {
  const parser = new InputParser();
  let cancel: (() => void) | undefined;
  let [hasEnded, isExpecting, isCoded] = [false, false, false];
  const emitInput = (input: readonly TerminalInput[]) => {
    for (const one of input) {
      if (one.kind === "report") onReport(one);
      else if (!hasEnded) onEvent(isCoded ? toUsualEnter(one) : one);
    }
  };
  return {
    feed(bytes) {
      cancel?.();
      cancel = undefined;
      emitInput(parser.feed(bytes));
      const { pending } = parser;
      if (pending === undefined || (hasEnded && !isExpecting)) return;
      const patience =
        pending === "escape" && (isExpecting || isCoded)
          ? UNLIKELY_ESCAPE_TIMEOUT_MS
          : INPUT_TIMEOUTS_MS[pending];
      cancel = startTimeout(patience, () => emitInput(parser.flush()));
    },
    expectReport(isExpected) {
      isExpecting = isExpected;
    },
    expectCodedKeys() {
      isCoded = true;
    },
    end() {
      hasEnded = true;
      cancel?.();
    },
  };
}

/** Converts Enter with Shift or Ctrl to Enter. Terminals without coded keys do not report these modifiers. */
function toUsualEnter(event: InputEvent): InputEvent {
  const isEnter = event.kind === "key" && /^(?:ctrl\+)?(?:shift\+)?enter$/.test(event.chord);
  return isEnter ? { kind: "key", chord: "enter" } : event;
}

function startTimer(milliseconds: number, then: () => void): () => void {
  const timer = setTimeout(then, milliseconds);
  return () => clearTimeout(timer);
}

/** Ctrl+C, also in kitty's protocol. */
const CTRL_C = /^(?:\x03|\x1b\[99;5u)$/;

/** The rest of an answer. Nobody types this. */
const LATE_ANSWER = /^(?:\[\?|\]11;|P[01][+$]r)/;

/** The beginning of an answer. No key sequence begins like this. */
const STARTED_ANSWER = /^(?:\x1b\[|\x9b)\?/;

/**
 * Converts the bytes of a terminal to events. Has no timers: the caller calls `flush` when nothing has arrived for a
 * while, which distinguishes the Escape key from the start of a sequence. Unknown sequences are skipped as a whole
 * and never become keys.
 */
export class InputParser {
  /** Bytes that are not parsed yet, one character each. */
  #rest = "";
  #within: ParserMode | undefined;
  /** Whether nothing has arrived for a while within a paste. */
  #hasPaused = false;
  /** Whether an Escape alone was the last key. */
  #isAfterEscape = false;
  /** The bytes of the current paste, one character each. */
  #paste = "";
  /** The text of the current OSC or DCS string, if it may be an answer. */
  #string = "";

  /**
   * The kind of incomplete input: an Escape, a sequence or a paste; undefined if there is none. A paste may take any
   * time.
   */
  get pending(): PendingInput | undefined {
    if (this.#within === "paste") return "paste";
    if (isAnswerString(this.#within) && isReportStarted(this.#within, this.#string)) return "report";
    if (this.#within !== undefined) return "sequence";
    if (this.#rest === "") return undefined;
    if (STARTED_ANSWER.test(this.#rest)) return "report";
    return /^\x1b+$/.test(this.#rest) ? "escape" : "sequence";
  }

  feed(bytes: Uint8Array): TerminalInput[] {
    const read = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
    // The end of a paste can get lost. Then Ctrl+C, alone and after a pause, is the only way out.
    if (this.#hasPaused && CTRL_C.test(read)) this.#abandon();
    this.#hasPaused = false;
    // The rest of an answer whose first byte came so early that it was taken for the Escape key.
    if (this.#isAfterEscape && LATE_ANSWER.test(read)) this.#rest = "\x1b";
    this.#isAfterEscape = false;
    this.#rest += read;
    return this.#parse(false);
  }

  /** Parses the remaining bytes as complete, because nothing has arrived for a while. */
  flush(): TerminalInput[] {
    if (this.#within === "paste") {
      this.#hasPaused = true;
      return [];
    }
    // The start of an end marker that did not complete is not an Escape key.
    if (this.#within !== undefined) this.#rest = "";
    this.#within = undefined;
    this.#isAfterEscape = this.#rest === "\x1b";
    return this.#parse(true);
  }

  #abandon(): void {
    this.#paste = "";
    this.#within = undefined;
    this.#rest = "";
  }

  #parse(isAll: boolean): TerminalInput[] {
    const events: TerminalInput[] = [];
    while (this.#rest !== "") {
      const piece = this.#parsePiece(isAll);
      if (piece === undefined) break;
      this.#rest = this.#rest.slice(piece.length);
      if (piece.begins !== undefined) [this.#within, this.#string] = [piece.begins, ""];
      if (piece.event !== undefined) events.push(piece.event);
    }
    return events;
  }

  #parsePiece(isAll: boolean): InputPiece | undefined {
    switch (this.#within) {
      case "paste":
        return this.#takePaste();
      case "osc":
      case "dcs":
      case "string":
        return this.#skipString();
      case "csi":
        return this.#skipOverlong();
      default:
        return parseInputPiece(this.#rest.slice(0, MAX_SEQUENCE_BYTES), isAll);
    }
  }

  /** Takes bytes of a paste, up to the end marker of the terminal. */
  #takePaste(): InputPiece | undefined {
    const end = this.#rest.indexOf(PASTE_END);
    // The end marker may have arrived in part.
    const length = end >= 0 ? end : Math.max(0, this.#rest.length - PASTE_END.length + 1);
    this.#paste += this.#rest.slice(0, Math.min(length, LONGEST_PASTE - this.#paste.length));
    if (end < 0) return length === 0 ? undefined : { length };
    const text = cleanPaste(Buffer.from(this.#paste, "latin1").toString("utf8"));
    this.#paste = "";
    return { ...this.#leaveMode(length + PASTE_END.length), event: { kind: "paste", text } };
  }

  /** Takes a string up to BEL or ESC \; a new sequence ends it too. */
  #skipString(): InputPiece | undefined {
    const end = /[\x07\x1b\x18\x1a]/.exec(this.#rest);
    const length = end?.index ?? this.#rest.length;
    this.#string = (this.#string + this.#rest.slice(0, length)).slice(0, LONGEST_REPORT + 1);
    if (end === null) return { length };
    if (end[0] !== "\x1b") return this.#endString(length + 1, end[0] === "\x07");
    const next = this.#rest[length + 1];
    if (next !== undefined) return this.#endString(next === "\\" ? length + 2 : length, next === "\\");
    this.#rest = this.#rest.slice(length); // its text is kept already
    return undefined;
  }

  /** @param isWhole  whether it ended properly, not by another sequence */
  #endString(length: number, isWhole: boolean): InputPiece {
    const kind = this.#within;
    const report = isWhole && isAnswerString(kind) ? parseStringReport(kind, this.#string) : undefined;
    return { ...this.#leaveMode(length), event: report };
  }

  /** Skips the rest of a sequence that is too long to be a key. */
  #skipOverlong(): InputPiece {
    const end = /[^ -?]/.exec(this.#rest);
    if (end === null) return { length: this.#rest.length };
    return this.#leaveMode(/[@-~]/.test(end[0]) ? end.index + 1 : end.index);
  }

  #leaveMode(length: number): InputPiece {
    this.#within = undefined;
    return { length };
  }
}

/** Maximum number of bytes kept of a paste. The rest is dropped. */
const LONGEST_PASTE = 1 << 20;

const PASTE_END = "\x1b[201~";

/** Normalizes line breaks, which terminals send as Enter, and removes terminal control sequences. */
function cleanPaste(text: string): string {
  const lines = text.split(/\r\n?|\n/);
  return lines.map((line) => cleanInput(line)).join("\n");
}

/** Maximum number of bytes examined for one piece. No key sequence is longer. */
const MAX_SEQUENCE_BYTES = 256;

/** A parsed piece, or undefined if its end has not arrived yet. */
type ParsedPiece = InputPiece | undefined;

/**
 * Parses the piece at the beginning of the input, which holds one character for each byte.
 * @param isAll  no more bytes follow: an incomplete piece produces no event
 * @returns undefined if the end of the piece has not arrived yet; never with `isAll`
 */
function parseInputPiece(rest: string, isAll: boolean): ParsedPiece {
  const first = rest.charCodeAt(0);
  if (first === 0x1b) return parseEscape(rest, isAll);
  if (first < 0x20 || first === 0x7f) return { length: 1, event: createControlKey(first) };
  if (first >= 0x80 && first < 0xa0) return parseEightBit(rest, first, isAll);
  return parseCharacter(rest, isAll, 0);
}

/** Parses what follows an Escape. */
function parseEscape(rest: string, isAll: boolean): ParsedPiece {
  switch (rest[1]) {
    case undefined:
      return isAll ? { length: 1, event: createNamedKey("escape") } : undefined;
    case "[":
      return parseCsiSequence(rest, 0, isAll);
    case "O":
      return parseSs3Sequence(rest, 0, isAll);
    case "]":
    case "P":
    case "X":
    case "^":
    case "_":
      return parseString(rest, isAll);
    case "\x1b":
      return parseDoubleEscape(rest, isAll);
    default:
      return parseAlt(rest, isAll);
  }
}

/** Strings that may be answers, by the byte after the Escape. */
const STRINGS: Readonly<Record<string, AnswerString>> = { "]": "osc", P: "dcs" };

const isAnswerString = (mode: ParserMode | undefined): mode is AnswerString =>
  mode === "osc" || mode === "dcs";

/**
 * Parses the start of OSC, DCS, SOS, PM and APC. If nothing follows, or another sequence such as an answer of the terminal,
 * it is a letter typed with Alt.
 */
function parseString(rest: string, isAll: boolean): ParsedPiece {
  if (rest[2] === "\x1b" && rest[3] !== "\\")
    return rest[3] === undefined && !isAll ? undefined : parseAlt(rest, isAll);
  if (rest.length > 2) return { length: 2, begins: STRINGS[rest[1] ?? ""] ?? "string" };
  return isAll ? parseAlt(rest, isAll) : undefined;
}

/** Parses two Escapes: the Escape key, or rxvt's encoding of keys with Alt. */
function parseDoubleEscape(rest: string, isAll: boolean): ParsedPiece {
  const third = rest[2];
  if (third === undefined && !isAll) return undefined;
  const key: InputPiece = { length: 1, event: createNamedKey("escape") };
  const piece =
    third === "[" ? parseCsiSequence(rest, 1, isAll) : third === "O" ? parseSs3Sequence(rest, 1, isAll) : key;
  // A paste or a click has no Alt modifier: the first Escape was the key, and the rest followed at once.
  const isOther = piece?.begins === "paste" || (piece?.event !== undefined && piece.event.kind !== "key");
  return isOther ? key : piece;
}

function parseAlt(rest: string, isAll: boolean): ParsedPiece {
  const code = rest.charCodeAt(1);
  // A slow line delivers Escape together with the next key. Ctrl+C must work then too.
  if (code === 0x03) return { length: 1, event: createNamedKey("escape") };
  // The Linux console's Shift+Tab. Window managers use Alt+Tab, so it does not reach a terminal.
  if (code === 0x09) return { length: 2, event: createNamedKey("tab", SHIFT_BIT) };
  if (code < 0x20 || code === 0x7f) return { length: 2, event: createControlKey(code, ALT_BIT) };
  const piece = parseCharacter(rest.slice(1), isAll, ALT_BIT);
  return piece && { ...piece, length: piece.length + 1 };
}

/**
 * Parses 8-bit codes, one byte instead of two at the start of a sequence. Few terminals send them, but the rest of
 * such a sequence must not be taken for typed text.
 */
function parseEightBit(rest: string, first: number, isAll: boolean): ParsedPiece {
  const second = String.fromCharCode(first - 0x40);
  if (!/[O[\]PX^_]/.test(second)) return { length: 1 };
  const piece = parseEscape(`\x1b${second}${rest.slice(1)}`, isAll);
  if (piece === undefined) return undefined;
  return rest.length === 1 ? { length: 1 } : { ...piece, length: piece.length - 1 };
}

/** Parses a UTF-8 character. Invalid bytes are skipped. */
function parseCharacter(rest: string, isAll: boolean, modifiers: number): ParsedPiece {
  const { text, length } = decodeUtf8(rest);
  if (length === undefined) return isAll ? { length: rest.length } : undefined;
  if (text === undefined || /[\u0080-\u009f]/.test(text)) return { length };
  return { length, event: createTypedKey(text, modifiers) };
}

/** Returns the length of a character in bytes, by its first byte, or 0 if no character starts with it. */
function getUtf8Length(first: number): number {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/**
 * Decodes the character at the beginning of the input, which holds one character for each byte.
 * @returns its length in bytes, undefined if its end has not arrived yet; and its text, undefined for invalid bytes:
 * an interrupted character is skipped as a whole
 */
function decodeUtf8(bytes: string): { text: string | undefined; length: number | undefined } {
  const length = getUtf8Length(bytes.charCodeAt(0));
  if (length === 0) return { text: undefined, length: 1 };
  const [own = ""] = /^.[\x80-\xbf]*/s.exec(bytes.slice(0, length)) ?? [];
  if (own.length < length) return { text: undefined, length: own === bytes ? undefined : own.length };
  const text = Buffer.from(own, "latin1").toString("utf8");
  const isNone = text.includes("\ufffd") && own !== "\xef\xbf\xbd";
  return { text: isNone ? undefined : text, length };
}
