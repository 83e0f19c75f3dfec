import { execFileSync } from "node:child_process";
import { readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import {
  clock,
  createMark,
  findGuardians,
  startGuarded,
  startRunner,
} from "../../../fixtures/process/guarded-processes.ts";

async function readOutput(...command: [string, ...string[]]) {
  return (await startRunner(createMark(), { command }).ended).stdout.toString();
}

test("no guardian holds the command's output open", async () => {
  const mark = createMark();
  const { it } = await startGuarded(mark, ["sleep", "30"]);
  for (const pid of Object.values(findGuardians(mark)))
    for (const fd of [0, 1, 2]) expect(readlinkSync(`/proc/${pid}/fd/${fd}`)).toBe("/dev/null");
  it.terminate(clock.now());
  await it.gone;
});

test("signals are at their defaults, and none is blocked", async () => {
  expect(await readOutput("cat", "/proc/self/status")).toMatch(/^SigBlk:\t0+\nSigIgn:\t0+\nSigCgt:\t0+$/m);
});

test("the command leads a process group of its own, in the guardian's session", async () => {
  const script = "read a b c parent group session rest </proc/$$/stat; echo $$ $group $session";
  const [pid, group, session] = (await readOutput("sh", "-c", script)).trim().split(" ");
  expect(group).toBe(pid);
  expect(session).not.toBe(pid);
});

test("what guardians allow themselves, the command does not inherit", async () => {
  const script = ["-c", "nice; cat /proc/self/oom_score_adj"];
  expect(await readOutput("sh", ...script)).toBe(execFileSync("sh", script).toString());
});
