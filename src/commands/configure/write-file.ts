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

/** Replaces the text of a file. Pipes and devices are written to directly. @throws SignalboxError 74 */
export function replaceFileText(file: string, text: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  try {
    if (stat === undefined) replaceFile(file, text);
    else if (stat.isFile()) replaceFile(realpathSync(file), text, stat);
    else writeFileSync(file, text);
  } catch (cause) {
    throw new SignalboxError(EXIT.io, `nothing was written: ${(cause as Error).message}`, { cause });
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
