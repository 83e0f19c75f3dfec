import { readFileSync } from "node:fs";
import { EXIT, SignalboxError } from "../../base/errors.ts";
import type { JsonFault } from "../../base/json-fault.ts";
import type { CommandIo } from "../spec.ts";

/** Largest number of faults that are reported; further ones are only counted. */
const MANY = 20;

/**
 * Reads the text of a document.
 * @param file  `-` for standard input
 * @throws SignalboxError 74
 */
export async function readDocumentText(io: CommandIo, file: string): Promise<string> {
  return removeByteOrderMark(file === "-" ? checkUtf8(await io.readInput()) : readTextFile(file));
}

/**
 * Rejects text that was not UTF-8. Its invalid bytes were replaced when it was read, so names could become equal and
 * data would be lost.
 */
function checkUtf8(text: string): string {
  const at = text.indexOf("\ufffd");
  if (at < 0) return text;
  const line = text.slice(0, at).split("\n").length;
  throw new SignalboxError(EXIT.io, `cannot read standard input: line ${line} is not UTF-8`);
}

function readTextFile(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (cause) {
    const why = cause instanceof TypeError ? "it is not UTF-8" : (cause as Error).message;
    throw new SignalboxError(EXIT.io, `cannot read ${file}: ${why}`, { cause });
  }
}

/** Removes the byte order mark that some editors put before a text. */
export function removeByteOrderMark(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

/** Formats faults as compilers do: `FILE:12:5: what`. */
export function formatFaultLines(file: string, faults: readonly JsonFault[]): string[] {
  const lines = faults.slice(0, MANY).map(({ line, column, what }) => `${file}:${line}:${column}: ${what}`);
  return faults.length > MANY ? [...lines, `and ${faults.length - MANY} more faults`] : lines;
}
