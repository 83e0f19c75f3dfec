/** Runs a command as on a slower or busier machine. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";

export interface SlowMachine {
  /** Description of the limit, for people. */
  description: string;
  /** Words to put before the command. */
  prefix: string[];
  /** Removes the limit. @returns ids of processes that the command has left behind */
  close(): Promise<number[]>;
}

const PERIOD_US = 100_000;

/** Creates a control group with a part of a processor, or starts busy loops if no group can be created. */
export function slowDown(cpus: number): SlowMachine {
  try {
    return limitByGroup(cpus);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return competeForProcessors(cpus, why);
  }
}

function limitByGroup(cpus: number): SlowMachine {
  const group = path.join(findRoot(), `signalbox-test-slow-${process.pid}`);
  mkdirSync(group);
  try {
    setQuota(group, Math.round(cpus * PERIOD_US));
  } catch (error) {
    rmdirSync(group);
    throw error;
  }
  const members = path.join(group, "cgroup.procs");
  return {
    description: `${cpus} of a processor (${group})`,
    prefix: ["sh", "-c", 'echo $$ >"$0" && exec "$@"', members],
    close: () => removeGroup(group, members),
  };
}

/** Finds the folder for groups with a processor quota: cgroup v2, or else v1. */
function findRoot(): string {
  const unified = "/sys/fs/cgroup";
  const delegated = path.join(unified, "cgroup.subtree_control");
  if (existsSync(delegated)) {
    if (!readFileSync(delegated, "utf8").split(/\s/).includes("cpu")) writeFileSync(delegated, "+cpu");
    return unified;
  }
  return path.join(unified, "cpu");
}

function setQuota(group: string, quotaUs: number): void {
  if (existsSync(path.join(group, "cpu.max"))) {
    writeFileSync(path.join(group, "cpu.max"), `${quotaUs} ${PERIOD_US}`);
    return;
  }
  writeFileSync(path.join(group, "cpu.cfs_period_us"), String(PERIOD_US));
  writeFileSync(path.join(group, "cpu.cfs_quota_us"), String(quotaUs));
}

async function removeGroup(group: string, members: string): Promise<number[]> {
  for (let tries = 0; tries < 50; tries += 1) {
    try {
      rmdirSync(group);
      return [];
    } catch {
      await pause(100); // the last processes have not ended yet
    }
  }
  return readFileSync(members, "utf8").split("\n").filter(Boolean).map(Number);
}

/** Starts enough busy threads to leave about `cpus` processors to a command with one busy process per processor. */
function competeForProcessors(cpus: number, why: string): SlowMachine {
  const all = availableParallelism();
  const count = Math.ceil(all * Math.max(1, all / cpus - 1));
  const description = `${count} busy loops beside it (no control group: ${why})`;
  return buildBusyMachine(description, startThreads(count, BUSY_LOOP));
}

const BUSY_LOOP = "for (;;);";
/** Writes to a file, and waits until it is on the disk, again and again. */
const DISK_WRITER = `
const { writeFileSync } = require("node:fs");
const { workerData } = require("node:worker_threads");
for (const bytes = Buffer.alloc(1 << 23); ; ) writeFileSync(workerData, bytes, { flush: true });`;

/** Starts busy threads. @param folder  for the file of the one that writes to the disk */
export function addLoad(count: number, folder: string): SlowMachine {
  const threads = startThreads(count - 1, BUSY_LOOP);
  threads.push(...startThreads(1, DISK_WRITER, path.join(folder, "load")));
  return buildBusyMachine(`${count} busy threads beside it, of which one writes to the disk`, threads);
}

function startThreads(count: number, script: string, workerData?: string): Worker[] {
  return Array.from({ length: count }, () => new Worker(script, { eval: true, workerData }));
}

/** Describes a machine on which threads run beside the command. */
function buildBusyMachine(description: string, threads: readonly Worker[]): SlowMachine {
  const close = async () => {
    await Promise.all(threads.map((thread) => thread.terminate()));
    return [];
  };
  return { description, prefix: [], close };
}
