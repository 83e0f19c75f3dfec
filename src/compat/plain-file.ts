import { statSync } from "node:fs";
import { type ReadFile, readFile } from "../config/files.ts";

/** A tool's configuration is short; what is longer is something else. */
const LONGEST = 1_000_000;

/** A configuration file. A pipe or a device might never end, and cron would start the next one beside it every minute. */
export const readPlainFile: ReadFile = (path) => {
  const stat = statSync(path, { throwIfNoEntry: false });
  const isEndless = stat?.isFIFO() || stat?.isCharacterDevice() || stat?.isBlockDevice();
  if (isEndless && path !== "/dev/null") throw refused("it is no file");
  if (stat !== undefined && stat.size > LONGEST) throw refused("it is too long");
  return readFile(path);
};

function refused(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}
