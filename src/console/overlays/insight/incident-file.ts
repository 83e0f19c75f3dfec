import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from "node:fs";
import { describeWriteFault, getErrorCode } from "../../export/write-fault.ts";

/**
 * Writes a report to a new file that only its owner can read. Never overwrites a file, and leaves no part of one.
 * @returns why it was not written
 */
export function writeIncidentFile(path: string, text: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, "wx", 0o600);
  } catch (error) {
    return getErrorCode(error) === "EEXIST"
      ? "this file exists already: choose another name"
      : describeWriteFault(error, path);
  }
  try {
    writeFileSync(file, text);
    fsyncSync(file);
    closeSync(file);
    return undefined;
  } catch (error) {
    removePart(file, path);
    return describeWriteFault(error, path);
  }
}

/** Removes a file that this process has created and could not fill. */
function removePart(file: number, path: string): void {
  try {
    closeSync(file);
  } catch {
    // It was closed already.
  }
  try {
    rmSync(path, { force: true });
  } catch {
    // The error that prevented writing is the one that matters.
  }
}
