import { ALT, controlKey, namedKey, typedKey } from "./chord.ts";
import { csiEvent } from "./csi.ts";
import type { InputEvent } from "./event.ts";
import { SS3 } from "./names.ts";
import { PasteBuffer } from "./paste.ts";
import { utf8At } from "./utf8.ts";

/** Longest sequence that is a key; of a longer one nothing is made. */
const LONGEST = 64;
const PASTE_BEGIN = "\x1b[200~";

/** What a piece of input is: an event or nothing, and how long it is. Undefined: its end is still to come. */
type Piece = { length: number; event?: InputEvent | undefined; then?: "string" | "paste" } | undefined;

/**
 * What a terminal sends, as events. Pure: whoever feeds it calls `flush` when nothing has come for a while, which tells the
 * key Escape from the beginning of something else. What nobody knows is swallowed as a whole: it must never come out as keys.
 */
export class InputParser {
  /** Bytes whose meaning is still open, one character each. */
  #rest = "";
  /** Within OSC, DCS and the like, or within a paste. */
  #within: "string" | "paste" | undefined;
  readonly #paste = new PasteBuffer();

  /**
   * What a `flush` would decide: whether Escape was pressed, or that the end of something will not come. Undefined: nothing is
   * open. A paste goes on for as long as it takes.
   */
  get open(): "escape" | "sequence" | undefined {
    if (this.#within === "paste") return undefined;
    if (this.#rest === "" && this.#within === undefined) return undefined;
    return this.#rest === "\x1b" && this.#within === undefined ? "escape" : "sequence";
  }

  feed(bytes: Uint8Array): InputEvent[] {
    this.#rest += Buffer.from(bytes).toString("latin1");
    return this.#parse(false);
  }

  /** Nothing has come for a while: what is there is all there is. */
  flush(): InputEvent[] {
    if (this.#within === "paste") return [];
    if (this.#within === "string") this.#within = undefined;
    return this.#parse(true);
  }

  #parse(isAll: boolean): InputEvent[] {
    const events: InputEvent[] = [];
    while (this.#rest !== "") {
      const piece = this.#piece(isAll);
      if (piece === undefined) break;
      this.#rest = this.#rest.slice(piece.length);
      if (piece.then !== undefined) this.#within = piece.then;
      if (piece.event !== undefined) events.push(piece.event);
    }
    return events;
  }

  #piece(isAll: boolean): Piece {
    if (this.#within === "paste") return this.#pasted();
    if (this.#within === "string") return this.#string();
    return pieceOf(this.#rest, isAll);
  }

  #pasted(): Piece {
    const { length, text } = this.#paste.take(this.#rest);
    if (text === undefined) return length === 0 ? undefined : { length };
    this.#within = undefined;
    return { length, event: { kind: "paste", text } };
  }

  /** Up to BEL or ESC \; a new sequence ends it too. */
  #string(): Piece {
    const end = /[\x07\x1b\x18\x1a]/.exec(this.#rest);
    if (end === null) return { length: this.#rest.length };
    if (this.#rest[end.index] !== "\x1b") return this.#leave(end.index + 1);
    const next = this.#rest[end.index + 1];
    if (next === undefined) return end.index === 0 ? undefined : { length: end.index };
    return this.#leave(next === "\\" ? end.index + 2 : end.index);
  }

  #leave(length: number): Piece {
    this.#within = undefined;
    return { length };
  }
}

function pieceOf(rest: string, isAll: boolean): Piece {
  const [first = ""] = rest;
  if (first === "\x1b") return escaped(rest, isAll);
  if (first < " " || first === "\x7f") return { length: 1, event: controlKey(first.charCodeAt(0)) };
  return character(rest, isAll, 0);
}

/** What stands behind an Escape. */
function escaped(rest: string, isAll: boolean): Piece {
  const second = rest[1];
  if (second === undefined) return isAll ? { length: 1, event: namedKey("escape") } : undefined;
  switch (second) {
    case "[":
      return csi(rest, 0, isAll);
    case "O":
      return ss3(rest, 0, isAll);
    case "]":
    case "P":
    case "X":
    case "^":
    case "_":
      // Alone, it is a letter typed with Alt.
      return rest.length === 2
        ? isAll
          ? altCharacter(rest, isAll)
          : undefined
        : { length: 2, then: "string" };
    case "\x1b":
      return doubled(rest, isAll);
    default:
      return altCharacter(rest, isAll);
  }
}

/** Escape twice: the key, unless it is how rxvt sends keys with Alt. */
function doubled(rest: string, isAll: boolean): Piece {
  const third = rest[2];
  if (third === "[") return csi(rest, 1, isAll);
  if (third === "O") return ss3(rest, 1, isAll);
  if (third === undefined && !isAll) return undefined;
  return { length: 1, event: namedKey("escape") };
}

function altCharacter(rest: string, isAll: boolean): Piece {
  const second = rest[1] ?? "";
  if (second < " " || second === "\x7f") return { length: 2, event: controlKey(second.charCodeAt(0), ALT) };
  const piece = character(rest.slice(1), isAll, ALT);
  return piece && { ...piece, length: piece.length + 1 };
}

/** @param skip  Escapes before the one that begins it */
function csi(rest: string, skip: number, isAll: boolean): Piece {
  const body = rest.slice(skip + 2);
  if (body.startsWith("[")) return linuxKey(rest, skip, isAll);
  if (body.startsWith("M")) return oldMouse(rest, skip, isAll);
  const match = /^([<-?]?)([0-9:;]*)([ -/]*)([@-~])/.exec(body) ?? /^()(\d+)()(\$)(?![@-~])/.exec(body);
  if (match === null) return brokenCsi(rest, body, skip, isAll);
  const [whole, prefix = "", parameters = "", intermediates = "", final = ""] = match;
  const length = skip + 2 + whole.length;
  if (rest.startsWith(PASTE_BEGIN)) return { length, then: "paste" };
  return { length, event: csiEvent({ prefix, parameters, intermediates, final }, skip > 0) };
}

/** A sequence that is not complete, or none: up to where it broke off nothing comes of it. */
function brokenCsi(rest: string, body: string, skip: number, isAll: boolean): Piece {
  const [taken = ""] = /^[ -?]*/.exec(body) ?? [];
  const length = skip + 2 + taken.length;
  const isOpen = taken.length === body.length;
  if (isOpen && !isAll) return taken.length < LONGEST ? undefined : { length, then: "string" };
  if (isOpen && body === "" && skip === 0) return { length: rest.length, event: typedKey("[", ALT) };
  return { length };
}

/** `ESC [ [ A`, the Linux console's F1 to F5. */
function linuxKey(rest: string, skip: number, isAll: boolean): Piece {
  const letter = rest[skip + 3];
  if (letter === undefined) return isAll ? { length: rest.length } : undefined;
  const at = "ABCDE".indexOf(letter);
  return { length: skip + 4, event: at < 0 ? undefined : namedKey(`f${at + 1}`) };
}

/** X10's clicks, three bytes behind `ESC [ M`: nobody asked for them. */
function oldMouse(rest: string, skip: number, isAll: boolean): Piece {
  const length = skip + 6;
  if (rest.length < length && !isAll) return undefined;
  return { length: Math.min(length, rest.length) };
}

function ss3(rest: string, skip: number, isAll: boolean): Piece {
  const match = /^(\d{0,2})([ -~])/.exec(rest.slice(skip + 2));
  if (match === null) {
    if (rest.length > skip + 4) return { length: skip + 2 };
    if (!isAll && rest.length <= skip + 4)
      return rest.length > skip + 2 && !/^\d*$/.test(rest.slice(skip + 2)) ? { length: skip + 2 } : undefined;
    return { length: rest.length, event: skip === 0 && rest.length === 2 ? typedKey("O", ALT) : undefined };
  }
  const [whole, modifier = "", letter = ""] = match;
  const name = SS3[letter];
  const modifiers = Math.max(0, (Number.parseInt(modifier, 10) || 1) - 1) | (skip > 0 ? ALT : 0);
  return {
    length: skip + 2 + whole.length,
    event: name === undefined ? undefined : namedKey(name, modifiers),
  };
}

/** A character of UTF-8; bytes that are none are passed over. */
function character(rest: string, isAll: boolean, modifiers: number): Piece {
  const found = utf8At(rest);
  if (found === "more") return isAll ? { length: rest.length } : undefined;
  if (found === undefined) return { length: 1 };
  const isShown = !/[\u0080-\u009f]/.test(found.text);
  return { length: found.length, event: isShown ? typedKey(found.text, modifiers) : undefined };
}
