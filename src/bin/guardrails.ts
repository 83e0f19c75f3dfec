import { EXIT } from "../base/errors.ts";
import { fail } from "./main.ts";
import { surroundings } from "./surroundings.ts";

/** As in package.json's `engines`. */
const OLDEST_NODE = 22;

/** Ends the process with a clear message under a Node that is too old. */
export function checkNode(): void {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= OLDEST_NODE) return;
  surroundings.err(
    `signalbox: Node.js ${OLDEST_NODE} or later is needed, this is ${node} (${process.execPath})\n`,
  );
  process.exit(EXIT.config);
}

/**
 * What nobody caught ends the process, and with it the command: the guardian kills it as soon as its socket closes, long
 * before the claim can be granted to anyone else.
 */
export function endOnDefects(): void {
  const end = (error: unknown) => process.exit(fail(error, surroundings, 2));
  process.on("uncaughtException", end);
  process.on("unhandledRejection", end);
}
