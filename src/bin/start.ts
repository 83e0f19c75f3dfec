// The entry point of the shipped program. It starts one of the bundles. The bundles that cron starts use V8 code that
// was cached at build time, if it fits.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { Script } from "node:vm";
import { moveLeadingOptions } from "../cli/syntax/leading-options.ts";
import { NO_DEBUGGER } from "../core/process/node-options.ts";
import { BundleCode, cacheCompiledCode } from "./compile-cache.ts";
import { HEAP_LIMITS } from "./heap-limits.ts";

const require = createRequire(import.meta.filename);
/** Front ends that hold a lock while a command runs. They have their own bundle. */
const RUNNERS = ["cronlock", "golock", "switchman", "zoo-locked"];

/** The first descriptor that systemd passes on. @see sd_listen_fds(3) */
const SYSTEMD_SOCKET = 3;

// A link named after a tool behaves like that tool.
const called = basename(process.argv[1] ?? "");
if (called === "perfectsched" || RUNNERS.includes(called)) process.argv.splice(2, 0, called);

if (process.argv[2]?.startsWith("-"))
  process.argv.push(...moveLeadingOptions(process.argv.splice(2), [...RUNNERS, "perfectsched"]));

const [, , command] = process.argv;

const OF_WORKER: readonly NodeJS.Signals[] = ["SIGHUP", "SIGUSR1", "SIGUSR2"];
/** Signals that tell a service to read or open a file again. It has done neither yet. */
const RELOADING: ReadonlyMap<string | undefined, readonly NodeJS.Signals[]> = new Map([
  ["agent", ["SIGUSR2"]],
  ["perfectsched", OF_WORKER],
  ["worker", OF_WORKER],
]);
// They must not end it before it listens to them.
for (const name of RELOADING.get(command) ?? []) process.on(name, () => {});

if (command === "run") startCached("run.cjs");
else if (command !== undefined && RUNNERS.includes(command)) startCached("front.cjs");
else if (command === "agent")
  startLimited(HEAP_LIMITS.agent, () => require("./agent.cjs"), keepSystemdSocket());
else if (command === "worker" || command === "serve")
  startLimited(HEAP_LIMITS[command], () => require("./full.cjs"));
else if (command === "__complete") require("./complete.cjs");
else if ((command === "console" || isAtTerminal()) && canParse())
  startLimited(HEAP_LIMITS.console, () => {
    cacheCompiledCode(process.env);
    require("./console.cjs");
  });
else require("./full.cjs");

/**
 * Returns whether this Node version can parse the console bundle. On an older Node, another bundle prints the version
 * error.
 */
function canParse(): boolean {
  return Number.parseInt(process.versions.node, 10) >= 22;
}

/**
 * Starts a program with limits for V8's heap. Where the launcher has not passed them, this replaces the process with a new
 * Node that has the same pid, if this Node supports it.
 * @param canReplace  whether a new Node inherits everything that this process needs
 */
function startLimited(limits: readonly string[], start: () => void, canReplace = true): void {
  const { execArgv, execPath, argv, env } = process;
  if (canReplace && process.execve !== undefined && !limits.every((limit) => execArgv.includes(limit)))
    process.execve(execPath, [execPath, NO_DEBUGGER, ...limits, ...execArgv, ...argv.slice(1)], env);
  start();
}

/**
 * Keeps the socket of systemd open for the Node that replaces this one: at its start, Node marks all descriptors as
 * close-on-exec. Returns whether the socket, if there is one, stays open.
 */
function keepSystemdSocket(): boolean {
  if (process.env.LISTEN_PID !== String(process.pid)) return true;
  const addon: { exports: { keepOpen?: (descriptor: number) => void } } = { exports: {} };
  try {
    process.dlopen(addon, join(import.meta.dirname, "native", process.arch, "peer.node"));
    addon.exports.keepOpen?.(SYSTEMD_SOCKET);
    return addon.exports.keepOpen !== undefined;
  } catch {
    return false; // the agent reports why
  }
}

/** Returns whether `signalbox` was typed without arguments on an interactive terminal. */
function isAtTerminal(): boolean {
  if (command !== undefined) return false;
  const { isatty } = require("node:tty") as typeof import("node:tty"); // loaded here, not in every run
  return isatty(0) && isatty(1);
}

function startCached(bundle: string): void {
  const filename = join(import.meta.dirname, bundle);
  const source = readFileSync(filename, "latin1");
  // The first line of the bundle names the cached code for exactly this source text. V8 itself compares only the
  // length, and it does not check the processor architecture.
  const name = `${source.slice(2, source.indexOf("\n"))}-${process.version}-${process.arch}.code`;
  const shipped = readIfPresent(join(import.meta.dirname, name));
  const own = shipped === undefined ? new BundleCode(name, process.env) : undefined;
  const cachedData = shipped ?? own?.read();
  // V8 rejects a cache from another V8 version or other V8 options. It then compiles the source as usual.
  const script = new Script(source, { filename, ...(cachedData && { cachedData }) });
  if (cachedData === undefined || script.cachedDataRejected) own?.keepAtExit(script);
  script.runInThisContext()(createRequire(filename), filename, import.meta.dirname);
}

function readIfPresent(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
