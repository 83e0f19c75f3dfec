import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { killProcess } from "../../fixtures/process/marked-processes.ts";
import {
  clock,
  createMark,
  findGuardians,
  listRemains,
  startBrood,
  startGuarded,
  waitUntilDead,
} from "./helpers.ts";

async function startFamily() {
  const mark = createMark();
  return { mark, ...(await startBrood(mark)), ...findGuardians(mark) };
}

const listLiving = (pids: number[]) => pids.filter((pid) => existsSync(`/proc/${pid}/exe`)); // a zombie has none to follow

test("the outer guardian killed: all dead, and the runner is told", async () => {
  const { mark, it, outer } = await startFamily();
  killProcess(outer.pid, "SIGKILL");
  await it.gone;
  expect(listRemains(mark)).toEqual([]);
  expect(await it.exited).toMatchObject({ code: undefined, signal: 9, terminated: true });
});

test("the inner guardian killed: all dead, and the runner is told", async () => {
  const { mark, it, inner } = await startFamily();
  killProcess(inner.pid, "SIGKILL");
  await it.gone;
  expect(listRemains(mark)).toEqual([]);
  expect(await it.exited).toMatchObject({ code: undefined, signal: 9, terminated: true });
});

test("both guardians killed at once: all dead, by the runner's hand", async () => {
  const { mark, it, outer, inner, pids } = await startFamily();
  killProcess(outer.pid, "SIGSTOP"); // so that neither has time to act for the other
  killProcess(inner.pid, "SIGSTOP");
  killProcess(inner.pid, "SIGKILL");
  killProcess(outer.pid, "SIGKILL");
  await it.gone;
  expect(listRemains(mark)).toEqual([]);
  expect(listLiving(pids)).toEqual([]); // the one without a mark was found by its session
  expect(await it.exited).toMatchObject({ signal: 9 });
});

test("a stopped inner guardian is woken, and keeps its deadlines", async () => {
  const { mark, it, inner } = await startFamily();
  killProcess(inner.pid, "SIGSTOP");
  it.arm({ termAt: clock.now() + 100, killAt: clock.now() + 300 });
  await it.gone;
  expect(listRemains(mark)).toEqual([]);
});

test("a stopped outer guardian whose inner one is killed is woken by the runner", async () => {
  const { mark, it, outer, inner } = await startFamily();
  killProcess(outer.pid, "SIGSTOP");
  killProcess(inner.pid, "SIGKILL");
  await it.gone;
  await waitUntilDead(mark, 1000);
});

test("a stopped outer guardian does not hold up the end of a run", async () => {
  const mark = createMark();
  const { it, pid } = await startGuarded(mark, ["sleep", "30"]);
  killProcess(findGuardians(mark).outer.pid, "SIGSTOP");
  killProcess(pid, "SIGTERM");
  expect(await it.exited).toMatchObject({ signal: 15, terminated: false });
  await it.release();
  expect(listRemains(mark)).toEqual([]);
});

test("TERM, INT and HUP do not end a guardian", async () => {
  const mark = createMark();
  const { it, pid } = await startGuarded(mark, ["sleep", "30"]);
  const { outer, inner } = findGuardians(mark);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    killProcess(outer.pid, signal);
    killProcess(inner.pid, signal);
  }
  killProcess(pid, "SIGUSR1");
  expect(await it.exited).toEqual({ code: undefined, signal: 10, terminated: false, leftovers: false });
  await it.release();
});

test("guardians are small", async () => {
  const mark = createMark();
  const { it } = await startGuarded(mark, ["sleep", "30"]);
  const { outer, inner } = findGuardians(mark);
  const pss = [outer, inner].map(({ pid }) => {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1]);
  });
  console.info(`PSS of the guardians: ${pss.join(" and ")} KiB`);
  expect(Math.max(...pss)).toBeLessThan(2048);
  it.terminate(clock.now());
  await it.gone;
});
