import type { CommandIo } from "../cli/frame/command.ts";
import { reportError } from "../cli/frame/command-line/execute-command.ts";
import { EXIT } from "../core/base/errors.ts";
import { processIo } from "./process-io.ts";

/** As in package.json's `engines`. */
const OLDEST_NODE = 22;

/**
 * Runs a program and exits with its exit code.
 * @param work   receives the command line without `node` and the script; returns the exit code
 * @param unfit  exit code if this Node version is too old
 */
export function launch(
  work: (argv: readonly string[], io: CommandIo) => Promise<number>,
  unfit: number = EXIT.config,
): void {
  checkNode(unfit);
  exitOnUncaughtError();
  // Node's deprecation warnings are for developers. Cron would mail them to users.
  process.noDeprecation = true;
  work(process.argv.slice(2), processIo)
    .catch((error) => reportError(error, processIo, 0))
    .then((code) => process.exit(code));
}

/** Ends the process with a clear message if the Node version is too old. */
function checkNode(unfit: number): void {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= OLDEST_NODE) return;
  processIo.writeMessage(`Node.js ${OLDEST_NODE} or later is needed, this is ${node} (${process.execPath})`);
  process.exit(unfit);
}

/**
 * Exits on an uncaught error. This also ends the command: the guardian kills it as soon as its socket closes, long
 * before the claim can be granted to another run.
 */
function exitOnUncaughtError(): void {
  const end = (error: unknown) => process.exit(reportError(error, processIo, 2));
  process.on("uncaughtException", end);
  process.on("unhandledRejection", end);
}
