import { isUtf8 } from "node:buffer";
import { decodeArgument } from "../../base/bytes.ts";
import { type BootTime, toBootTime } from "../../base/clock.ts";
import type { Frame } from "../guarded-command/wire.ts";
import {
  CALL_STATES,
  CALL_VERSION,
  type CallHead,
  type CallState,
  decodeCallHead,
  LAUNCHER_EVENT,
  NOTE_MAX,
} from "./wire.ts";

/** The complete call of a launcher. */
export interface CallRequest {
  pid: number;
  directory: string;
  words: string[];
  settings: Record<string, string>;
  note: string | undefined;
  /** Whether the user of the launcher has a configuration file. */
  hasConfig: boolean;
  state: CallState;
  connectionNumber: number;
  /** When the launcher sent the call. */
  bootTime: BootTime;
  /** Length of words and settings together, bytes. */
  length: number;
}

/** Maximum length of words and settings together, bytes. */
const CALL_MAX = 1024 * 1024;
/** Maximum number of pieces of words and settings: many small ones need much more memory than their bytes. */
const PIECES_MAX = 1024;

/** A call that cannot be served as it was sent: the launcher falls back. The message is the reason. */
export class CallRefusal extends Error {}

/** Collects the frames of a call until it is complete. */
export class CallRequestReader {
  #head: CallHead | undefined;
  #bootTime = toBootTime(0);
  #words: Buffer[] = [];
  #settings: Buffer[] = [];
  #note: Buffer | undefined;
  #hasConfig = false;
  #length = 0;

  /**
   * Adds a frame.
   * @returns the call, when it is complete
   * @throws CallRefusal
   */
  add(frame: Frame): CallRequest | undefined {
    if (frame.kind === LAUNCHER_EVENT.call) this.#addHead(frame);
    else if (this.#head === undefined) throw new CallRefusal("the call does not begin with its head");
    else if (frame.kind === LAUNCHER_EVENT.words) this.#addWords(frame);
    else if (frame.kind === LAUNCHER_EVENT.settings) this.#addPiece(this.#settings, frame.block);
    else if (frame.kind === LAUNCHER_EVENT.note) this.#addNote(frame.block);
    else if (frame.kind === LAUNCHER_EVENT.callEnd) return this.#build(this.#head, frame);
    else throw new CallRefusal(`a call has no frame of kind ${frame.kind}`);
    return undefined;
  }

  #addHead({ a, b, block }: Frame): void {
    if (this.#head !== undefined) throw new CallRefusal("the call has two heads");
    if (b !== CALL_VERSION) throw new CallRefusal(`the launcher speaks version ${b}, not ${CALL_VERSION}`);
    this.#head = decodeCallHead(block);
    if (this.#head === undefined) throw new CallRefusal("the head of the call is malformed");
    this.#bootTime = toBootTime(Number(a) / 1e6);
  }

  #addWords({ a, block }: Frame): void {
    this.#hasConfig ||= a === 1n;
    this.#addPiece(this.#words, block);
  }

  #addPiece(pieces: Buffer[], block: Buffer): void {
    this.#length += block.length;
    if (this.#length > CALL_MAX) throw new CallRefusal("words and settings of more than 1 MiB");
    if (pieces.push(block) > PIECES_MAX) throw new CallRefusal("words or settings in too many pieces");
  }

  #addNote(block: Buffer): void {
    if (this.#note !== undefined || block.length > NOTE_MAX) throw new CallRefusal("the note is malformed");
    this.#note = block;
  }

  #build(head: CallHead, { a, b }: Frame): CallRequest {
    const state = CALL_STATES[Number(a)];
    if (state === undefined) throw new CallRefusal(`a call has no state ${a}`);
    return {
      pid: head.pid,
      state,
      bootTime: this.#bootTime,
      connectionNumber: Number(b),
      length: this.#length,
      hasConfig: this.#hasConfig,
      directory: decodeText(head.directory, "the working directory"),
      words: decodeWords(this.#words),
      settings: parseSettings(splitTexts(this.#settings, "the settings")),
      note: this.#note && decodeText(this.#note, "the note"),
    };
  }
}

function splitTexts(pieces: readonly Buffer[], what: string): string[] {
  const all = Buffer.concat(pieces);
  if (all.length === 0) return [];
  if (all.at(-1) !== 0) throw new CallRefusal(`${what} of the call are malformed`);
  return decodeText(all.subarray(0, -1), what).split("\0");
}

/** Decodes the words of a call. Those of the command of `run` may be any bytes. */
function decodeWords(pieces: readonly Buffer[]): string[] {
  const all = Buffer.concat(pieces);
  const end = all.indexOf("\0--\0") + 1;
  if (end === 0 || isUtf8(all) || !all.toString("latin1", 0, 4).startsWith("run\0"))
    return splitTexts([all], "the words");
  const own = splitTexts([all.subarray(0, end)], "the words");
  if (all.at(-1) !== 0) throw new CallRefusal("the words of the call are malformed");
  const command = all.toString("latin1", end, all.length - 1).split("\0");
  return [...own, ...command.map(decodeArgument)];
}

function decodeText(bytes: Buffer, what: string): string {
  if (isUtf8(bytes)) return bytes.toString();
  throw new CallRefusal(`${what} of the call are not valid UTF-8`);
}

/** Parses environment entries. If two have the same name, the first one counts, as for getenv(3). */
function parseSettings(entries: readonly string[]): Record<string, string> {
  const pairs = entries.map((entry): [string, string] => {
    const equals = entry.indexOf("=");
    if (equals < 1) throw new CallRefusal("the settings of the call are malformed");
    return [entry.slice(0, equals), entry.slice(equals + 1)];
  });
  return Object.fromEntries(pairs.reverse());
}
