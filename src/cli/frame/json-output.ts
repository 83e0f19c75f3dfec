import { escapeCodeUnits } from "../../core/base/text.ts";
import type { CommandIo } from "./command.ts";

/** Formats a JSON document for programs: one line, with the version of its format. */
export function formatJsonDocument(document: object): string {
  return [...formatJsonPieces(document)].join("");
}

/** The length of a piece, in characters: writes are not much smaller. */
export const JSON_PIECE_LENGTH = 65_536;

/** Formats the same document in pieces, so that a long list need not be in memory. The items of a list may be made as they are taken. */
export function* formatJsonPieces(document: object): Generator<string> {
  let [piece, separator] = ["", "{"];
  for (const [name, value] of Object.entries({ version: 1, ...document })) {
    if (value === undefined) continue;
    piece += `${separator}${formatJsonText(name)}:`;
    separator = ",";
    if (!isIterable(value)) {
      piece += formatJsonText(value);
      continue;
    }
    let mark = "[";
    for (const item of value) {
      piece += mark + formatJsonText(item);
      mark = ",";
      if (piece.length < JSON_PIECE_LENGTH) continue;
      yield piece;
      piece = "";
    }
    piece += mark === "[" ? "[]" : "]";
  }
  yield `${piece}}\n`;
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}

/** Prints a result: with `--json` as a document, otherwise as text. */
export function printResult(
  { flags, io }: { flags: { json?: true }; io: Pick<CommandIo, "writeOutput"> },
  document: object,
  formatText: () => string,
): void {
  io.writeOutput(flags.json ? formatJsonDocument(document) : formatText());
}

/** Formats one line of JSON. A bigint becomes decimal text. Characters that a terminal would interpret are escaped. */
export function formatJsonLine(document: object): string {
  return `${formatJsonText(document)}\n`;
}

/** Formats the text of `formatJsonLine` without the line end. */
export function formatJsonText(document: unknown): string {
  const toPlainValue = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
  return escapeInvisible(JSON.stringify(document, toPlainValue));
}

/** Escapes invisible characters, and characters that a terminal would interpret, in a JSON text. */
export function escapeInvisible(text: string): string {
  const unseen = /[\x7f-\x9f\u2028\u2029\p{Default_Ignorable_Code_Point}]/gu; // created on first use
  return text.replace(unseen, escapeCodeUnits);
}
