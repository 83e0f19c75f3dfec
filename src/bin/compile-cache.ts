import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { enableCompileCache } from "node:module";
import { dirname, isAbsolute, join } from "node:path";
import type { Script } from "node:vm";

const WRITABLE_BY_OTHERS = 0o022;
/** V8 discards the code of functions that have not been called for a while, ms. */
const CODE_LASTS_MS = 60_000;
/** Code of bundles, also what a process that was killed has begun to write, and Node's folders, one for each of its versions. */
const CODE_NAME = /^((run|front)-[0-9a-f]{16}-v[\d.]+-\w+\.code(\.\d+)?|v[\d.]+-\w+-[0-9a-f]+-\d+)$/;
/** More are of versions that are gone: several installations may be in use. */
const MOST_KEPT_CODES = 8;

type Environment = Readonly<Record<string, string | undefined>>;

/** Caches the code that V8 compiles from the program in the user's cache folder, so that later starts take less time. */
export function cacheCompiledCode(env: Environment): void {
  const folder = findCacheFolder(env);
  // Returns failures instead of throwing; the code is then compiled as usual.
  if (folder === undefined) return;
  enableCompileCache(folder);
  process.once("exit", () => removeOldCode(folder));
}

/**
 * Code of a bundle in the user's cache folder, for a version of Node for which none is shipped. Node's own cache would have
 * less than half of it: only what is compiled when a bundle is loaded.
 */
export class BundleCode {
  readonly #path: string | undefined;

  constructor(name: string, env: Environment) {
    const folder = findCacheFolder(env);
    this.#path = folder && join(folder, name);
  }

  read(): Buffer | undefined {
    return this.#path === undefined ? undefined : readOwnFile(this.#path);
  }

  /** Keeps what V8 has compiled when this process ends, if it has started a command: `--help` needs only a part of the code. */
  keepAtExit(script: Script): void {
    const path = this.#path;
    if (path === undefined) return;
    process.once("exit", (status) => {
      const { moduleLoadList = [] } = process as { moduleLoadList?: readonly string[] };
      const isWhole = moduleLoadList.includes("NativeModule child_process");
      if (status !== 0 || !isWhole || performance.now() >= CODE_LASTS_MS) return;
      try {
        replaceFile(path, script.createCachedData());
        removeOldCode(dirname(path));
      } catch {
        // the next run tries again
      }
    });
  }
}

/** Reads a file unless another user could have written it. */
function readOwnFile(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = fstatSync(file);
    return found.isFile() && isOwn(found) && !isWritableByOthers(found) ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Removes all code but the newest. A process that uses some has read it; one that writes some makes it again later. */
function removeOldCode(folder: string): void {
  try {
    const paths = readdirSync(folder).flatMap((name) => (CODE_NAME.test(name) ? join(folder, name) : []));
    const codes = paths.map((path) => ({ path, writtenAt: lstatSync(path).mtimeMs }));
    codes.sort((a, b) => b.writtenAt - a.writtenAt);
    for (const { path } of codes.slice(MOST_KEPT_CODES)) rmSync(path, { recursive: true, force: true });
  } catch {
    // another process removes them at the same time, or the next one does
  }
}

/** Writes a file as a whole or not at all, also if the machine stops: V8 does not notice every change of its code. */
function replaceFile(path: string, bytes: Buffer): void {
  const draft = `${path}.${process.pid}`;
  try {
    const file = openSync(draft, "wx", 0o600);
    try {
      writeFileSync(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/**
 * Returns the user's folder for this program, and creates it. Undefined if other users can write to it, because they
 * could make this user run their code, or if it belongs to another user, as under `sudo` with the caller's variables.
 */
function findCacheFolder({ HOME, XDG_CACHE_HOME }: Environment): string | undefined {
  const isChosen = XDG_CACHE_HOME !== undefined && isAbsolute(XDG_CACHE_HOME);
  const [first, ...rest] = isChosen ? [XDG_CACHE_HOME, "signalbox"] : [HOME, ".cache", "signalbox"];
  if (first === undefined || findOwnFolder(first) === undefined) return undefined;
  let folder = first;
  let found: Stats | undefined;
  for (const name of rest) {
    folder = join(folder, name);
    makeFolder(folder);
    found = findOwnFolder(folder);
    if (found === undefined) return undefined;
  }
  return found !== undefined && !isWritableByOthers(found) ? folder : undefined;
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
    return isOwn(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

function isOwn({ uid }: Stats): boolean {
  return uid === process.getuid?.();
}

function isWritableByOthers({ mode }: Stats): boolean {
  return (mode & WRITABLE_BY_OTHERS) !== 0;
}
