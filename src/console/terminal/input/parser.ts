import type { InputEvent } from "./event.ts";
import { parseInputPiece, WINDOW } from "./parse-piece.ts";
import { PasteBuffer } from "./paste.ts";
import type { InputPiece, ParserMode } from "./piece.ts";

/** What kind of input is incomplete, for `flush` to decide. */
export type PendingInput = "escape" | "sequence" | "paste";

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

  /**
   * The kind of incomplete input: an Escape, a sequence or a paste; undefined if there is none. A paste may take any
   * time.
   */
  get pending(): PendingInput | undefined {
    if (this.#within === "paste") return "paste";
    if (this.#within !== undefined) return "sequence";
    if (this.#rest === "") return undefined;
    return /^\x1b+$/.test(this.#rest) ? "escape" : "sequence";
  }

  feed(bytes: Uint8Array): InputEvent[] {
    const read = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
    // The end of a paste can get lost. Then Ctrl+C, alone and after a pause, is the only way out.
    if (this.#hasPaused && read === CTRL_C) this.#abandon();
    this.#hasPaused = false;
    this.#rest += read;
    return this.#parse(false);
  }

  /** Parses the remaining bytes as complete, because nothing has arrived for a while. */
  flush(): InputEvent[] {
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

  #parse(isAll: boolean): InputEvent[] {
    const events: InputEvent[] = [];
    while (this.#rest !== "") {
      const piece = this.#parsePiece(isAll);
      if (piece === undefined) break;
      this.#rest = this.#rest.slice(piece.length);
      if (piece.begins !== undefined) this.#within = piece.begins;
      if (piece.event !== undefined) events.push(piece.event);
    }
    return events;
  }

  #parsePiece(isAll: boolean): InputPiece | undefined {
    switch (this.#within) {
      case "paste":
        return this.#takePaste();
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

  /** Skips a string up to BEL or ESC \; a new sequence ends it too. */
  #skipString(): InputPiece | undefined {
    const end = /[\x07\x1b\x18\x1a]/.exec(this.#rest);
    if (end === null) return { length: this.#rest.length };
    if (this.#rest[end.index] !== "\x1b") return this.#leaveMode(end.index + 1);
    const next = this.#rest[end.index + 1];
    if (next === undefined) return end.index === 0 ? undefined : { length: end.index };
    return this.#leaveMode(next === "\\" ? end.index + 2 : end.index);
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
