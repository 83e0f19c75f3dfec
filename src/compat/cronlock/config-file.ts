import { readlinkSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import type { Env } from "../../config/files.ts";
import { readPlainFile } from "../plain-file.ts";
import type { CronlockTool } from "./settings/lock-name.ts";
import { parseShellFile, type ShellFile } from "./shell-file.ts";
import { SYSTEM_FILE } from "./translate.ts";

/**
 * Reads the file named in CRONLOCK_CONFIG; otherwise, with cronlock, the one beside the program, or in /etc. golock
 * has no default file and reads only a named one.
 * @param program  path by which this process was called
 * @throws ConfigError if the file is missing, cannot be read or holds more than assignments
 */
export function readCronlockConfig(tool: CronlockTool, env: Env, program: string): ShellFile | undefined {
  const { CRONLOCK_CONFIG: named = "" } = env;
  const path =
    named !== "" ? named : tool === "cronlock" ? listDefaultPaths(program).find(isFile) : undefined;
  if (path === undefined) return undefined;
  const text = readConfigText(path);
  if (text === undefined) throw new ConfigError(`${clean(path)} does not exist; CRONLOCK_CONFIG names it`);
  return { path, assignments: parseShellFile(path, text, env) };
}

/**
 * Lists the default paths. Like cronlock, follows a link to the program once: a link to signalbox replaces cronlock.
 */
function listDefaultPaths(program: string): string[] {
  const folders = [...readLinkTarget(program), program].map(dirname);
  return [...folders.map((folder) => `${folder}/cronlock.conf`), SYSTEM_FILE];
}

function readLinkTarget(program: string): string[] {
  try {
    return [resolve(dirname(program), readlinkSync(program))];
  } catch {
    return []; // not a link
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function readConfigText(path: string): string | undefined {
  try {
    return readPlainFile(path)?.text;
  } catch (cause) {
    const { code = "unknown error" } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`${clean(path)} cannot be read (${code})`, { cause });
  }
}
