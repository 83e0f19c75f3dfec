import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  clock,
  createMark,
  findGuardians,
  killTogether,
  listRemains,
  startGuarded,
  startProcessTree,
} from "../../../fixtures/process/guarded-processes.ts";
import { killProcess } from "../../../fixtures/process/marked-processes.ts";

const KILLED = "its guardian was killed, or held by a debugger";

async function startGuardedSleep() {
  const mark = createMark();
  return { mark, ...(await startGuarded(mark, ["sleep", "30"])), ...findGuardians(mark) };
}

const listLiving = (pids: number[]) => pids.filter((pid) => existsSync(`/proc/${pid}/exe`)); // a zombie has none to follow

test.each(["outer", "inner"] as const)(
  "the %s guardian killed: all dead, and the runner is told",
  async (which) => {
    const { mark, it, ...guardians } = await startProcessTree();
    killProcess(guardians[which], "SIGKILL");
    await it.gone;
    expect(listRemains(mark)).toEqual([]);
    expect(await it.exited).toMatchObject({ code: undefined, signal: 9, terminated: true, why: KILLED });
  },
);

test("both guardians killed at once: all dead, by the runner's hand", async () => {
  const { mark, it, outer, inner, pids } = await startProcessTree();
  killTogether(outer, inner);
  await it.gone;
  expect(listRemains(mark)).toEqual([]);
  expect(listLiving(pids)).toEqual([]); // the one without a mark was found by its session
  expect(await it.exited).toMatchObject({ signal: 9, why: KILLED });
});

test("TERM, INT and HUP do not end a guardian", async () => {
  const { it, pid, outer, inner } = await startGuardedSleep();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    for (const guardian of [outer, inner]) killProcess(guardian, signal);
  killProcess(pid, "SIGUSR1");
  expect(await it.exited).toEqual({ code: undefined, signal: 10, terminated: false, leftovers: false });
  await it.release();
});

test("a stopped outer guardian does not hold up the end of a run", async () => {
  const { mark, it, pid, outer } = await startGuardedSleep();
  killProcess(outer, "SIGSTOP");
  killProcess(pid, "SIGTERM");
  expect(await it.exited).toMatchObject({ signal: 15, terminated: false });
  await it.release();
  expect(listRemains(mark)).toEqual([]);
});

test("guardians are small", async () => {
  const { it, outer, inner } = await startGuardedSleep();
  const pss = [outer, inner].map((pid) =>
    Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]),
  );
  console.info(`PSS of the guardians: ${pss.join(" and ")} KiB`);
  expect(Math.max(...pss)).toBeLessThan(2048);
  it.terminate(clock.now());
  await it.gone;
});
