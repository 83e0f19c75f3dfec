import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, EXIT } from "../../base/errors.ts";
import { canExecute, explainUnstartable, findForeignMachine } from "./unstartable.ts";

/**
 * Native programs are next to the bundle, in a folder for each processor; when run from source, they are in the output
 * folder of the build.
 */
const PLACES = ["native", "../../../dist/native"];

/** Descriptions of the native programs, for messages. */
const PROGRAMS = {
  guardian: "the guardian (no command runs without it)",
  launcher: "the launcher (the program `signalbox`)",
  notify: "the program that notifies systemd",
  "peer.node": "the addon that reads who connects to the agent",
} as const;

/**
 * Finds a native program, or the addon.
 * @throws ConfigError when it is missing or cannot be executed on this host. A command is never run unguarded
 */
export function locateNative(name: keyof typeof PROGRAMS, folder: string = import.meta.dirname): string {
  const what = PROGRAMS[name];
  const paths = PLACES.map((place) => join(folder, place, process.arch, name));
  const found = paths.find(isExecutable);
  if (found === undefined) throw new ConfigError(explainMissing(what, paths));
  const foreign = findForeignMachine(found);
  if (foreign === undefined) return found;
  throw new ConfigError(
    `${what} cannot be started: ${found}: ${foreign}; build it on this host with \`npm run build\``,
  );
}

/** Functions of the addon (peer/peer.c). All but `readBootTime` return a negative errno when they fail. */
interface Addon {
  /** Returns the numbers of a peer. */
  readPeer(descriptor: number): number[] | number;
  readBootTime(): number;
  openProcess(pid: number): number;
  signalProcess(pidfd: number, signal: number): number;
}

/**
 * Loads the addon.
 * @param path  by default that of the addon that was built with this program
 * @returns its functions; an addon of another version may have others
 * @throws ConfigError, Error
 */
export function loadAddon(path: string = locateNative("peer.node")): Partial<Addon> {
  const module: { exports: Partial<Addon> } = { exports: {} };
  process.dlopen(module, path);
  return module.exports;
}

function explainMissing(what: string, paths: readonly string[]): string {
  const unusable = paths.find((path) => existsSync(path));
  if (unusable !== undefined)
    return `${what} cannot be started: ${unusable}: ${explainUnstartable(unusable)}`;
  return `${what} is missing: neither ${paths.join(" nor ")} exists; build it with \`npm run build\``;
}

function isExecutable(path: string): boolean {
  return canExecute(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** A call that no agent can serve: no socket can be below a file. The launcher then ends at once. */
const UNSERVED_CALL = "--agent always --agent-socket /dev/null/agent.sock --lock check -- true";

/**
 * Starts the launcher once, with a call that must end at once and starts nothing.
 * @param patience  ms after which it is killed
 * @returns why it cannot run on this host; undefined if it can
 */
export function tryLauncher(path: string, patience: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(path, ["run", ...UNSERVED_CALL.split(" ")], {
      env: {},
      stdio: "ignore",
      timeout: patience,
      killSignal: "SIGKILL",
    });
    child.once("error", (error) => resolve(`${path}: ${explainUnstartable(path) ?? error.message}`));
    child.once("exit", (code, signal) => resolve(explainEnd(path, code, signal)));
  });
}

function explainEnd(path: string, code: number | null, signal: NodeJS.Signals | null): string | undefined {
  if (code === EXIT.unreachable) return undefined;
  if (signal === "SIGSYS") return `${path}: a seccomp filter forbids one of its system calls`;
  if (signal !== null) return `${path}: it was ended by ${signal}`;
  return `${path}: it ended with code ${code}, not ${EXIT.unreachable}; it is damaged, or of another version`;
}
