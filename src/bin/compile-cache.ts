import { mkdirSync, type Stats, statSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { isAbsolute, join } from "node:path";

const WRITABLE_BY_OTHERS = 0o022;

/**
 * Keeps the code that V8 compiles from the program, in the user's folder for caches, so that later starts take less time. Does
 * nothing if others can write there, for they could make this user run their code; and nothing if the folder is that of another
 * user, as after `sudo` with the variables of the caller.
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
  // Failures are part of its result; the code is then compiled as usual.
  if (found !== undefined && (found.mode & WRITABLE_BY_OTHERS) === 0) enableCompileCache(folder);
}

/** Not with `recursive`: Node then never returns where the kernel allows no folders, as in `/proc`. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // it is there, or the next check finds out that it is not
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
