import type { InputEvent } from "../../../src/console/terminal/input-event.ts";
import { InputParser } from "../../../src/console/terminal/input-parser.ts";

/** Parses several reads until the end of input, without answers of the terminal. Texts are UTF-8. */
export function parseReads(...reads: (string | Uint8Array)[]): InputEvent[] {
  const parser = new InputParser();
  const events = reads.flatMap((read) => parser.feed(typeof read === "string" ? Buffer.from(read) : read));
  return [...events, ...parser.flush()].filter((one) => one.kind !== "report");
}

/** Parses reads, and formats each event as a word. */
export function parseChords(...reads: (string | Uint8Array)[]): string[] {
  return parseReads(...reads).map((event) => (event.kind === "key" ? event.chord : event.kind));
}
