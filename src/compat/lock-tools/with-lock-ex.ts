import { UsageError } from "../../base/errors.ts";
import { buildFileLock } from "../lock-tools.ts";
import type { LineTranslator } from "../translated-run.ts";

/** Flags of `signalbox run` for each mode. */
const MODES: Readonly<Record<string, readonly string[]>> = {
  "-w": ["--wait", "-E", "255"],
  "-f": ["-E", "255"],
  "-q": ["-E", "0"],
};

/** Translates a line of with-lock-ex. @see with-lock-ex(1) of chiark-utils */
export const translateWithLockEx: LineTranslator = (words) => {
  const [way = "", file, ...command] = words;
  const options = Object.hasOwn(MODES, way) ? MODES[way] : undefined;
  if (options === undefined || file === undefined || command.length === 0)
    throw new UsageError("with-lock-ex: one of -w, -f and -q, a file and a command are needed");
  const { lock, notes } = buildFileLock("with-lock-ex", file);
  return { options: ["--lock", lock, ...options], command, notes };
};
