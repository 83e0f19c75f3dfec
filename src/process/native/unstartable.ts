import { accessSync, constants, readFileSync, realpathSync, statSync } from "node:fs";
import { findForeignMachine } from "./elf.ts";

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
