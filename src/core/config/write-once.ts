import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

/**
 * Writes a file as a whole, unless it exists. The name is given to it last, so that a process that is killed here, or a full
 * disk, leaves no part of it. The draft of a killed process can have two names, so it is replaced, never written to.
 * @param mode  permission bits of the file
 * @throws the system's error
 */
export function writeOnce(path: string, text: string | Uint8Array, mode: number): void {
  const draft = `${path}.${process.pid}`;
  removeIfPresent(draft);
  try {
    const file = openSync(draft, "wx", mode);
    try {
      writeFileSync(file, text);
      fsyncSync(file); // else a power failure can leave the name without the text
    } finally {
      closeSync(file);
    }
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isPresent(path)) throw error;
  } finally {
    removeIfPresent(draft);
  }
}

function removeIfPresent(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was not there, or the error that prevents writing comes next.
  }
}

/** Returns whether there is anything at a path. False if a folder on the way is missing, or closed to this user. */
export function isPresent(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Whether an error says that a file is not there, or only for others: a user without access to it does without it. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** Maximum number of parent folders that are created too: `~/.local/state`. */
const MAX_CREATED_PARENTS = 3;

/**
 * Creates a folder and its parents. Does not use `recursive`: with it, Node never returns where the kernel allows no
 * folders, as in `/proc`.
 */
export function makeFolder(path: string, mode: number, above = MAX_CREATED_PARENTS): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || above === 0) throw error;
    makeFolder(dirname(path), mode, above - 1);
    mkdirSync(path, { mode });
  }
}
