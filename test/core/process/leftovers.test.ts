import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  clock,
  createMark,
  createOutput,
  findGuardians,
  listRemains,
  startGuarded,
  WAIT_FOR_FILE,
} from "../../../fixtures/process/guarded-processes.ts";
import { listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { addMs } from "../../../src/core/base/clock.ts";
import type { GuardedCommand } from "../../../src/core/process/guarded-command/command.ts";

async function leaveOne() {
  const mark = createMark();
  return { mark, ...(await startGuarded(mark, ["sh", "-c", "setsid sleep 30 & exit 5"])) };
}

test("leftovers are reported, and live on after the release", async () => {
  const { mark, it } = await leaveOne();
  expect(await it.exited).toEqual({ code: 5, signal: undefined, terminated: false, leftovers: true });
  await it.release();
  // The shell does not wait until setsid has become sleep.
  const isAlone = () =>
    listMarkedProcesses(mark).every(({ parent }) => parent === 1) && !listRemains(mark).includes("setsid");
  await waitUntil("only the leftover", isAlone);
  expect(listRemains(mark)).toEqual(["sleep"]);
});

test.each<[string, (it: GuardedCommand) => void]>([
  ["killed by a termination", (it) => it.terminate(addMs(clock.now(), 1000))],
  [
    "under the deadlines",
    (it) => it.arm({ termAt: addMs(clock.now(), 50), killAt: addMs(clock.now(), 100) }),
  ],
])("until the release, leftovers are %s", async (_, end) => {
  const { mark, it } = await leaveOne();
  await it.exited;
  end(it);
  await it.gone;
  expect(listRemains(mark)).toEqual([]);
  await it.release();
});

test("leftovers that end by themselves are gone", async () => {
  const out = createOutput();
  const { it } = await startGuarded(createMark(), ["sh", "-c", `(${WAIT_FOR_FILE}) & exit 0`], {
    OUT: out.path,
  });
  expect(await it.exited).toMatchObject({ code: 0, leftovers: true });
  writeFileSync(out.path, "");
  await it.gone;
  await it.release();
});

test("a release that comes while the command runs waits for it", async () => {
  const mark = createMark();
  const out = createOutput();
  const { it } = await startGuarded(mark, ["sh", "-c", `${WAIT_FOR_FILE}; exit 6`], { OUT: out.path });
  const released = it.release();
  expect(findGuardians(mark)).toBeDefined();
  writeFileSync(out.path, "");
  expect(await it.exited).toMatchObject({ code: 6 });
  await released;
  expect(listMarkedProcesses(mark)).toEqual([]);
});
