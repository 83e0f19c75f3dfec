// The program as it is shipped: starts one of its bundles. Those that cron starts begin with the code that V8 made of them
// when they were built, where that fits.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { Script } from "node:vm";

const require = createRequire(import.meta.filename);
/** Front ends that hold a lock while a command runs: a bundle of their own. */
const RUNNERS = ["cronlock", "golock", "switchman", "zoo-locked"];

// A link with the name of a tool is called as the tool is.
const called = basename(process.argv[1] ?? "");
if (called === "perfectsched" || RUNNERS.includes(called)) process.argv.splice(2, 0, called);

const [, , command] = process.argv;
if (command === "run") startCached("run.cjs");
else if (command !== undefined && RUNNERS.includes(command)) startCached("front.cjs");
else if (command === "__complete") require("./complete.cjs");
else if ((command === "console" || isAtTerminal()) && canImport()) startConsole();
else require("./full.cjs");

/** A Node that is too old could not even read what the console is made of; another bundle tells so. */
function canImport(): boolean {
  return Number.parseInt(process.versions.node, 10) >= 22;
}

/**
 * V8 lets what is forgotten pile up to some hundred megabytes, the more the larger the machine, and takes limits only when it
 * starts: so the console starts anew, as the same process, where this Node can do that.
 */
function startConsole(): void {
  const { execArgv, execPath, argv, env } = process;
  const limits = ["--max-semi-space-size=16", "--heap-growing-percent=40"]; // MB; percent
  if (process.execve !== undefined && !limits.every((limit) => execArgv.includes(limit)))
    process.execve(execPath, [execPath, ...limits, ...execArgv, ...argv.slice(1)], env);
  import(join(import.meta.dirname, "console.mjs"));
}

/** Typed alone, by somebody who sees the answer and can go on typing. */
function isAtTerminal(): boolean {
  if (command !== undefined) return false;
  const { isatty } = require("node:tty") as typeof import("node:tty"); // only here: it would cost every run
  return isatty(0) && isatty(1);
}

function startCached(bundle: string): void {
  const filename = join(import.meta.dirname, bundle);
  const source = readFileSync(filename, "latin1");
  // The bundle's first line names the code that was made of exactly this text: V8 itself compares no more than the
  // length, nor for which processor it was made.
  const name = `${source.slice(2, source.indexOf("\n"))}-${process.version}-${process.arch}.code`;
  const cachedData = read(join(import.meta.dirname, name));
  // V8 refuses what another version of it made, or one with other options. Then it compiles, as ever.
  const script = new Script(source, { filename, ...(cachedData && { cachedData }) });
  script.runInThisContext()(createRequire(filename), filename, import.meta.dirname);
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
