import {
  chmodSync,
  chownSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { EXIT, SignalboxError } from "../../base/errors.ts";

/** A pipe or a device is written to; a file is replaced. @throws SignalboxError 74 */
export function replaceWith(file: string, text: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  try {
    if (stat === undefined) replaceFile(file, text);
    else if (stat.isFile()) replaceFile(realpathSync(file), text, stat);
    else writeFileSync(file, text);
  } catch (cause) {
    throw new SignalboxError(EXIT.io, `nothing was written: ${(cause as Error).message}`, { cause });
  }
}

/** A reader finds the old text or the new one, never half of one. @param old  whose mode it gets, and from root the owner */
function replaceFile(file: string, text: string, old?: Stats): void {
  const part = `${file}.${process.pid}.part`;
  try {
    // For nobody else's eyes until it has the mode of the old one: a crontab may hold passwords.
    writeFileSync(part, text, { flag: "wx", flush: true, ...(old !== undefined && { mode: 0o600 }) });
    if (old !== undefined && process.geteuid?.() === 0) chownSync(part, old.uid, old.gid);
    if (old !== undefined) chmodSync(part, old.mode & 0o777);
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}
