// The entry point of the shipped program. It starts one of the bundles. The bundles that cron starts use V8 code that
// was cached at build time, if it fits.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { Script } from "node:vm";

const require = createRequire(import.meta.filename);
/** Front ends that hold a lock while a command runs. They have their own bundle. */
const RUNNERS = ["cronlock", "golock", "switchman", "zoo-locked"];

/** MB; percent. */
const CONSOLE_LIMITS = ["--max-semi-space-size=8", "--heap-growing-percent=25"];
/**
 * MB; then: functions are optimized from their first call, because most agents serve a few calls a minute. An agent with a
 * thousand runs needs half the memory with the limit, and no more time.
 */
const AGENT_LIMITS = ["--max-semi-space-size=2", "--no-lazy-feedback-allocation"];
/** MB; percent. A worker with 100,000 schedules needs 40 % less memory with them. */
const WORKER_LIMITS = ["--max-semi-space-size=8", "--heap-growing-percent=60"];

/** The first descriptor that systemd passes on. @see sd_listen_fds(3) */
const SYSTEMD_SOCKET = 3;

// A link named after a tool behaves like that tool.
const called = basename(process.argv[1] ?? "");
if (called === "perfectsched" || RUNNERS.includes(called)) process.argv.splice(2, 0, called);

const [, , command] = process.argv;
if (command === "run") startCached("run.cjs");
else if (command !== undefined && RUNNERS.includes(command)) startCached("front.cjs");
else if (command === "agent") startLimited(AGENT_LIMITS, () => require("./agent.cjs"), keepSystemdSocket());
else if (command === "worker") startLimited(WORKER_LIMITS, () => require("./full.cjs"));
else if (command === "__complete") require("./complete.cjs");
else if ((command === "console" || isAtTerminal()) && canImport())
  startLimited(CONSOLE_LIMITS, () => import(join(import.meta.dirname, "console.mjs")));
else require("./full.cjs");

/**
 * Returns whether this Node version can load the console bundle. On an older Node, another bundle prints the version
 * error.
 */
function canImport(): boolean {
  return Number.parseInt(process.versions.node, 10) >= 22;
}

/**
 * Starts a program with limits for V8's heap. Without them, garbage grows to some hundred megabytes, more on larger
 * machines. V8 reads the limits only at process start, so this replaces the process with a new Node that has the same
 * pid, if this Node supports it.
 * @param canReplace  whether a new Node has what this process needs
 */
function startLimited(limits: readonly string[], start: () => void, canReplace = true): void {
  const { execArgv, execPath, argv, env } = process;
  if (canReplace && process.execve !== undefined && !limits.every((limit) => execArgv.includes(limit)))
    process.execve(execPath, [execPath, ...limits, ...execArgv, ...argv.slice(1)], env);
  start();
}

/**
 * Keeps the socket of systemd open for the Node that replaces this one: at its start, Node marks all descriptors to be closed
 * by an execve(2). Returns whether nothing is lost.
 */
function keepSystemdSocket(): boolean {
  if (process.env.LISTEN_PID !== String(process.pid)) return true;
  const addon: { exports: { keepOpen?: (descriptor: number) => void } } = { exports: {} };
  try {
    process.dlopen(addon, join(import.meta.dirname, "native", process.arch, "peer.node"));
    addon.exports.keepOpen?.(SYSTEMD_SOCKET);
    return addon.exports.keepOpen !== undefined;
  } catch {
    return false; // the agent tells why
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
  const cachedData = readIfPresent(join(import.meta.dirname, name));
  // V8 rejects a cache from another V8 version or other V8 options. It then compiles the source as usual.
  const script = new Script(source, { filename, ...(cachedData && { cachedData }) });
  script.runInThisContext()(createRequire(filename), filename, import.meta.dirname);
}

function readIfPresent(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
