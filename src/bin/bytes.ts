import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { UsageError } from "../base/errors.ts";
import { quoted } from "../base/text.ts";

/**
 * Refuses arguments that are no UTF-8. Node reads them as U+FFFD, so two names would become one lock, and the command
 * would get another argument than was written.
 * @throws UsageError
 */
export function checkBytes(argv: readonly string[]): void {
  const suspect = argv.find((one) => one.includes("\ufffd"));
  // The character itself may stand in an argument; only the bytes tell.
  if (suspect === undefined || isUtf8(commandLine())) return;
  throw new UsageError(`argument ${quoted(suspect)} is not valid UTF-8; it could not be passed on as it is`);
}

function commandLine(): Uint8Array {
  try {
    return readFileSync("/proc/self/cmdline");
  } catch {
    return new Uint8Array(); // no /proc: what cannot be told is let pass
  }
}
