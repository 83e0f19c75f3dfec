import { constants, readFileSync, realpathSync, statSync, unlinkSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { ConfigError, describeFileError } from "../../base/errors.ts";
import { hash } from "../../base/hash.ts";
import { isJsonObject, parseJson } from "../../base/parse-json.ts";
import { quoteText } from "../../base/text.ts";
import { type Env, findBaseDirectory } from "../../config/files.ts";
import { isMissing, isPresent, makeFolder, writeOnce } from "../../config/write-once.ts";

/** Where root remembers clusters. Not in /var/lib/signalbox: that folder belongs to the user of the worker. */
const SYSTEM_FOLDER = "/var/lib/signalbox-clusters";

export interface RememberedCluster {
  id: bigint;
  path: string;
}

/**
 * Remembers on this host which cluster answered first for the same endpoints and prefix. Each process reads it, so that
 * the processes of a host use one cluster even if the endpoints belong to two.
 */
export class ClusterMemory {
  readonly #identity: { prefix: string; endpoints: readonly string[] };
  /** Where this user remembers; undefined for a user without a home. */
  readonly #folder: string | undefined;
  readonly #name: string;

  /** @param endpoints  URLs */
  constructor({ prefix, endpoints }: { prefix: string; endpoints: readonly string[] }, env: Env) {
    this.#identity = { prefix, endpoints: [...new Set(endpoints)].sort() };
    this.#folder = findStateFolder(env);
    // Loading node:crypto for a better hash takes 5 ms of the start. A collision is noticed: the file names its endpoints.
    this.#name = `cluster-${hash(JSON.stringify(this.#identity)).toString(16).padStart(8, "0")}.json`;
  }

  /**
   * Returns the cluster that root remembers, if this user can read the file, else the user's own.
   * @throws ConfigError if the file is damaged
   */
  recall(): RememberedCluster | undefined {
    for (const path of this.#listPaths()) {
      const id = this.#read(path);
      if (id !== undefined) return { id, path };
    }
    return undefined;
  }

  /**
   * Remembers a cluster, unless another process has remembered one first.
   * @returns the cluster that is remembered now, or why none can be remembered
   * @throws ConfigError if the file is damaged
   */
  remember(id: bigint): RememberedCluster | { fault: string } {
    const known = this.recall();
    if (known !== undefined) return known;
    if (this.#folder === undefined) return { fault: "this user has no home" };
    const path = join(this.#folder, this.#name);
    try {
      makeFolder(this.#folder, 0o755);
      const fault = findOwnerFault(this.#folder, getOwnId());
      if (fault !== undefined) return { fault };
      writeOnce(path, `${JSON.stringify({ clusterId: id.toString(16), ...this.#identity })}\n`, 0o644);
    } catch (error) {
      return { fault: `${quotePath(path)} cannot be written: ${describeFileError(error)}` };
    }
    return this.recall() ?? { fault: `${quotePath(path)} was removed` };
  }

  /** Forgets the cluster. @returns the removed files @throws ConfigError if this user cannot remove one */
  forget(): string[] {
    const present = this.#listPaths().filter(isPresent);
    for (const path of present) {
      try {
        unlinkSync(path);
      } catch (cause) {
        const why = describeFileError(cause);
        throw new ConfigError(`${quotePath(path)} cannot be removed: ${why}`, { cause });
      }
    }
    return present;
  }

  /** Lists the files to read, the most trustworthy first. */
  #listPaths(): string[] {
    const folders = new Set([SYSTEM_FOLDER, ...(this.#folder === undefined ? [] : [this.#folder])]);
    return [...folders].map((folder) => join(folder, this.#name));
  }

  #read(path: string): bigint | undefined {
    const folder = dirname(path);
    let text: string;
    try {
      if (findOwnerFault(folder, folder === SYSTEM_FOLDER ? 0 : getOwnId()) !== undefined) return undefined;
      // A pipe must not block every command.
      text = readFileSync(path, { encoding: "utf8", flag: constants.O_RDONLY | constants.O_NONBLOCK });
    } catch (error) {
      if (isMissing(error)) return undefined;
      if (isFileLimit(error)) throw createLimitError(path, error);
      throw createDamageError(path, `cannot be read: ${describeFileError(error)}`, error);
    }
    const id = parseFile(text, this.#identity);
    if (id === undefined)
      throw createDamageError(path, "does not say to which cluster these endpoints belong");
    return id;
  }
}

/** Whether this process, or the system, has as many open files as it may have. */
function isFileLimit(error: unknown): boolean {
  return ["EMFILE", "ENFILE"].includes((error as NodeJS.ErrnoException).code ?? "");
}

function getOwnId(): number {
  return process.geteuid?.() ?? 0;
}

/** Returns the folder in which this user remembers clusters; undefined for a user without a home. */
function findStateFolder(env: Env): string | undefined {
  if (getOwnId() === 0 && !isAbsolute(env.XDG_STATE_HOME ?? "")) return SYSTEM_FOLDER;
  const state = findBaseDirectory(env, "XDG_STATE_HOME", ".local/state");
  return state && join(state, "signalbox");
}

/**
 * Checks the folder of a file and all its parents. A user who can write to one of them can replace the file, and so
 * choose the cluster that is trusted. Root does not trust members of its group either.
 * @returns what is wrong, or undefined
 */
function findOwnerFault(folder: string, owner: number): string | undefined {
  const writable = owner === 0 ? 0o022 : 0o002;
  for (let path = realpathSync.native(folder); ; path = dirname(path)) {
    const { uid, mode } = statSync(path);
    const isOpen = (mode & writable) !== 0 && (mode & 0o1000) === 0;
    if ((uid !== owner && uid !== 0) || isOpen)
      return `${quotePath(path)} belongs to another user, or others can write there`;
    if (path === dirname(path)) return undefined;
  }
}

function quotePath(path: string): string {
  return quoteText(path, 4_096);
}

function parseFile(
  text: string,
  identity: { prefix: string; endpoints: readonly string[] },
): bigint | undefined {
  const value = parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const { clusterId, prefix, endpoints } = value;
  if (JSON.stringify({ prefix, endpoints }) !== JSON.stringify(identity)) return undefined;
  return typeof clusterId === "string" && /^[0-9a-f]{1,16}$/.test(clusterId)
    ? BigInt(`0x${clusterId}`)
    : undefined;
}

function createLimitError(path: string, cause: unknown): ConfigError {
  const text = `${quotePath(path)} cannot be read: ${describeFileError(cause)}; raise the limit of open files: ulimit -n`;
  return new ConfigError(text, { cause });
}

function createDamageError(path: string, fault: string, cause?: unknown): ConfigError {
  const text = `${quotePath(path)} ${fault}; if the endpoints are right, remove it with: signalbox init --forget-cluster`;
  return new ConfigError(text, { cause });
}
