/** Guardians that are stopped by a debugger, `kill -STOP` or the cgroup freezer. */

import { chmodSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { killProcess, listMarkedProcesses } from "../../fixtures/process/marked-processes.ts";
import { encodeFrame, GUARDIAN_EVENT, WIRE_VERSION } from "../../src/process/guarded-command/wire.ts";
import { createGuardianHost } from "../../src/process/host.ts";
import {
  clock,
  createMark,
  createOutput,
  createSleeper,
  findGuardians,
  getFixturePath,
  listRemains,
  startBrood,
  startRunner,
  waitUntilDead,
} from "./helpers.ts";

/** A runner's command, and its guardians. */
async function startBroodRunner() {
  const mark = createMark();
  const run = startRunner(mark, { command: [getFixturePath("brood.sh")] });
  await run.waitForEvent("started");
  const { outer, inner } = findGuardians(mark, run.pid);
  return { mark, run, outer: outer.pid, inner: inner.pid };
}

function stop(...pids: number[]): void {
  for (const pid of pids) killProcess(pid, "SIGSTOP");
}

test("both stopped, then the runner killed: all dead", async () => {
  const { mark, run, outer, inner } = await startBroodRunner();
  stop(outer, inner);
  killProcess(run.pid, "SIGKILL");
  await waitUntilDead(mark, 10_000);
});

test("the inner one stopped, the outer one killed, then the runner killed: all dead", async () => {
  const { mark, run, outer, inner } = await startBroodRunner();
  stop(inner);
  killProcess(outer, "SIGKILL");
  killProcess(run.pid, "SIGKILL");
  await waitUntilDead(mark, 10_000);
});

test("both stopped: their deadlines are kept all the same", async () => {
  const mark = createMark();
  const { it } = await startBrood(mark);
  const { outer, inner } = findGuardians(mark);
  it.arm({ termAt: clock.now() + 300, killAt: clock.now() + 600 });
  stop(outer.pid, inner.pid);
  await it.gone;
  expect(listRemains(mark)).toEqual([]);
});

test("both stopped: a termination wakes them", async () => {
  const mark = createMark();
  const { it } = await startBrood(mark);
  const { outer, inner } = findGuardians(mark);
  stop(outer.pid, inner.pid);
  it.terminate(clock.now() + 300);
  await it.gone;
  expect(listRemains(mark)).toEqual([]);
});

test("the inner one stopped and the outer one killed: all dead, before any deadline", async () => {
  const mark = createMark();
  const { it } = await startBrood(mark);
  const { outer, inner } = findGuardians(mark);
  stop(inner.pid);
  killProcess(outer.pid, "SIGKILL");
  await it.gone;
  expect(listRemains(mark)).toEqual([]);
});

test("a guardian that does not answer at the horizon is killed, and the runner ends what it guards", async () => {
  const mark = createMark();
  const out = createOutput();
  const sleeper = createSleeper();
  const formatBytes = (frame: Buffer) =>
    [...frame].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  const news =
    formatBytes(encodeFrame(GUARDIAN_EVENT.hello, 0n, WIRE_VERSION)) +
    formatBytes(encodeFrame(GUARDIAN_EVENT.started, 7n));
  const deaf = `#!/bin/sh\nprintf '${news}' >&3\n${sleeper.words} 3>&- &\ntrap '' TERM\nwait\n`;
  writeFileSync(out.path, deaf);
  chmodSync(out.path, 0o755);
  const it = await createGuardianHost(clock, out.path).prepare({
    file: "true",
    args: [],
    env: { ...process.env, TEST_MARK: mark },
  });
  it.arm({ termAt: clock.now(), killAt: clock.now() + 100 });
  await it.start({ SIGNALBOX_RUN: mark });
  await it.gone;
  expect(sleeper.find()).toBeUndefined();
  expect(listMarkedProcesses(mark)).toEqual([]);
  expect(await it.exited).toMatchObject({ signal: 9, terminated: true });
});
