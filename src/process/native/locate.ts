import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, EXIT } from "../../base/errors.ts";
import { explainUnstartable, findForeignMachine } from "./unstartable.ts";

/**
 * Native programs are next to the bundle, in a folder for each processor; when run from source, they are in the output
 * folder of the build.
 */
const PLACES = ["native", "../../../dist/native"];

/**
 * Finds the guardian.
 * @throws ConfigError when it is missing or cannot be executed on this host: a command is never run unguarded
 */
export function locateGuardian(folder: string = import.meta.dirname): string {
  return locate("guardian", "the guardian (no command runs without it)", folder);
}

/**
 * Finds the launcher.
 * @throws ConfigError when it is missing or cannot be executed on this host
 */
export function locateLauncher(folder: string = import.meta.dirname): string {
  return locate("launcher", "the launcher (the program `signalbox`)", folder);
}

/**
 * Finds the program that sends messages to systemd.
 * @throws ConfigError when it is missing or cannot be executed on this host
 */
export function locateNotify(folder: string = import.meta.dirname): string {
  return locate("notify", "the program that notifies systemd", folder);
}

/**
 * Finds the addon that reads the peer of a Unix socket.
 * @throws ConfigError when it is missing or cannot be loaded on this host
 */
export function locatePeerAddon(folder: string = import.meta.dirname): string {
  return locate("peer.node", "the addon that reads who connects to the agent", folder);
}

function locate(name: string, what: string, folder: string): string {
  const places = PLACES.map((place) => join(folder, place, process.arch, name));
  const found = places.find(isExecutable);
  if (found === undefined) throw new ConfigError(explainMissing(what, places));
  const foreign = findForeignMachine(found);
  if (foreign === undefined) return found;
  throw new ConfigError(
    `${what} cannot be started: ${found}: ${foreign}; build it on this host with \`npm run build\``,
  );
}

function explainMissing(what: string, places: readonly string[]): string {
  const there = places.find((path) => existsSync(path));
  if (there !== undefined) return `${what} cannot be started: ${there}: ${explainUnstartable(there)}`;
  return `${what} is missing: neither ${places.join(" nor ")} exists; build it with \`npm run build\``;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** A call that no agent can serve: no socket can be below a file. The launcher then ends at once. */
const UNSERVED_CALL = [
  "--agent",
  "always",
  "--agent-socket",
  "/dev/null/agent.sock",
  "--lock",
  "check",
  "--",
  "true",
];

/**
 * Starts the launcher once, with a call that must end at once and starts nothing.
 * @param patience  ms after which it is killed
 * @returns why it cannot run on this host; undefined if it can
 */
export function tryLauncher(path: string, patience: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(path, ["run", ...UNSERVED_CALL], {
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
