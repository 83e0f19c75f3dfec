import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Argv, Bed } from "./bed.ts";
import { note, shown, table } from "./figures.ts";

/** How long the processes get to settle, in ms. */
const SETTLE = 3_000;
const COMMAND = ["sleep", "600"];
/** As it calls itself, in the 15 characters that the kernel keeps. */
const GUARDIAN = "signalbox-guard";

/** What a run takes while it waits or holds: its share of resident memory, the guardian's with it, the command's not. */
export async function memory(bed: Bed): Promise<void> {
  const alone = await shares(bed, 1);
  const many = await shares(bed, bed.quick ? 5 : 20);
  const rows = alone.map(({ what, runner, guardian }, at) => [
    what,
    ...[runner, guardian, runner + guardian].map((mib) => shown(mib)),
    shown((many[at]?.runner ?? Number.NaN) + (many[at]?.guardian ?? Number.NaN)),
  ]);
  const head = ["PSS, MiB", "runner", "guardian", "together", `each of ${bed.quick ? 5 : 20}`];
  table("Memory", head, rows);
  note("PSS: what several processes share is divided among them; so each of many takes less");
}

interface Share {
  what: string;
  runner: number;
  guardian: number;
}

async function shares(bed: Bed, times: number): Promise<Share[]> {
  const subjects: [what: string, argv: (i: number) => Argv, waits: boolean][] = [
    ["node, idle", () => [process.execPath, "-e", "setTimeout(() => {}, 6e5)"], false],
    ["run, holding", (i) => bed.signalbox("run", "--lock", `bench-memory-${i}`, "--", ...COMMAND), false],
    ["run, waiting", () => bed.signalbox("run", "--wait", "--lock", "bench-memory-0", "--", "true"), true],
    ["etcdctl lock, holding", (i) => bed.etcdctlLock(`bench-memory-${i}`, ...COMMAND), false],
    ["etcdctl lock, waiting", () => bed.etcdctlLock("bench-memory-0", "true"), true],
  ];
  const children: { child: ChildProcess; what: string }[] = [];
  try {
    for (const [what, argv, waits] of subjects) {
      if (waits) await pause(1_000); // the holder comes first
      for (let i = 0; i < times; i += 1) children.push({ child: start(argv(i), bed), what });
    }
    await pause(SETTLE);
    return subjects.map(([what]) => {
      const parts = children.filter((one) => one.what === what).map(({ child }) => treeOf(child.pid ?? 0));
      const sum = (part: "runner" | "guardian") =>
        parts.reduce((all, one) => all + one[part], 0) / parts.length;
      return { what, runner: sum("runner"), guardian: sum("guardian") };
    });
  } finally {
    await Promise.all(children.map(({ child }) => end(child)));
  }
}

function start([file, ...args]: Argv, { env }: Bed): ChildProcess {
  return spawn(file, args, { env, stdio: "ignore", detached: true });
}

/** By their group: what `etcdctl lock` has started would live on, and idle Node has nothing to tidy up. */
async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  if (child.pid === undefined || child.exitCode !== null) return;
  process.kill(-child.pid, "SIGTERM");
  const late = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), 5_000);
  await gone;
  clearTimeout(late);
}

/** PSS in MiB of a process, and of those below it that are the guardian. */
function treeOf(pid: number): { runner: number; guardian: number } {
  const below = descendants(pid).filter((one) => nameOf(one) === GUARDIAN);
  return { runner: pssOf(pid), guardian: below.reduce((sum, one) => sum + pssOf(one), 0) };
}

function descendants(pid: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(Number(name)) }));
  const below = (of: number): number[] =>
    parents.filter(({ parent }) => parent === of).flatMap((one) => [one.pid, ...below(one.pid)]);
  return below(pid);
}

const parentOf = (pid: number) => Number(/^PPid:\s*(\d+)$/m.exec(read(pid, "status"))?.[1] ?? 0);

const nameOf = (pid: number) => /^Name:\s*(.*)$/m.exec(read(pid, "status"))?.[1];

const pssOf = (pid: number) => Number(/^Pss:\s*(\d+) kB$/m.exec(read(pid, "smaps_rollup"))?.[1] ?? 0) / 1024;

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return ""; // gone meanwhile
  }
}
