import { readFileSync } from "node:fs";
import { EXIT, SignalboxError } from "../../base/errors.ts";
import type { JsonFault } from "../../base/json.ts";
import type { Surroundings } from "../spec.ts";

/** Faults that are told; of more, only how many they are. */
const MANY = 20;

/** The text of a document. @param file  `-` is standard input. @throws SignalboxError 74 */
export async function documentInput(world: Surroundings, file: string): Promise<string> {
  return withoutMark(file === "-" ? whole(await world.input()) : textOf(file));
}

/** What is not UTF-8 was replaced on the way in: names would run together, and data would be lost. */
function whole(text: string): string {
  const at = text.indexOf("\ufffd");
  if (at < 0) return text;
  const line = text.slice(0, at).split("\n").length;
  throw new SignalboxError(EXIT.io, `standard input cannot be read: line ${line} is not UTF-8`);
}

function textOf(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (cause) {
    const why = cause instanceof TypeError ? "it is not UTF-8" : (cause as Error).message;
    throw new SignalboxError(EXIT.io, `${file} cannot be read: ${why}`, { cause });
  }
}

/** Some editors put a byte order mark before a text. */
export function withoutMark(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

/** Faults as editors and compilers have them: `FILE:12:5: what`. */
export function faultLines(file: string, faults: readonly JsonFault[]): string[] {
  const lines = faults.slice(0, MANY).map(({ line, column, what }) => `${file}:${line}:${column}: ${what}`);
  return faults.length > MANY ? [...lines, `and ${faults.length - MANY} faults more`] : lines;
}
