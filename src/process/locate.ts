import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../base/errors.ts";

/** The guardian's binary lies beside the bundle; run from source, it lies where the build puts the bundle. */
const PLACES = ["guardian", "../../dist/guardian"];

/**
 * Where the guardian is.
 * @throws ConfigError when there is none that can be executed: a command is never run unguarded
 */
export function locateGuardian(folder: string = import.meta.dirname): string {
  const places = PLACES.map((place) => join(folder, place));
  const found = places.find(executable);
  if (found !== undefined) return found;
  throw new ConfigError(
    `the guardian, without which no command is run, is missing or not executable: ${places.join(" and ")}; ` +
      "build it with `npm run build`",
  );
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
