import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Surroundings } from "../../commands/spec.ts";

/** Where the arrangement of a cluster is kept: each has its own. */
export function memoryPath(
  { env }: Pick<Surroundings, "env">,
  { endpoints, prefix }: { endpoints: readonly string[]; prefix: string },
): string {
  const cluster = createHash("sha256")
    .update(JSON.stringify([[...endpoints].sort(), prefix]))
    .digest("hex");
  const state = env.XDG_STATE_HOME || join(env.HOME || homedir(), ".local", "state");
  return join(state, "signalbox", `console-${cluster.slice(0, 12)}.json`);
}

/** What was kept; undefined where there is nothing that can be read. */
export function recalled(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** Keeps it, as a whole or not at all. @returns what was in the way: a full disk is no reason to end otherwise */
export function remember(path: string, kept: object): string | undefined {
  const draft = `${path}.${process.pid}`;
  try {
    makeFolder(dirname(path));
    writeFileSync(draft, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
    renameSync(draft, path);
    return undefined;
  } catch (error) {
    remove(draft);
    return (error as Error).message;
  }
}

/** Folders above the one that is wanted that are made too: `~/.local/state`. */
const ABOVE = 3;

/** Not with `recursive`, with which Node never comes back where the kernel lets nobody make anything, as in `/proc`. */
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

/** What was not even begun cannot be removed either. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // why it could not be kept is what matters
  }
}
