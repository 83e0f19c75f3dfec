import { spawn } from "node:child_process";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { machine } from "node:os";
import { basename, dirname, join } from "node:path";
import type { BootTime } from "../../base/clock.ts";
import { ConfigError, describeFileError, EXIT } from "../../base/errors.ts";

/**
 * Native programs are next to the bundle, in a folder for each processor; when run from source, they are in the output
 * folder of the build.
 */
const NATIVE_FOLDERS = ["native", "../../../../dist/native"];

/** Descriptions of the native programs, for messages. */
const PROGRAMS = {
  guardian: "the guardian (no command runs without it)",
  launcher: "the launcher (the program `signalbox`)",
  notify: "the program that notifies systemd",
  "peer.node": "the addon that reads who connects to the agent",
} as const;

/** Names of the native programs, and of the addon. */
export const NATIVE_NAMES = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[];

/** Explains that this system has not what guardians need of the kernel. Returns undefined on Linux. */
export function explainNoLinux(): string | undefined {
  if (process.platform === "linux") return undefined;
  return `this is ${process.platform === "darwin" ? "macOS" : process.platform}`;
}

/** @param what  what is started. @throws ConfigError if this is not Linux */
export function requireLinux(what: string): void {
  const foreign = explainNoLinux();
  if (foreign === undefined) return;
  throw new ConfigError(
    `${what} needs Linux, and ${foreign}; here, use the console, ls, logs, serve or the library`,
  );
}

/**
 * Finds a native program, or the addon.
 * @throws ConfigError when it is missing or cannot be executed on this host. A command is never run unguarded
 */
export function locateNative(name: keyof typeof PROGRAMS, folder: string = import.meta.dirname): string {
  const what = PROGRAMS[name];
  requireLinux(what);
  const paths = NATIVE_FOLDERS.map((place) => join(folder, place, process.arch, name));
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
  readPeer(descriptor: number): number[] | number;
  readBootTime(): BootTime;
  unblockSignal(number: number): void;
  /** Returns the limit before. */
  setSoftLimit(resource: number, soft: number): number;
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

/** Explains why a file cannot be started as a program, and what to do. Returns undefined when no fault is found. */
export function explainUnstartable(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false });
  if (status === undefined) return "it does not exist";
  if (!status.isFile()) return "it is not a file";
  if ((status.mode & 0o111) === 0) return `it is not executable; run: chmod +x ${path}`;
  if (!canExecute(path)) {
    const mount = findNoexecMount(path);
    if (mount === undefined) return "this user may not execute it";
    return `it is on ${mount}, which is mounted noexec; install signalbox on another file system, or mount this one with exec`;
  }
  return findForeignMachine(path) ?? findDamage(path);
}

/** The list of the SHA-256 of the native programs, in their folder. `sha256sum --check` reads it too. */
export const HASH_LIST = "SHA256SUMS";

/**
 * Compares a native program with the list of its build. It reads the whole file, so no run does it unless its guardian cannot
 * be started.
 * @returns how it differs, and what to do; undefined if it does not
 */
export function findDamage(path: string): string | undefined {
  const [folder, name] = [dirname(path), basename(path)];
  try {
    const lines = readFileSync(join(folder, HASH_LIST), "utf8").split("\n");
    const listed = lines.find((line) => line.endsWith(`  ${name}`))?.slice(0, -name.length - 2);
    const { hash } = process.getBuiltinModule("node:crypto"); // to load it takes a fifth of a start
    const found = hash("sha256", readFileSync(path));
    if (listed === found) return undefined;
    return `it is damaged, or of another build: its SHA-256 is ${found}, not ${listed} as in ${join(folder, HASH_LIST)}`;
  } catch (error) {
    return `it cannot be compared with ${join(folder, HASH_LIST)}: ${describeFileError(error)}`;
  }
}

/** The kernel also refuses this on file systems that are mounted noexec. */
function canExecute(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the mount point of a file if it is mounted noexec. @see proc_pid_mountinfo(5) */
function findNoexecMount(path: string): string | undefined {
  const real = realpathSync(path);
  const mounts = readMounts().filter(({ at }) => at === "/" || real === at || real.startsWith(`${at}/`));
  const [own] = mounts.sort((a, b) => b.at.length - a.at.length);
  return own?.options.includes("noexec") ? own.at : undefined;
}

/** Lists the mounts, latest first: a later mount covers earlier ones at the same path. */
function readMounts(): { at: string; options: string[] }[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").trimEnd().split("\n").reverse();
  return lines.map((line) => {
    const [, , , , at = "", options = ""] = line.split(" ");
    const plain = at.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
    return { at: plain, options: options.split(",") };
  });
}

/** Names of ELF's `e_machine`. @see elf(5) */
const MACHINE_NAMES: Record<number, string> = {
  3: "i386",
  8: "MIPS",
  20: "PowerPC",
  21: "PowerPC64",
  22: "s390x",
  40: "ARM",
  62: "x86-64",
  183: "AArch64",
  243: "RISC-V",
  258: "LoongArch",
};
/** Machines whose programs can run beside a Node of an architecture: a 64-bit kernel also starts 32-bit programs. */
const STARTABLE_MACHINES: Partial<Record<NodeJS.Architecture, readonly number[]>> = {
  x64: [62, 3],
  ia32: [3, 62],
  arm64: [183, 40],
  arm: [40, 183],
  ppc64: [21, 20],
  s390x: [22],
  riscv64: [243],
  loong64: [258],
  mips: [8],
  mipsel: [8],
};
const HEADER_BYTES = 20;
const BIG_ENDIAN = 2;

/**
 * Explains that a program was built for another processor. Check this before the start: execvp(3) would pass such a
 * file to the shell, which would interpret its bytes as commands.
 * @returns undefined when the program fits, when this is unknown, and for files that are not ELF
 */
function findForeignMachine(path: string): string | undefined {
  const header = readStart(path, HEADER_BYTES);
  const fitting = STARTABLE_MACHINES[process.arch];
  const isElf = header.length === HEADER_BYTES && header.toString("latin1", 0, 4) === "\x7fELF";
  if (!isElf || fitting === undefined) return undefined;
  const built = header[5] === BIG_ENDIAN ? header.readUInt16BE(18) : header.readUInt16LE(18);
  if (fitting.includes(built)) return undefined;
  const name = MACHINE_NAMES[built] ?? "an unknown processor";
  return `it is built for ${name} (ELF machine ${built}), and this host is ${machine()} (Node: ${process.arch})`;
}

/** Reads the first bytes of a file; fewer if it is shorter, none if it cannot be read: starting it shows any error. */
export function readStart(path: string, most: number): Buffer {
  try {
    const descriptor = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(most);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, most, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return Buffer.alloc(0);
  }
}
