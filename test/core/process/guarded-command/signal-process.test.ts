import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startSleep } from "../../../../fixtures/process/guarded-processes.ts";
import { signalProcess } from "../../../../src/core/process/guarded-command/orphans.ts";
import { type ProcessStatus, readProcess } from "../../../../src/core/process/guarded-command/processes.ts";

/** Starts a process that lasts, and reads what /proc shows of it. */
function startSeen() {
  const process = startSleep();
  return { ...process, status: readProcess(process.pid) as ProcessStatus };
}

test("a process that was seen is signalled, and no descriptor stays open", async () => {
  const { status, ended } = startSeen();
  signalProcess({ pid: 0, born: 0 }, "SIGCONT"); // loads the addon
  const before = readdirSync("/proc/self/fd").length;
  expect(signalProcess(status, "SIGUSR1")).toBe(true);
  expect(readdirSync("/proc/self/fd").length).toBe(before);
  expect(await ended).toEqual([null, "SIGUSR1"]);
  expect(signalProcess(status, "SIGUSR1"), "it has ended").toBe(false);
});

test("another process that has its id by now, or that is not meant any more, is left alone", async () => {
  const { child, status, ended } = startSeen();
  expect(signalProcess({ ...status, born: status.born - 1 }, "SIGKILL")).toBe(false);
  expect(signalProcess(status, "SIGKILL", () => false)).toBe(false);
  child.kill("SIGTERM");
  expect(await ended).toEqual([null, "SIGTERM"]);
});

test("the process is held while it is examined: its id cannot come to mean another one", async () => {
  const { child, status, ended } = startSeen();
  const countHandles = () =>
    readdirSync("/proc/self/fdinfo").filter((fd) => {
      try {
        return readFileSync(`/proc/self/fdinfo/${fd}`, "utf8").includes(`Pid:\t${status.pid}\n`);
      } catch {
        return false;
      }
    }).length;
  let held = 0;
  signalProcess(status, "SIGCONT", () => {
    held = countHandles();
    return false;
  });
  expect([held, countHandles()]).toEqual([1, 0]);
  child.kill();
  await ended;
});
