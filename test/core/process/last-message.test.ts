/** The last message of the guardian arrives, even if the runner sends it an order while it exits. */

import { expect, test } from "vitest";
import {
  clock,
  createMark,
  findGuardians,
  prepareGuarded,
} from "../../../fixtures/process/guarded-processes.ts";
import { GUARDIAN, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { addMs } from "../../../src/core/base/clock.ts";

/** Blocks, without reading, until the command has ended and the guardian has sent everything. */
function standStill(mark: string) {
  const isOver = () => listMarkedProcesses(mark).every(({ name }) => name === GUARDIAN);
  while (!isOver());
  for (const end = performance.now() + 100; performance.now() < end; );
}

const createLaterDeadlines = () => ({
  termAt: addMs(clock.now(), 30_000),
  killAt: addMs(clock.now(), 31_000),
});

test.each([1, 2, 3, 4, 5])("a deadline that moves as the command ends (%i)", async () => {
  const mark = createMark();
  const it = await prepareGuarded(mark, ["sh", "-c", "sleep 0.05; exit 3"]);
  await it.start({ SIGNALBOX_RUN: mark });
  standStill(mark);
  it.arm(createLaterDeadlines());
  it.signal("SIGUSR1");
  expect(await it.exited).toEqual({ code: 3, signal: undefined, terminated: false, leftovers: false });
  await it.gone;
  await it.release();
});

test("a deadline that moves as the command turns out not to be executable", async () => {
  const mark = createMark();
  const it = await prepareGuarded(mark, ["/no/such/command"]);
  const starting = it.start({ SIGNALBOX_RUN: mark }).catch((error) => error);
  standStill(mark);
  it.arm(createLaterDeadlines());
  expect(await starting).toMatchObject({ exitCode: 127 });
  await it.release();
});

test("a guardian that has told all leaves with the runner's farewell, which comes by itself", async () => {
  const mark = createMark();
  const it = await prepareGuarded(mark, ["true"]);
  const { inner } = findGuardians(mark);
  await it.start({ SIGNALBOX_RUN: mark });
  await it.gone;
  const hasLeft = () => !listMarkedProcesses(mark).some(({ pid }) => pid === inner);
  await waitUntil("the guardians have left", hasLeft);
});
