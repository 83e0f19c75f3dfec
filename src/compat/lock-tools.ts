import { collectTexts, quoteText } from "../base/text.ts";
import { removeReleaseNames } from "../syntax/release-path.ts";

/** The lock for a locked file. Lines with the same file share one lock, even with different tools. */
interface FileLock {
  lock: string;
  notes: readonly string[];
}

/** Matches a relative path. A path that starts with an expansion may be absolute. */
const RELATIVE = /^[^/~\ue000-\uf8ff]/;

/** Builds the lock for a file. @param tool  its name, for the notes */
export function buildFileLock(tool: string, path: string): FileLock {
  const file = normalizePath(path);
  const lock = removeReleaseNames(file);
  return {
    lock,
    notes: collectTexts([
      formatOneHostNote(tool),
      RELATIVE.test(path) &&
        `${quoteText(path)} is a different file in each folder, but one lock here: give the lines of each folder a lock name of their own`,
      lock !== file &&
        "the lock name leaves out the release, so that it stays the same with the next release",
    ]),
  };
}

/** Returns the note that a lock on one host becomes a lock on all hosts. */
export function formatOneHostNote(tool: string): string {
  return `${tool} locks on one host, signalbox run on all hosts: while one host has the lock, the others do not run the command (for a lock per host: --lock "$(hostname):NAME")`;
}

/** Normalizes paths of the same file on Linux: /var/lock leads to /run/lock, and /var/run to /run. */
function normalizePath(path: string): string {
  return path
    .replace(/\/{2,}/g, "/")
    .replace(/\/(?:\.\/)+/g, "/")
    .replace(/^\/(?:var\/)?run\/lock\//, "/var/lock/")
    .replace(/^\/var\/run\//, "/run/");
}
