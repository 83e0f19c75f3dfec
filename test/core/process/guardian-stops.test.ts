/** Guardians that are stopped by a debugger, `kill -STOP` or the cgroup freezer. */

import { chmodSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  clock,
  createMark,
  createOutput,
  createSleeper,
  findGuardians,
  getFixturePath,
  listRemains,
  startProcessTree,
  startRunner,
  waitUntilDead,
} from "../../../fixtures/process/guarded-processes.ts";
import { killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { addMs } from "../../../src/core/base/clock.ts";
import { encodeFrame, GUARDIAN_EVENT, WIRE_VERSION } from "../../../src/core/process/guarded-command/wire.ts";
import { createGuardianHost } from "../../../src/core/process/host.ts";

function stop(...pids: number[]) {
  for (const pid of pids) killProcess(pid, "SIGSTOP");
}

type Guardians = Record<"outer" | "inner", number>;

test.each<[string, (guardians: Guardians) => void]>([
  ["both stopped", ({ outer, inner }) => stop(outer, inner)],
  [
    "the inner one stopped, the outer one killed",
    ({ outer, inner }) => {
      stop(inner);
      killProcess(outer, "SIGKILL");
    },
  ],
])("%s, then the runner killed: all dead", async (_, fault) => {
  const mark = createMark();
  const run = startRunner(mark, { command: [getFixturePath("process-tree.sh")] });
  await run.waitForEvent("started");
  fault(findGuardians(mark, run.pid));
  killProcess(run.pid, "SIGKILL");
  await waitUntilDead(mark, 10_000);
});

const createDeadlines = () => ({ termAt: addMs(clock.now(), 300), killAt: addMs(clock.now(), 600) });

test.each<[string, (tree: Awaited<ReturnType<typeof startProcessTree>>) => void]>([
  [
    "both stopped: their deadlines are kept all the same",
    ({ it, outer, inner }) => {
      it.arm(createDeadlines());
      stop(outer, inner);
    },
  ],
  [
    "both stopped: a termination wakes them",
    ({ it, outer, inner }) => {
      stop(outer, inner);
      it.terminate(addMs(clock.now(), 300));
    },
  ],
  [
    "the inner one stopped: it is woken, and keeps its deadlines",
    ({ it, inner }) => {
      stop(inner);
      it.arm(createDeadlines());
    },
  ],
  [
    "the inner one stopped and the outer one killed: all dead, before any deadline",
    ({ outer, inner }) => {
      stop(inner);
      killProcess(outer, "SIGKILL");
    },
  ],
  [
    "the outer one stopped and the inner one killed: the runner wakes the outer one",
    ({ outer, inner }) => {
      stop(outer);
      killProcess(inner, "SIGKILL");
    },
  ],
])("%s", async (_, act) => {
  const tree = await startProcessTree();
  act(tree);
  await tree.it.gone;
  expect(listRemains(tree.mark)).toEqual([]);
  await waitUntilDead(tree.mark, 10_000);
});

test("a guardian that does not answer at the horizon is killed, and the runner ends what it guards", async () => {
  const mark = createMark();
  const out = createOutput();
  const sleeper = createSleeper();
  const news = Buffer.concat([
    encodeFrame(GUARDIAN_EVENT.hello, 0n, WIRE_VERSION),
    encodeFrame(GUARDIAN_EVENT.started, 7n),
  ]);
  const octal = [...news].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  const deaf = `#!/bin/sh\nprintf '${octal}' >&3\n${sleeper.words} 3>&- &\ntrap '' TERM\nwait\n`;
  writeFileSync(out.path, deaf);
  chmodSync(out.path, 0o755);
  const env = { ...process.env, TEST_MARK: mark };
  const it = await createGuardianHost(clock, out.path).prepare({ file: "true", args: [], env });
  it.arm({ termAt: clock.now(), killAt: addMs(clock.now(), 100) });
  await it.start({ SIGNALBOX_RUN: mark });
  await it.gone;
  expect(sleeper.find()).toBeUndefined();
  expect(listMarkedProcesses(mark)).toEqual([]);
  expect(await it.exited).toMatchObject({ signal: 9, terminated: true });
});
