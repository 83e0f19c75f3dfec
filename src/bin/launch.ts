import { EXIT } from "../base/errors.ts";
import type { Surroundings } from "../commands/spec.ts";
import { fail } from "./main.ts";
import { surroundings } from "./surroundings.ts";

/** As in package.json's `engines`. */
const OLDEST_NODE = 22;

/**
 * Runs a program to its end.
 * @param work  gets the command line without `node` and the script, returns the exit code
 * @param unfit  exit code where this Node is too old
 */
export function launch(
  work: (argv: readonly string[], world: Surroundings) => Promise<number>,
  unfit: number = EXIT.config,
): void {
  checkNode(unfit);
  endOnDefects();
  // Node's deprecations are for those who write programs: cron would mail them to those who run one.
  process.noDeprecation = true;
  work(process.argv.slice(2), surroundings)
    .catch((error) => fail(error, surroundings, 0))
    .then((code) => process.exit(code));
}

/** Ends the process with a clear message under a Node that is too old. */
function checkNode(unfit: number): void {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= OLDEST_NODE) return;
  surroundings.err(
    `signalbox: Node.js ${OLDEST_NODE} or later is needed, this is ${node} (${process.execPath})\n`,
  );
  process.exit(unfit);
}

/**
 * What nobody caught ends the process, and with it the command: the guardian kills it as soon as its socket closes, long
 * before the claim can be granted to anyone else.
 */
function endOnDefects(): void {
  const end = (error: unknown) => process.exit(fail(error, surroundings, 2));
  process.on("uncaughtException", end);
  process.on("unhandledRejection", end);
}
