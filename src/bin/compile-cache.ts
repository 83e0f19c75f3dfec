import { mkdirSync, type Stats, statSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { isAbsolute, join } from "node:path";

const WRITABLE_BY_OTHERS = 0o022;

/**
 * Caches the code that V8 compiles from the program in the user's cache folder, so that later starts take less time. Does
 * nothing if other users can write to the folder, because they could make this user run their code, or if the folder belongs
 * to another user, as under `sudo` with the caller's variables.
 */
export function cacheCompiledCode({
  HOME,
  XDG_CACHE_HOME,
}: Readonly<Record<string, string | undefined>>): void {
  const isChosen = XDG_CACHE_HOME !== undefined && isAbsolute(XDG_CACHE_HOME);
  const [first, ...rest] = isChosen ? [XDG_CACHE_HOME, "signalbox"] : [HOME, ".cache", "signalbox"];
  if (first === undefined || findOwnFolder(first) === undefined) return;
  let folder = first;
  let found: Stats | undefined;
  for (const name of rest) {
    folder = join(folder, name);
    makeFolder(folder);
    found = findOwnFolder(folder);
    if (found === undefined) return;
  }
  // Returns failures instead of throwing; the code is then compiled as usual.
  if (found !== undefined && (found.mode & WRITABLE_BY_OTHERS) === 0) enableCompileCache(folder);
}

/**
 * Creates a folder. Does not use `recursive`: with it, Node never returns where the kernel allows no folders, as in
 * `/proc`.
 */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // it exists, or the check that follows finds that it does not
  }
}

/** Returns undefined if a folder does not exist, cannot be read, or belongs to another user. */
function findOwnFolder(folder: string): Stats | undefined {
  try {
    const found = statSync(folder);
    return found.uid === process.getuid?.() ? found : undefined;
  } catch {
    return undefined;
  }
}
