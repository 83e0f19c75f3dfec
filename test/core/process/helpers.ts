import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { GUARDIAN, killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import type { RunnerOptions } from "../../../fixtures/process/runner.ts";
import { startStopwatch } from "../../../fixtures/steady.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { addMs, LONG_AGO } from "../../../src/core/base/clock.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { createGuardianHost } from "../../../src/core/process/host.ts";

export const getFixturePath = (name: string) =>
  resolve(import.meta.dirname, "../../../fixtures/process", name);

/** A native program: that of the build, or of TEST_NATIVES (sanitizers.long.test.ts). */
export const getNativePath = (name: string) =>
  join(process.env.TEST_NATIVES ?? resolve(import.meta.dirname, "../../../dist/native", process.arch), name);

/** Names of what lives of a marked command; its guardians, who may just be leaving, are not of it. */
export function listRemains(mark: string): string[] {
  return listMarkedProcesses(mark).flatMap(({ name }) => (name === GUARDIAN ? [] : [name]));
}

/** Waits until nothing bears the mark, but what is excepted. @returns the milliseconds that took, stalls not counted */
export async function waitUntilDead(mark: string, ms: number, except: number[] = []): Promise<number> {
  const waited = startStopwatch();
  const listAlive = () => listMarkedProcesses(mark).filter(({ pid }) => !except.includes(pid));
  let quiet = 0; // a process in the middle of its exec shows no environment: look more than once
  const isSilent = () => {
    quiet = listAlive().length === 0 ? quiet + 1 : 0;
    return quiet === 3;
  };
  await waitUntil("all dead", isSilent, { ms, every: 5 }).catch((cause) => {
    throw new Error(`still alive: ${JSON.stringify(listAlive())}`, { cause });
  });
  return waited();
}

/** A mark of its own for a test; whatever still bears it at the end of the test is killed, by process id. */
export function createMark(): string {
  const mark = randomUUID();
  onTestFinished(async () => {
    for (let quiet = 0; quiet < 3; quiet++) {
      for (const { pid } of listMarkedProcesses(mark)) killProcess(pid, "SIGKILL");
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  });
  return mark;
}

/** A process tree that is complete: eight sleepers in four sessions, one of them without the mark, and a stopped shell. */
export async function startProcessTree() {
  const mark = createMark();
  const { it } = await startGuarded(mark, [getFixturePath("process-tree.sh")]);
  await waitForSleepers(mark, 8);
  const pids = listMarkedProcesses(mark).map(({ pid }) => pid);
  return { mark, it, pids, ...findGuardians(mark) };
}

/** Waits until so many marked processes have become `sleep`. */
export async function waitForSleepers(mark: string, count: number): Promise<void> {
  const isComplete = () => listRemains(mark).filter((name) => name === "sleep").length === count;
  await waitUntil(`${count} sleepers`, isComplete);
}

/** Kills processes at once: they are stopped first, so that none has time to act for another. */
export function killTogether(...pids: number[]): void {
  for (const signal of ["SIGSTOP", "SIGKILL"] as const) for (const pid of pids) killProcess(pid, signal);
}

/** Starts a process in a session of its own, which sleeps until the end of the test. The words before its own become it. */
export function startSleep(before: string[] = [], program = "sleep") {
  const [file = "", ...args] = [...before, program, "1000"];
  const child = spawn(file, args, { stdio: "ignore", detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, pid: child.pid ?? 0, ended: once(child, "exit") };
}

/** A process that can be found wherever it goes: by its argument, which no other has. It is killed when the test is over. */
export function createSleeper(): { words: string; find: () => number | undefined } {
  const words = `sleep 1000.${randomInt(1e12)}`;
  const find = () =>
    listCommandLines().find(({ cmdline }) => cmdline === `${words.replace(" ", "\0")}\0`)?.pid;
  onTestFinished(() => {
    const pid = find();
    if (pid !== undefined) killProcess(pid, "SIGKILL");
  });
  return { words, find };
}

/** The command line of every process, as `pkill -f` sees it but for the NULs. */
export function listCommandLines(): { pid: number; cmdline: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => ({ pid: Number(pid), cmdline: read(`/proc/${pid}/cmdline`) }));
}

/** Whether this process may do what it wants with namespaces and cgroups. */
export const isRoot = process.getuid?.() === 0;

const CGROUPS =
  ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].find((path) => existsSync(`${path}/cgroup.procs`)) ?? "";

/** The folder of the cgroup of a process. */
export function readCgroupPath(pid: number | "self"): string {
  return join(CGROUPS, /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "latin1"))?.[1] ?? "");
}

/** @returns the folder of this process's own cgroup, if cgroups can be made in it */
export function findWritableCgroup(): string | undefined {
  if (CGROUPS === "") return undefined;
  const home = readCgroupPath("self").replace(/\/$/, "");
  try {
    rmdirSync(mkdtempSync(join(home, "test-")));
    return home;
  } catch {
    return undefined; // it is read-only, or another user's
  }
}

const HOME = findWritableCgroup() ?? "";
/** Whether tests may create cgroups, and move processes of others. */
export const canCreateCgroups = isRoot && HOME !== "";

