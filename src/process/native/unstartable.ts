import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { machine } from "node:os";

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
  return findForeignMachine(path);
}

/** The kernel also refuses this on file systems that are mounted noexec. */
export function canExecute(path: string): boolean {
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
const NAMES: Record<number, string> = {
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
const STARTABLE: Partial<Record<NodeJS.Architecture, readonly number[]>> = {
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
export function findForeignMachine(path: string): string | undefined {
  const header = readStart(path, HEADER_BYTES);
  const fitting = STARTABLE[process.arch];
  const isElf = header.length === HEADER_BYTES && header.toString("latin1", 0, 4) === "\x7fELF";
  if (!isElf || fitting === undefined) return undefined;
  const built = header[5] === BIG_ENDIAN ? header.readUInt16BE(18) : header.readUInt16LE(18);
  if (fitting.includes(built)) return undefined;
  const name = NAMES[built] ?? "an unknown processor";
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
