import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type Argv, runProgram } from "./bench-cluster.ts";

/** Clock ticks a second in /proc: 100 on every Linux that Node runs on. */
const TICKS = 100;

export interface Cost {
  /** From the start of the process until it was reaped, ms. */
  wall: number;
  /** User and system time of it and of all that it waited for, ms; in steps of 10, so only sums and means tell. */
  cpu: number;
}

/** Runs a program to its end. */
export function measureCost(argv: Argv, env: NodeJS.ProcessEnv): Cost {
  const cpu = readChildrenTime();
  const start = performance.now();
  runProgram(argv, env);
  return { wall: performance.now() - start, cpu: readChildrenTime() - cpu };
}

/** User and system time of all children that ended, ms. @see proc_pid_stat(5): cutime, cstime */
function readChildrenTime(): number {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[13]) + Number(fields[14])) * 1000) / TICKS;
}

/**
 * The most memory that the program itself (not what it starts) ever had resident, in MiB. The kernel's own high-water
 * mark, read until the process is gone: in a loop without a pause, so that nothing reaps it meanwhile.
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
