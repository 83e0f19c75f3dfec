import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { BUNDLE } from "../../../fixtures/signalbox.ts";
import type { Argv, BenchCluster } from "../bench-cluster.ts";

/** An agent, and the launcher that it serves. */
export interface BenchAgent {
  pid: number;
  /** Builds `signalbox run WORDS`, as the launcher. */
  buildLauncherArgv(...words: string[]): Argv;
  /** The environment of a cluster with the agent's socket. */
  env: NodeJS.ProcessEnv;
}

/** Starts an agent, measures with it, and ends it. */
export async function withAgent<T>(
  cluster: BenchCluster,
  measure: (agent: BenchAgent) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-agent-"));
  const socket = join(folder, "agent.sock");
  const env = { ...cluster.env, SIGNALBOX_AGENT_SOCKET: socket };
  const child = spawn(process.execPath, [BUNDLE, "agent"], { env, stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "exit");
  try {
    while (!existsSync(socket)) {
      if (child.exitCode !== null) throw new Error(`the agent ended with exit code ${child.exitCode}`);
      await pause(20);
    }
    await pause(1_000); // it opens its session, and V8 compiles
    const launcher = join(dirname(BUNDLE), "native", process.arch, "launcher");
    const buildLauncherArgv = (...words: string[]): Argv => [launcher, "run", "--agent", "always", ...words];
    return await measure({ pid: child.pid ?? 0, env, buildLauncherArgv });
  } finally {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads the processor time that a process has used so far, ms, of all threads that live. @see proc_pid_schedstat */
export function readThreadTime(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) =>
    Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "latin1").split(" ")[0]),
  );
  return times.reduce((sum, one) => sum + one, 0) / 1e6;
}

/** Measures the PSS of a process and everything below it, in MiB, but not of the commands that it guards. */
export function measureMemory(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + readPss(pid), 0);
}

function readPss(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "latin1");
    return Number(/^Pss:\s*(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
  } catch {
    return 0; // the process has ended
  }
}
