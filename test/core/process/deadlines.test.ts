import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  clock,
  createMark,
  createOutput,
  listRemains,
  prepareGuarded,
  startGuarded,
  WAIT_FOR_FILE,
  waitForSleepers,
} from "../../../fixtures/process/guarded-processes.ts";
import { startStopwatch } from "../../../fixtures/steady.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { addMs } from "../../../src/core/base/clock.ts";
import { createGuardianHost } from "../../../src/core/process/host.ts";

/** How late a deadline may be kept on a slow machine, ms: the other ones are many seconds away. */
const SOON = 4_000;

/** A deadline so many ms from now. @returns how late it is, ms, stalls not counted */
function startLatenessCheck(ms: number) {
  const passed = startStopwatch();
  return () => passed() - ms;
}

/**
 * How early a deadline may come, ms: by the time that the guardian's HELLO took to arrive, which a busy machine draws
 * out. The instants in these tests are further apart.
 */
const EARLY = 200;

/** A limit that is renewed, ms: a busy machine may be late by as much. */
const LIMIT = 3_000;

/** Starts a script, and waits until it has written to $OUT. */
async function startScript(script: string) {
  const out = createOutput();
  const { it } = await startGuarded(createMark(), ["sh", "-c", script], { OUT: out.path });
  await waitUntil("its first line", () => out.lines().length > 0);
  return { it, out };
}

/** A command that ignores SIGTERM already. */
const startDeafCommand = () => startScript(`trap "" TERM; echo up >>$OUT; while :; do sleep 0.05; done`);

test("at termAt a command gets SIGTERM, and may clean up", async () => {
  const script = `trap 'echo bye >>$OUT; exit 3' TERM; echo up >>$OUT; sleep 30 & wait`;
  const { it, out } = await startScript(script);
  it.arm({ termAt: addMs(clock.now(), 100), killAt: addMs(clock.now(), 15_000) });
  expect(await it.exited).toMatchObject({ code: 3, terminated: true });
  await it.gone;
  expect(out.lines()).toEqual(["up", "bye"]);
});

test("at killAt a command that ignores SIGTERM is killed", async () => {
  const { it } = await startDeafCommand();
  const killAt = addMs(clock.now(), 400);
  const late = startLatenessCheck(400);
  it.arm({ termAt: addMs(clock.now(), 100), killAt });
  expect(await it.exited).toMatchObject({ signal: 9, terminated: true });
  await it.gone;
  expect(clock.now() > addMs(killAt, -EARLY)).toBe(true);
  expect(late()).toBeLessThan(SOON);
});

test("descendants that ignore SIGTERM, in sessions of their own, are killed after the first process obeyed", async () => {
  const mark = createMark();
  const script = `(trap "" TERM; setsid sleep 30 & setsid sleep 30 &); exec sleep 30`;
  const { it } = await startGuarded(mark, ["sh", "-c", script]);
  await waitForSleepers(mark, 3);
  const killAt = addMs(clock.now(), 800);
  const late = startLatenessCheck(800);
  it.terminate(killAt);
  expect(await it.exited).toMatchObject({ signal: 15, leftovers: true, terminated: true });
  expect(late()).toBeLessThan(0);
  await it.gone;
  expect(clock.now() > addMs(killAt, -EARLY)).toBe(true);
  expect(listRemains(mark)).toEqual([]);
});

test("renewed deadlines keep a command alive", async () => {
  const out = createOutput();
  const { it } = await startGuarded(createMark(), ["sh", "-c", `${WAIT_FOR_FILE}; exit 4`], {
    OUT: out.path,
  });
  for (const end = addMs(clock.now(), 1.3 * LIMIT); clock.now() < end; ) {
    it.arm({ termAt: addMs(clock.now(), LIMIT), killAt: addMs(clock.now(), LIMIT) });
    await clock.sleep(50);
  }
  it.arm({ termAt: addMs(clock.now(), 60_000), killAt: addMs(clock.now(), 60_000) });
  writeFileSync(out.path, "");
  expect(await it.exited).toMatchObject({ code: 4, terminated: false });
  await it.release();
});

test("a termination that has begun is not undone by a renewal, and heeds the earlier of its limits", async () => {
  const { it } = await startDeafCommand();
  const late = startLatenessCheck(300);
  it.arm({ termAt: addMs(clock.now(), 100), killAt: addMs(clock.now(), 300) });
  it.terminate(addMs(clock.now(), 20_000));
  await it.gone;
  expect(late()).toBeLessThan(SOON);

  const { it: other } = await startDeafCommand();
  const later = startLatenessCheck(300);
  other.terminate(addMs(clock.now(), 300));
  other.arm({ termAt: addMs(clock.now(), 20_000), killAt: addMs(clock.now(), 20_000) });
  await other.gone;
  expect(later()).toBeLessThan(SOON);
});

test("a stopped command dies of SIGTERM all the same", async () => {
  const { it, pid } = await startGuarded(createMark(), ["sleep", "30"]);
  process.kill(pid, "SIGSTOP");
  it.terminate(addMs(clock.now(), 5000));
  expect(await it.exited).toMatchObject({ signal: 15 });
  await it.gone;
});

test("nothing is started without a deadline, nor after one", async () => {
  const spec = { file: "true", args: [], env: { ...process.env, TEST_MARK: createMark() } };
  const unarmed = await createGuardianHost(clock).prepare(spec);
  await expect(unarmed.start({})).rejects.toMatchObject({ exitCode: 70 });
  await unarmed.release();

  const late = await createGuardianHost(clock).prepare(spec);
  late.arm({ termAt: addMs(clock.now(), -1), killAt: addMs(clock.now(), 1000) });
  await expect(late.start({})).rejects.toMatchObject({ exitCode: 125 });
  await late.release();
});

test("a termination before the start leaves nothing to start", async () => {
  const it = await prepareGuarded(createMark(), ["true"]);
  it.terminate(addMs(clock.now(), 1000));
  await it.gone;
  await expect(it.start({})).rejects.toMatchObject({ exitCode: 70 });
  await it.release();
});

test("a guardian that is not needed is released", async () => {
  const mark = createMark();
  const it = await prepareGuarded(mark, ["true"]);
  await it.release();
  expect(listRemains(mark)).toEqual([]);
});
