import {
  chmodSync,
  chownSync,
  closeSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { describeFileError, EXIT, SignalboxError } from "../../core/base/errors.ts";
import type { JsonFault } from "../../core/base/json-fault.ts";
import type { CommandIo } from "./command.ts";

/** Largest number of faults that are reported; further ones are only counted. */
const MAX_REPORTED_FAULTS = 20;
const MIB_BYTES = 1024 * 1024;
/** Largest document. More, as from a device without end, would use up the memory of the host. */
const MOST_BYTES = 64 * MIB_BYTES;
const READ_BYTES = 64 * 1024;

/**
 * Reads the text of a document.
 * @param file  `-` for standard input
 * @throws SignalboxError 74
 */
export async function readDocumentText(io: CommandIo, file: string): Promise<string> {
  const text = file === "-" ? checkUtf8(await io.readInput()) : readTextFile(file);
  return text.replace(/^\ufeff/, ""); // the byte order mark that some editors put before a text
}

export function formatDocumentName(file: string): string {
  return file === "-" ? "standard input" : file;
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
    return new TextDecoder("utf-8", { fatal: true }).decode(readWhole(file));
  } catch (cause) {
    const why = cause instanceof TypeError ? "it is not UTF-8" : describeFileError(cause);
    throw new SignalboxError(EXIT.io, `cannot read ${file}: ${why}`, { cause });
  }
}

/** Reads a file, which may be a pipe. @throws Error if it does not end, as /dev/zero, or is too large */
function readWhole(file: string): Buffer {
  const open = openSync(file, "r");
  try {
    const chunks: Buffer[] = [];
    for (let length = 0; length <= MOST_BYTES; ) {
      const chunk = Buffer.alloc(READ_BYTES);
      const read = readSync(open, chunk);
      if (read === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, read));
      length += read;
    }
  } finally {
    closeSync(open);
  }
  throw new Error(`it has more than ${MOST_BYTES / MIB_BYTES} MiB`);
}

/** Formats faults as compilers do: `FILE:12:5: what`. */
export function formatFaultLines(file: string, faults: readonly JsonFault[]): string[] {
  const lines = faults
    .slice(0, MAX_REPORTED_FAULTS)
    .map(({ line, column, what }) => `${file}:${line}:${column}: ${what}`);
  return faults.length > MAX_REPORTED_FAULTS
    ? [...lines, `and ${faults.length - MAX_REPORTED_FAULTS} more faults`]
    : lines;
}

/** Replaces the text of a file. Pipes and devices are written to directly. @throws SignalboxError 74 */
export function replaceFileText(file: string, text: string): void {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) replaceFile(file, text);
    else if (stat.isFile()) replaceFile(realpathSync(file), text, stat);
    else writeFileSync(file, text);
  } catch (cause) {
    const message = `cannot write ${file}: ${describeFileError(cause)}; nothing was written`;
    throw new SignalboxError(EXIT.io, message, { cause });
  }
}

/**
 * Replaces a file atomically, so that a reader gets the old or the new text.
 * @param old  the file whose mode is kept, and whose owner is kept if this process is root
 */
function replaceFile(file: string, text: string, old?: Stats): void {
  const part = `${file}.${process.pid}.part`;
  try {
    // Only this user can read it until it has the old mode: a crontab may contain passwords.
    writeFileSync(part, text, { flag: "wx", flush: true, ...(old !== undefined && { mode: 0o600 }) });
    if (old !== undefined && process.geteuid?.() === 0) chownSync(part, old.uid, old.gid);
    if (old !== undefined) chmodSync(part, old.mode & 0o777);
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}
