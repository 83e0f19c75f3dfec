import { statSync } from "node:fs";
import { type FileReader, readFileWithMode } from "../config/files.ts";

/** Maximum size of a configuration file, in bytes. A longer file is not one. */
const LONGEST = 1_000_000;

/**
 * Reads a configuration file. Refuses pipes and devices: they might never end, and cron would start another run every
 * minute.
 */
export const readPlainFile: FileReader = (path) => {
  const stat = statSync(path, { throwIfNoEntry: false });
  const isEndless = stat?.isFIFO() || stat?.isCharacterDevice() || stat?.isBlockDevice();
  if (isEndless && path !== "/dev/null") throw createFileError("it is not a file");
  if (stat !== undefined && stat.size > LONGEST) throw createFileError("it is too long");
  return readFileWithMode(path);
};

function createFileError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}
