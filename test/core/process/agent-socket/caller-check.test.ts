import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { createFolder } from "../../../../fixtures/process/agent-socket.ts";
import { isRoot, startSleep } from "../../../../fixtures/process/guarded-processes.ts";
import { waitUntil } from "../../../../fixtures/wait-until.ts";
import { toBootTime } from "../../../../src/core/base/clock.ts";
import { CallRefusal, type CallRequest } from "../../../../src/core/process/agent-socket/call-request.ts";
import { checkCaller, hasAncestor } from "../../../../src/core/process/agent-socket/peer.ts";
import { type ProcessStatus, readProcess } from "../../../../src/core/process/guarded-command/processes.ts";

function check(state: CallRequest["state"], launcher: number, caller = launcher) {
  const request = { pid: launcher, state, bootTime: toBootTime(1000) } as CallRequest;
  checkCaller({ pid: caller, uid: 0, gid: 0, groups: [] }, request, toBootTime(1000));
}
const checkNew = (pid: number) => check("new", pid);
const checkResumed = (launcher: number, guardian: number) => check("running", launcher, guardian);

async function endSleep() {
  const { child, pid, ended } = startSleep();
  child.kill("SIGKILL");
  await ended;
  return pid;
}

/** Starts processes until one has a later start time, which counts in ticks of 10 ms. */
function startYoungerThan(pid: number) {
  const { born } = readProcess(pid) ?? { born: Number.NaN };
  return waitUntil("a younger process", () => {
    const younger = startSleep().pid;
    return (readProcess(younger)?.born ?? 0) > born ? younger : undefined;
  });
}

/** Starts a process in a container of a kind, and returns its id as this process sees it. */
async function startInContainer(words: readonly string[]) {
  const script = ["sh", "-c", "echo up; exec sleep 1000"];
  const child = spawn("unshare", [...words, ...script], { stdio: ["ignore", "pipe", "inherit"] });
  const { pid: parent = 0 } = child;
  const find = () => Number(readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8")) || parent;
  onTestFinished(() => {
    if (child.exitCode === null) process.kill(find(), "SIGKILL");
  });
  await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  if (child.exitCode !== null) throw new Error(`${words.join(" ")} ended with ${child.exitCode}`);
  return find();
}

describe.runIf(isRoot)("a new caller", () => {
  test("has mounts of its own", async () => {
    const pid = await startInContainer(["--mount"]);
    expect(() => checkNew(pid)).not.toThrow();
  });

  test("in another pid namespace is refused, also if its ids there and here are equal", async () => {
    const pid = await startInContainer(["--pid", "--fork"]);
    expect(() => checkNew(pid)).toThrow("another pid namespace");
  });

  test("in another time namespace is refused, also if the clocks there and here hardly differ", async () => {
    const pid = await startInContainer(["--time", "--boottime", "3", "--fork"]);
    expect(() => checkNew(pid)).toThrow("another time namespace");
  });

  test("with another root directory is refused", async () => {
    const folder = createFolder();
    const link = 'for one in bin lib lib64; do [ ! -L /$one ] || cp -P /$one "$0"; done';
    const mount = `mount -t tmpfs none "$0" && mkdir "$0/usr" && mount --rbind /usr "$0/usr"; ${link}`;
    const pid = await startInContainer(["--mount", "sh", "-c", `${mount}; exec chroot "$0" "$@"`, folder]);
    expect(() => checkNew(pid)).toThrow("another root directory");
  });

  test("that has ended is not refused: its connection has ended too", async () => {
    const pid = await endSleep();
    expect(() => checkNew(pid)).not.toThrow();
  });
});

test("a guardian is a descendant of the launcher", () => {
  const { pid } = startSleep();
  expect(() => checkResumed(process.pid, pid)).not.toThrow();
  expect(() => checkResumed(process.ppid, pid)).not.toThrow();
  expect(() => checkResumed(pid, pid)).toThrow(CallRefusal);
});

test("the launcher may have ended, and its id may be that of a younger process", async () => {
  const { pid } = startSleep();
  const ended = await endSleep();
  expect(() => checkResumed(ended, pid)).not.toThrow();
  const younger = await startYoungerThan(pid);
  expect(() => checkResumed(younger, pid)).not.toThrow();
  expect(() => checkResumed(pid, younger)).toThrow("another pid namespace");
});

test("a guardian that has ended, or cannot be seen, is refused", () => {
  expect(() => checkResumed(process.pid, 0)).toThrow(CallRefusal);
});

test("the process with id 1 is an ancestor too", () => {
  const self = readProcess(process.pid) as ProcessStatus;
  expect(hasAncestor({ ...self, parent: 1 }, 1)).toBe(true);
  expect(hasAncestor(self, process.pid)).toBe(false);
});
