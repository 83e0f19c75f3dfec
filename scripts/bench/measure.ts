import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type Argv, runProgram } from "./bench-cluster.ts";

/** Clock ticks per second in /proc: 100 on every Linux that Node runs on. */
const TICKS = 100;

export interface Cost {
  /** Time from the start of the process until it was reaped, ms. */
  wall: number;
  /** User and system time of the process and its children, ms. The resolution is 10 ms, so use only sums and means. */
  cpu: number;
}

/** Runs a program until it exits, and measures its cost. */
export function measureCost(argv: Argv, env: NodeJS.ProcessEnv): Cost {
  const cpu = readChildrenTime();
  const start = performance.now();
  runProgram(argv, env);
  return { wall: performance.now() - start, cpu: readChildrenTime() - cpu };
}

/** Reads the user and system time of all reaped children, ms. @see proc_pid_stat(5): cutime, cstime */
function readChildrenTime(): number {
  const fields = readStat("self");
  return ((Number(fields[13]) + Number(fields[14])) * 1000) / TICKS;
}

/** Reads the user and system time of a process so far, ms. @see proc_pid_stat(5): utime, stime */
export function readProcessorTime(pid: number): number {
  const fields = readStat(pid);
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}

/** Reads the fields behind the name of the program. */
function readStat(pid: number | "self"): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/**
 * Measures the peak resident memory of a program without its children, in MiB. Reads the kernel's high-water mark until
 * the process is gone, in a loop without a pause, so that nothing reaps the process in between.
 */
export async function measurePeakMemory([file, ...args]: Argv, env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(file, args, { env, stdio: "ignore" });
  const ended = once(child, "exit");
  let peak = 0;
  for (;;) {
    const mark = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, "latin1"))?.[1];
    if (mark === undefined) break;
    peak = Number(mark) / 1024;
  }
  await ended;
  return peak;
}
