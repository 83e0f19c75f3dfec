import { readdirSync, readFileSync } from "node:fs";

/** A process as /proc shows it. */
export interface ProcessStatus {
  pid: number;
  /** Its name, at most 15 bytes. The process can change it. */
  name: string;
  parent: number;
  /** Its process group. */
  group: number;
  session: number;
  /** Start time in clock ticks. Together with the id, it identifies a process permanently. */
  born: number;
  isStopped: boolean;
  isDead: boolean;
}

/** Lists the ids of all processes, the newest first as long as ids grow; none when no descriptor is free. */
export function listProcessIds(): number[] {
  try {
    const names = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return names.map(Number).reverse();
  } catch {
    return [];
  }
}

/**
 * Reads /proc/<pid>/stat. The name is in brackets and may contain any character.
 * @see proc_pid_stat(5)
 */
export function readProcess(pid: number): ProcessStatus | undefined {
  const stat = readProcFile(pid, "stat");
  if (stat === undefined) return undefined;
  const end = stat.lastIndexOf(")");
  const fields = stat.slice(end + 2).split(" ");
  const [state, parent, group, session] = fields;
  const threads = Number(fields[17]);
  return {
    pid,
    name: stat.slice(stat.indexOf("(") + 1, end),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    born: Number(fields[19]),
    isStopped: state === "T" || state === "t",
    // A first thread that has ended is a zombie while the other threads still run.
    isDead: state === "X" || (state === "Z" && threads <= 1),
  };
}

/** Whether a user may send signals to a process: its real or its saved user id is that of the user. @see kill(2) */
export function isSignalableBy(pid: number, uid: number): boolean {
  if (uid === 0) return true;
  const [, real, , saved] = /^Uid:\s+(\d+)\s+(\d+)\s+(\d+)/m.exec(readProcFile(pid, "status") ?? "") ?? [];
  return Number(real) === uid || Number(saved) === uid;
}

/** Reads a file of /proc/<pid>. @returns undefined for a process that has ended, or that belongs to another user */
export function readProcFile(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return undefined;
  }
}
