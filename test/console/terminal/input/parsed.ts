import type { InputEvent } from "../../../../src/console/terminal/input/event.ts";
import { InputParser } from "../../../../src/console/terminal/input/parser.ts";

/** What some reads tell, and that nothing more comes: texts are characters of UTF-8. */
export function parsed(...reads: (string | Uint8Array)[]): InputEvent[] {
  const parser = new InputParser();
  const events = reads.flatMap((read) => parser.feed(typeof read === "string" ? Buffer.from(read) : read));
  return [...events, ...parser.flush()];
}

/** The same, in a word each. */
export function chords(...reads: (string | Uint8Array)[]): string[] {
  return parsed(...reads).map((event) => (event.kind === "key" ? event.chord : event.kind));
}
