import { clean } from "../../base/text.ts";
import type { InputEvent } from "./event.ts";
import { parseInputPiece, WINDOW } from "./parse-piece.ts";
import type { InputPiece, ParserMode } from "./piece.ts";
import { isReportStarted, LONGEST_REPORT, parseOscReport, type TerminalReport } from "./report.ts";

/** Maximum number of bytes kept of a paste. The rest is dropped. */
const MOST = 1 << 20;
const END = "\x1b[201~";

/** Collects a paste up to the end marker of the terminal. */
class PasteBuffer {
  #kept = "";

  /**
   * Takes bytes of the paste.
   * @param rest  bytes, one character each
   * @returns how many bytes were taken, and the text once it is complete
   */
  take(rest: string): { length: number; text: string | undefined } {
    const end = rest.indexOf(END);
    if (end >= 0) {
      this.#keep(rest.slice(0, end));
      const text = cleanPaste(Buffer.from(this.#kept, "latin1").toString("utf8"));
      this.clear();
      return { length: end + END.length, text };
    }
    // The end marker may have arrived in part.
    const safe = Math.max(0, rest.length - END.length + 1);
    this.#keep(rest.slice(0, safe));
    return { length: safe, text: undefined };
  }

  clear(): void {
    this.#kept = "";
  }

  #keep(bytes: string): void {
    this.#kept += bytes.slice(0, Math.max(0, MOST - this.#kept.length));
  }
}

/** Normalizes line breaks, which terminals send as Enter, and removes terminal control sequences. */
function cleanPaste(text: string): string {
  const lines = text.split(/\r\n?|\n/);
  return lines.map((line) => clean(line)).join("\n");
}

/**
 * What kind of input is incomplete, for `flush` to decide. `report`: an answer of the terminal has certainly begun, and
 * its rest must not be taken for keys, however late it is.
 */
export type PendingInput = "escape" | "sequence" | "report" | "paste";

/** What the terminal sends: events of the user, and answers. */
export type TerminalInput = InputEvent | TerminalReport;

const CTRL_C = "\x03";

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
  readonly #paste = new PasteBuffer();
  /** The text of the present OSC string, if it may be an answer. */
  #osc = "";

  /**
   * The kind of incomplete input: an Escape, a sequence or a paste; undefined if there is none. A paste may take any
   * time.
   */
  get pending(): PendingInput | undefined {
    if (this.#within === "paste") return "paste";
    if (this.#within === "osc" && isReportStarted(this.#osc)) return "report";
    if (this.#within !== undefined) return "sequence";
    if (this.#rest === "") return undefined;
    return /^\x1b+$/.test(this.#rest) ? "escape" : "sequence";
  }

  feed(bytes: Uint8Array): TerminalInput[] {
    const read = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
    // The end of a paste can get lost. Then Ctrl+C, alone and after a pause, is the only way out.
    if (this.#hasPaused && read === CTRL_C) this.#abandon();
    this.#hasPaused = false;
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
    return this.#parse(true);
  }

  #abandon(): void {
    this.#paste.clear();
    this.#within = undefined;
    this.#rest = "";
  }

  #parse(isAll: boolean): TerminalInput[] {
    const events: TerminalInput[] = [];
    while (this.#rest !== "") {
      const piece = this.#parsePiece(isAll);
      if (piece === undefined) break;
      this.#rest = this.#rest.slice(piece.length);
      if (piece.begins !== undefined) [this.#within, this.#osc] = [piece.begins, ""];
      if (piece.event !== undefined) events.push(piece.event);
    }
    return events;
  }

  #parsePiece(isAll: boolean): InputPiece | undefined {
    switch (this.#within) {
      case "paste":
        return this.#takePaste();
      case "osc":
      case "string":
        return this.#skipString();
      case "csi":
        return this.#skipOverlong();
      default:
        return parseInputPiece(this.#rest.slice(0, WINDOW), isAll);
    }
  }

  #takePaste(): InputPiece | undefined {
    const { length, text } = this.#paste.take(this.#rest);
    if (text === undefined) return length === 0 ? undefined : { length };
    return { ...this.#leaveMode(length), event: { kind: "paste", text } };
  }

  /** Takes a string up to BEL or ESC \; a new sequence ends it too. */
  #skipString(): InputPiece | undefined {
    const end = /[\x07\x1b\x18\x1a]/.exec(this.#rest);
    const length = end?.index ?? this.#rest.length;
    this.#osc = (this.#osc + this.#rest.slice(0, length)).slice(0, LONGEST_REPORT + 1);
    if (end === null) return { length };
    if (end[0] !== "\x1b") return this.#endString(length + 1, end[0] === "\x07");
    const next = this.#rest[length + 1];
    if (next !== undefined) return this.#endString(next === "\\" ? length + 2 : length, next === "\\");
    this.#rest = this.#rest.slice(length); // its text is kept already
    return undefined;
  }

  /** @param isWhole  it has ended as it must, not by another sequence */
  #endString(length: number, isWhole: boolean): InputPiece {
    const report = this.#within === "osc" && isWhole ? parseOscReport(this.#osc) : undefined;
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
