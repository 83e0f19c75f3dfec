import { readlinkSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import type { Env } from "../../config/files.ts";
import { readPlainFile } from "../plain-file.ts";
import { SYSTEM_FILE } from "./as-run.ts";
import type { Tool } from "./lock-name.ts";
import { parseShellFile, type ShellFile } from "./shell-file.ts";

/**
 * The file that CRONLOCK_CONFIG names; else, with cronlock, the one beside the program, or in /etc. golock has none of
 * its own, and reads what is named only.
 * @param program  path by which this process was called
 * @throws ConfigError for one that is missing, cannot be read or holds more than assignments
 */
export function configFile(tool: Tool, env: Env, program: string): ShellFile | undefined {
  const { CRONLOCK_CONFIG: named = "" } = env;
  const path = named !== "" ? named : tool === "cronlock" ? usualPlaces(program).find(isFile) : undefined;
  if (path === undefined) return undefined;
  const text = textOf(path);
  if (text === undefined)
    throw new ConfigError(`${clean(path)} does not exist; it is named in CRONLOCK_CONFIG`);
  return { path, assignments: parseShellFile(path, text, env) };
}

/** cronlock looks where a link to it leads, once; a link to this program stands where cronlock stood. */
function usualPlaces(program: string): string[] {
  const folders = [...linkTarget(program), program].map(dirname);
  return [...folders.map((folder) => `${folder}/cronlock.conf`), SYSTEM_FILE];
}

function linkTarget(program: string): string[] {
  try {
    return [resolve(dirname(program), readlinkSync(program))];
  } catch {
    return []; // no link
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function textOf(path: string): string | undefined {
  try {
    return readPlainFile(path)?.text;
  } catch (cause) {
    const { code = "unknown error" } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`${clean(path)} cannot be read (${code})`, { cause });
  }
}
