import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFolder } from "../../../../fixtures/process/agent-socket.ts";
import { isRoot, startSleep } from "../../../../fixtures/process/guarded-processes.ts";
import { waitUntil } from "../../../../fixtures/wait-until.ts";
import {
  isSignalableBy,
  readProcess,
  readProcFile,
} from "../../../../src/core/process/guarded-command/processes.ts";

test("a process with brackets and spaces in its name", async () => {
  const program = join(createFolder(), "a) S (1 2");
  copyFileSync("/bin/sleep", program);
  const { pid } = startSleep([], program);
  const status = await waitUntil("the exec", () => {
    const found = readProcess(pid);
    return found?.name === "a) S (1 2" ? found : undefined;
  });
  expect(status).toMatchObject({ pid, parent: process.pid, isStopped: false, isDead: false });
  expect(status.born).toBeGreaterThanOrEqual(readProcess(process.pid)?.born ?? Number.NaN);
});

test("a stopped process, and one that has ended", async () => {
  const { child, pid, ended } = startSleep();
  child.kill("SIGSTOP");
  await waitUntil("the stop", () => readProcess(pid)?.isStopped);
  child.kill("SIGKILL");
  await ended;
  expect(readProcess(pid)).toBeUndefined();
  expect(readProcFile(pid, "status")).toBeUndefined();
  expect(isSignalableBy(pid, 12_345)).toBe(false);
});

test("a user may signal own processes; root may signal all", () => {
  const own = process.getuid?.() ?? -1;
  expect([own, 0, own + 12_345].map((uid) => isSignalableBy(process.pid, uid))).toEqual([true, true, false]);
});

test("what is not the id of one process is no process", () => {
  for (const pid of [-1, 0, 2 ** 40, Number.NaN]) expect(readProcess(pid)).toBeUndefined();
});

test.runIf(isRoot)("process 1 is not a user's", () => {
  expect(isSignalableBy(1, 12_345)).toBe(false);
});

test.runIf(isRoot)("a process of another user", async () => {
  const { pid } = startSleep(["setpriv", "--reuid=12345", "--clear-groups"]);
  await waitUntil("the exec", () => readFileSync(`/proc/${pid}/comm`, "utf8") === "sleep\n");
  expect([12_345, 12_346].map((uid) => isSignalableBy(pid, uid))).toEqual([true, false]);
});
