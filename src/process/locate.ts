import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../base/errors.ts";

/** Native programs lie beside the bundle; run from source, they lie where the build puts the bundle. */
const PLACES = [".", "../../dist"];

/**
 * Where the guardian is.
 * @throws ConfigError when there is none that can be executed: a command is never run unguarded
 */
export function locateGuardian(folder: string = import.meta.dirname): string {
  return locate("guardian", "the guardian, without which no command is run,", folder);
}

/**
 * Where the messenger to systemd is.
 * @throws ConfigError when there is none that can be executed
 */
export function locateNotify(folder: string = import.meta.dirname): string {
  return locate("notify", "what speaks to systemd", folder);
}

function locate(name: string, what: string, folder: string): string {
  const places = PLACES.map((place) => join(folder, place, name));
  const found = places.find(executable);
  if (found !== undefined) return found;
  const where = places.join(" and ");
  throw new ConfigError(`${what} is missing or not executable: ${where}; build it with \`npm run build\``);
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
