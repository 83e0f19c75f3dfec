import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { brood, clock, guardians, kill, newMark, remains, started, untilDead } from "./helpers.ts";

async function family() {
  const mark = newMark();
  return { mark, ...(await brood(mark)), ...guardians(mark) };
}

const living = (pids: number[]) => pids.filter((pid) => existsSync(`/proc/${pid}/exe`)); // a zombie has none to follow

test("the outer guardian killed: all dead, and the runner is told", async () => {
  const { mark, it, outer } = await family();
  kill(outer.pid, "SIGKILL");
  await it.gone;
  expect(remains(mark)).toEqual([]);
  expect(await it.exited).toMatchObject({ code: undefined, signal: 9, terminated: true });
});

test("the inner guardian killed: all dead, and the runner is told", async () => {
  const { mark, it, inner } = await family();
  kill(inner.pid, "SIGKILL");
  await it.gone;
  expect(remains(mark)).toEqual([]);
  expect(await it.exited).toMatchObject({ code: undefined, signal: 9, terminated: true });
});

test("both guardians killed at once: all dead, by the runner's hand", async () => {
  const { mark, it, outer, inner, pids } = await family();
  kill(outer.pid, "SIGSTOP"); // so that neither has time to act for the other
  kill(inner.pid, "SIGSTOP");
  kill(inner.pid, "SIGKILL");
  kill(outer.pid, "SIGKILL");
  await it.gone;
  expect(remains(mark)).toEqual([]);
  expect(living(pids)).toEqual([]); // the one without a mark was found by its session
  expect(await it.exited).toMatchObject({ signal: 9 });
});

test("a stopped inner guardian is woken, and keeps its deadlines", async () => {
  const { mark, it, inner } = await family();
  kill(inner.pid, "SIGSTOP");
  it.arm({ termAt: clock.now() + 100, killAt: clock.now() + 300 });
  await it.gone;
  expect(remains(mark)).toEqual([]);
});

test("a stopped outer guardian whose inner one is killed is woken by the runner", async () => {
  const { mark, it, outer, inner } = await family();
  kill(outer.pid, "SIGSTOP");
  kill(inner.pid, "SIGKILL");
  await it.gone;
  await untilDead(mark, 1000);
});

test("a stopped outer guardian does not hold up the end of a run", async () => {
  const mark = newMark();
  const { it, pid } = await started(mark, ["sleep", "30"]);
  kill(guardians(mark).outer.pid, "SIGSTOP");
  kill(pid, "SIGTERM");
  expect(await it.exited).toMatchObject({ signal: 15, terminated: false });
  await it.release();
  expect(remains(mark)).toEqual([]);
});

test("TERM, INT and HUP do not end a guardian", async () => {
  const mark = newMark();
  const { it, pid } = await started(mark, ["sleep", "30"]);
  const { outer, inner } = guardians(mark);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    kill(outer.pid, signal);
    kill(inner.pid, signal);
  }
  kill(pid, "SIGUSR1");
  expect(await it.exited).toEqual({ code: undefined, signal: 10, terminated: false, leftovers: false });
  await it.release();
});

test("guardians are small", async () => {
  const mark = newMark();
  const { it } = await started(mark, ["sleep", "30"]);
  const { outer, inner } = guardians(mark);
  const pss = [outer, inner].map(({ pid }) => {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1]);
  });
  console.info(`PSS of the guardians: ${pss.join(" and ")} KiB`);
  expect(Math.max(...pss)).toBeLessThan(2048);
  it.terminate(clock.now());
  await it.gone;
});
