import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { hash } from "../../base/hash.ts";
import type { CommandIo } from "../../commands/spec.ts";

/** Returns the path of the preferences of a cluster. Each cluster has its own file. */
export function getPreferencesPath(
  { env }: Pick<CommandIo, "env">,
  { endpoints, prefix }: { endpoints: readonly string[]; prefix: string },
): string {
  // Loading node:crypto for a better hash takes 5 ms of the start.
  const cluster = hash(JSON.stringify([[...endpoints].sort(), prefix]));
  const state = env.XDG_STATE_HOME || join(env.HOME || homedir(), ".local", "state");
  return join(state, "signalbox", `console-${cluster.toString(16).padStart(8, "0")}.json`);
}

/** Reads the stored preferences. Returns undefined if there is no readable file. */
export function readPreferences(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** Writes the preferences, as a whole or not at all. Never throws: a full disk must not change how the console ends. */
export function writePreferences(path: string, kept: object): void {
  const draft = `${path}.${process.pid}`;
  try {
    makeFolder(dirname(path));
    writeFileSync(draft, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  } catch {
    remove(draft);
  }
}

/** Maximum number of parent folders that are created too: `~/.local/state`. */
const ABOVE = 3;

/**
 * Creates a folder and its parents. Does not use `recursive`: with it, Node never returns where the kernel allows no
 * folders, as in `/proc`.
 */
function makeFolder(path: string, above = ABOVE): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || above === 0) throw error;
    makeFolder(dirname(path), above - 1);
    mkdirSync(path, { mode: 0o700 });
  }
}

/** Removes a file. Ignores errors: a file that was never created cannot be removed. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The error that prevented writing is the one that matters.
  }
}
