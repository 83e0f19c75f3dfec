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
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
    renameSync(draft, path);
    return undefined;
  } catch (error) {
    rmSync(draft, { force: true });
    return (error as Error).message;
  }
}
