import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Argv, BenchCluster } from "./bench-cluster.ts";
import { formatNumber, printNote, printTable } from "./figures.ts";

/** Time from the start until the measurement, ms. */
const SETTLE = 3_000;
const COMMAND = ["sleep", "600"];
/** Name of the guardian process, at most 15 characters, as the kernel keeps it. */
const GUARDIAN = "sbxgd";

/** Measures the memory (PSS) of a run that waits or holds: the runner and the guardian, without the command. */
export async function benchmarkMemory(cluster: BenchCluster): Promise<void> {
  const alone = await measureShares(cluster, 1);
  const many = await measureShares(cluster, cluster.quick ? 5 : 20);
  const rows = alone.map(({ what, runner, guardian }, at) => [
    what,
    ...[runner, guardian, runner + guardian].map((mib) => formatNumber(mib)),
    formatNumber((many[at]?.runner ?? Number.NaN) + (many[at]?.guardian ?? Number.NaN)),
  ]);
  const head = ["PSS, MiB", "runner", "guardian", "together", `each of ${cluster.quick ? 5 : 20}`];
  printTable("Memory", head, rows);
  printNote(
    "PSS: shared memory is divided among the processes that share it, so each of many runs needs less",
  );
}

interface Share {
  what: string;
  runner: number;
  guardian: number;
}

async function measureShares(cluster: BenchCluster, times: number): Promise<Share[]> {
  const subjects: [what: string, argv: (i: number) => Argv, waits: boolean][] = [
    ["node, idle", () => [process.execPath, "-e", "setTimeout(() => {}, 6e5)"], false],
    [
      "run, holding",
      (i) => cluster.buildSignalboxArgv("run", "--lock", `bench-memory-${i}`, "--", ...COMMAND),
      false,
    ],
    [
      "run, waiting",
      () => cluster.buildSignalboxArgv("run", "--wait", "--lock", "bench-memory-0", "--", "true"),
      true,
    ],
    ["etcdctl lock, holding", (i) => cluster.buildEtcdctlArgv(`bench-memory-${i}`, ...COMMAND), false],
    ["etcdctl lock, waiting", () => cluster.buildEtcdctlArgv("bench-memory-0", "true"), true],
  ];
  const children: { child: ChildProcess; what: string }[] = [];
  try {
    for (const [what, argv, waits] of subjects) {
      if (waits) await pause(1_000); // the holder must come first
      for (let i = 0; i < times; i += 1) children.push({ child: start(argv(i), cluster), what });
    }
    await pause(SETTLE);
    return subjects.map(([what]) => {
      const parts = children
        .filter((one) => one.what === what)
        .map(({ child }) => measureTree(child.pid ?? 0));
      const sumPart = (part: "runner" | "guardian") =>
        parts.reduce((all, one) => all + one[part], 0) / parts.length;
      return { what, runner: sumPart("runner"), guardian: sumPart("guardian") };
    });
  } finally {
    await Promise.all(children.map(({ child }) => end(child)));
  }
}

function start([file, ...args]: Argv, { env }: BenchCluster): ChildProcess {
  return spawn(file, args, { env, stdio: "ignore", detached: true });
}

/** Kills process groups. Otherwise, the command that `etcdctl lock` started would survive. */
async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  if (child.pid === undefined || child.exitCode !== null) return;
  process.kill(-child.pid, "SIGTERM");
  const late = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), 5_000);
  await gone;
  clearTimeout(late);
}

/** Measures the PSS of a process, and of the guardian processes below it, in MiB. */
function measureTree(pid: number): { runner: number; guardian: number } {
  const below = listDescendants(pid).filter((one) => readName(one) === GUARDIAN);
  return { runner: readPss(pid), guardian: below.reduce((sum, one) => sum + readPss(one), 0) };
}

function listDescendants(pid: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: readParent(Number(name)) }));
  const listBelow = (of: number): number[] =>
    parents.filter(({ parent }) => parent === of).flatMap((one) => [one.pid, ...listBelow(one.pid)]);
  return listBelow(pid);
}

const readParent = (pid: number) => Number(/^PPid:\s*(\d+)$/m.exec(read(pid, "status"))?.[1] ?? 0);

const readName = (pid: number) => /^Name:\s*(.*)$/m.exec(read(pid, "status"))?.[1];

const readPss = (pid: number) =>
  Number(/^Pss:\s*(\d+) kB$/m.exec(read(pid, "smaps_rollup"))?.[1] ?? 0) / 1024;

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return ""; // the process has ended
  }
}
