/** Processes that leave the tree of their command. Each test runs its command in a cgroup, if one can be created, and without one. */

import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  createMark,
  createOutput,
  createSleeper,
  findGuardians,
  isRoot,
  killTogether,
  type Runner,
  readCgroupPath,
  startRunner,
  WAYS,
} from "../../../fixtures/process/guarded-processes.ts";
import { killProcess } from "../../../fixtures/process/marked-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

/** Bytes that a process has read. */
function readByteCount(pid: number) {
  return Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

/** Waits until a guardian has read the list of all processes, which it does again and again where there is no cgroup. */
async function waitForScan(inner: number) {
  const listed = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).length * 50;
  for (const _ of ["one that may have begun before", "one that has not"]) {
    const before = readByteCount(inner);
    await waitUntil("a look at all processes", () => readByteCount(inner) > before + listed);
  }
}

/** A pid namespace that is no descendant of any command. @returns its first process */
async function startOtherNamespace() {
  const outside = createSleeper();
  const holder = spawn("unshare", ["-pf", "--kill-child", ...outside.words.split(" ")], { stdio: "ignore" });
  onTestFinished(() => void holder.kill("SIGKILL"));
  const readFirstChild = (pid: number) => readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim();
  return waitUntil("a namespace", () => Number(readFirstChild(holder.pid ?? 0)) || undefined);
}

/** Waits until a process that left would be found: at once in a cgroup, else once it was seen. */
async function waitUntilFindable(run: Runner, inner: number) {
  const { pid = 0 } = await run.waitForEvent("started");
  if (readCgroupPath(pid) === readCgroupPath(run.pid)) await waitForScan(inner);
}

describe.each(WAYS)("$name", ({ before }) => {
  test("both guardians killed at once: a daemon with an own session and no environment dies too", async () => {
    const mark = createMark();
    const daemon = createSleeper();
    const script = `setsid env -i ${daemon.words} & exec sleep 60`;
    const run = startRunner(mark, { command: ["sh", "-c", script] }, {}, before);
    await run.waitForEvent("started");
    const pid = await waitUntil("a daemon", daemon.find);
    const { outer, inner } = findGuardians(mark, run.pid);
    await waitUntilFindable(run, inner);
    killTogether(outer, inner);
    expect(await run.ended).toExit(137);
    expect(daemon.find(), `the daemon ${pid}`).toBeUndefined();
  });

  test.runIf(isRoot).each([
    ["a termination ends it", () => {}],
    ["so does the outer guardian, alone", ({ inner }: { inner: number }) => killProcess(inner, "SIGKILL")],
    ["so does the inner guardian, alone", ({ outer }: { outer: number }) => killProcess(outer, "SIGKILL")],
  ])("what moves into another pid namespace, and loses its parent there: %s", async (_, fault) => {
    const mark = createMark();
    const out = createOutput();
    const stray = createSleeper();
    const inside = `setsid env -i ${stray.words} & until [ -e $OUT ]; do sleep 0.02; done`;
    const script = `nsenter -p -t ${await startOtherNamespace()} sh -c '${inside}'; echo back; sleep 60`;
    const run = startRunner(mark, { command: ["sh", "-c", script] }, { OUT: out.path }, before);
    await run.waitForEvent("started");
    const pid = await waitUntil("a stray", stray.find);
    const guardians = findGuardians(mark, run.pid);
    await waitUntilFindable(run, guardians.inner);
    const back = new Promise((resolve) => run.process.stdout?.once("data", resolve));
    writeFileSync(out.path, "");
    await back;
    expect(stray.find()).toBe(pid);
    fault(guardians);
    killProcess(run.pid, "SIGUSR1");
    await run.ended;
    expect(stray.find(), "what went away").toBeUndefined();
  });
});
