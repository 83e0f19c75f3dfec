import { escapeCodeUnits } from "../../core/base/text.ts";
import type { CommandIo } from "./command.ts";

/** Formats a JSON document for programs: one line, with the version of its format. */
export function formatJsonDocument(document: object): string {
  return formatJsonLine({ version: 1, ...document });
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
export function formatJsonText(document: object): string {
  const toPlainValue = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
  return escapeInvisible(JSON.stringify(document, toPlainValue));
}

/** Escapes invisible characters, and characters that a terminal would interpret, in a JSON text. */
export function escapeInvisible(text: string): string {
  const unseen = /[\x7f-\x9f\u2028\u2029\p{Default_Ignorable_Code_Point}]/gu; // created on first use
  return text.replace(unseen, escapeCodeUnits);
}