/** A cgroup for a test's runners alone, so that those of other tests do not examine it. */
export function createCgroupHome() {
  const path = join(HOME, `test-${Math.random().toString(36).slice(2)}`);
  mkdirSync(path);
  const groups = () => readdirSync(path).filter((name) => name.startsWith("signalbox-"));
  onTestFinished(async () => {
    writeFileSync(join(path, "cgroup.kill"), "1");
    await waitUntil("an empty cgroup", () =>
      readFileSync(join(path, "cgroup.events"), "latin1").includes("populated 0"),
    );
    for (const name of groups()) rmdirSync(join(path, name));
    rmdirSync(path);
  });
  /** Words before those of a program that is to run there. */
  const before = ["sh", "-c", `echo $$ >${path}/cgroup.procs && exec "$@"`, "sh"];
  /** Starts a runner of a script there. @param between  words of programs between the move and the runner */
  const start = (script: string, env = {}, between: readonly string[] = []) => {
    const mark = createMark();
    return { mark, ...startRunner(mark, { command: ["sh", "-c", script] }, env, [...before, ...between]) };
  };
  return { path, before, start, groups };
}

/** Starts a command there, and kills its runner and its guardians. @returns a process of the command that lives on */
export async function abandonCommand(home: ReturnType<typeof createCgroupHome>) {
  const sleeper = createSleeper();
  const run = home.start(`setsid env -i ${sleeper.words} >/dev/null 2>&1 & sleep 60`);
  await run.waitForEvent("started");
  await waitUntil("the sleeper", sleeper.find);
  const { outer, inner } = findGuardians(run.mark, run.pid);
  killTogether(inner, outer, run.pid);
  return sleeper;
}

/** Before a runner's words: it sees no cgroups. */
export const NO_CGROUPS = ["unshare", ...(isRoot ? [] : ["-r"]), "-m", "sh", "-c"].concat(
  'mount -t tmpfs none /sys/fs/cgroup && exec "$@"',
  "sh",
);

/** An ordinary user may not on every machine. */
export const canHideCgroups =
  spawnSync(NO_CGROUPS[0] ?? "", [...NO_CGROUPS.slice(1), "true"], { stdio: "ignore" }).status === 0;

/** How a command is found: by its cgroup, and where there is none. The words come before a runner's. */
export const WAYS = [
  { name: "where cgroups may be made", before: [] },
  ...(canHideCgroups ? [{ name: "where there are none", before: NO_CGROUPS }] : []),
];

/** The path of a file in a folder of its own, which commands write to, or wait for, as $OUT. */
export function createOutput(): { path: string; lines: () => string[] } {
  const path = join(createTestFolder(), "out");
  return { path, lines: () => read(path).split("\n").filter(Boolean) };
}

/** For a shell: waits until the file $OUT is there. */
export const WAIT = "until [ -e $OUT ]; do sleep 0.02; done";

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

export const clock = createRealClock();

/** A command guarded by the test's own process, armed to be terminated in 20 s. */
export async function prepareGuarded(
  mark: string,
  command: [string, ...string[]],
  env: Record<string, string> = {},
) {
  const [file, ...args] = command;
  const spec = { file, args, env: { ...process.env, ...env, TEST_MARK: mark } };
  const it = await createGuardianHost(clock, getNativePath("guardian")).prepare(spec);
  onTestFinished(() => it.terminate(LONG_AGO));
  it.arm({ termAt: addMs(clock.now(), 20_000), killAt: addMs(clock.now(), 21_000) });
  return it;
}

/** Starts a guarded command under a run id, as a run does. */
export async function startGuarded(
  mark: string,
  command: [string, ...string[]],
  env: Record<string, string> = {},
) {
  const it = await prepareGuarded(mark, command, env);
  return { it, pid: await it.start({ SIGNALBOX_RUN: mark }) };
}

/** The process ids of the outer and the inner guardian of the marked command. */
export function findGuardians(mark: string, runner = process.pid): { outer: number; inner: number } {
  const all = listMarkedProcesses(mark).filter(({ name }) => name === GUARDIAN);
  const findChild = (of?: number) => all.find(({ parent }) => parent === of)?.pid;
  const outer = findChild(runner);
  const inner = findChild(outer);
  if (!outer || !inner) throw new Error(`no guardians: ${JSON.stringify(all)}`);
  return { outer, inner };
}

export interface RunnerEvent {
  event: string;
  pid?: number;
  killAtUptime?: number;
}

export interface Runner {
  process: ChildProcess;
  pid: number;
  /** Resolves with the event, now or when it comes. Rejects when the runner ends before. */
  waitForEvent(name: string): Promise<RunnerEvent>;
  /** Exit code and all output, when the runner has ended. */
  ended: Promise<{ code: number | null; signal: string | null; stdout: Buffer; stderr: Buffer }>;
}

/**
 * The fixture's runner as a process; stdin is a pipe that the test may end.
 * @param before  words before its own, of a program that becomes it
 */
export function startRunner(
  mark: string,
  order: Partial<RunnerOptions> & Pick<RunnerOptions, "command">,
  env = {},
  before: readonly string[] = [],
): Runner {
  const text = JSON.stringify({
    guardian: getNativePath("guardian"),
    termIn: 20_000,
    killIn: 21_000,
    ...order,
  });
  const [file = "", ...args] = [...before, process.execPath, getFixturePath("runner.ts"), text];
  const child = spawn(file, args, {
    env: { ...process.env, ...env, TEST_MARK: mark },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  const seen = new Map<string, RunnerEvent>();
  createInterface({ input: child.stdio[3] as Readable }).on("line", (line) => {
    const event: RunnerEvent = JSON.parse(line);
    seen.set(event.event, event);
    child.emit("event");
  });
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => buffer(stream as Readable));
  return {
    process: child,
    pid: child.pid ?? 0,
    waitForEvent: (name) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const event = seen.get(name);
          if (event !== undefined) resolve(event);
        };
        look();
        child.on("event", look).once("close", () => reject(new Error(`the runner ended before "${name}"`)));
      }),
    ended: once(child, "close").then(async ([code, signal]) => {
      return { code, signal, stdout: await stdout, stderr: await stderr } as Awaited<Runner["ended"]>;
    }),
  };
}
