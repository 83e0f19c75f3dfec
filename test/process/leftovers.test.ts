import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { clock, guardians, marked, newMark, newOutput, remains, started, until, WAIT } from "./helpers.ts";

const LEAVES_ONE: [string, ...string[]] = ["sh", "-c", "setsid sleep 30 & exit 5"];

test("leftovers are reported, and live on after the release", async () => {
  const mark = newMark();
  const { it } = await started(mark, LEAVES_ONE);
  expect(await it.exited).toEqual({ code: 5, signal: undefined, terminated: false, leftovers: true });
  await it.release();
  await until("only the leftover", () =>
    marked(mark).every(({ name, parent }) => name === "sleep" && parent === 1),
  );
  expect(remains(mark)).toEqual(["sleep"]);
});

test("leftovers are killed by a termination", async () => {
  const mark = newMark();
  const { it } = await started(mark, LEAVES_ONE);
  await it.exited;
  it.terminate(clock.now() + 1000);
  await it.gone;
  expect(remains(mark)).toEqual([]);
  await it.release();
});

test("until the release leftovers are under the deadlines", async () => {
  const mark = newMark();
  const { it } = await started(mark, LEAVES_ONE);
  await it.exited;
  it.arm({ termAt: clock.now() + 50, killAt: clock.now() + 100 });
  await it.gone;
  expect(remains(mark)).toEqual([]);
});

test("leftovers that end by themselves are gone", async () => {
  const out = newOutput();
  const { it } = await started(newMark(), ["sh", "-c", `(${WAIT}) & exit 0`], { OUT: out.path });
  expect(await it.exited).toMatchObject({ code: 0, leftovers: true });
  writeFileSync(out.path, "");
  await it.gone;
  await it.release();
});

test("a release that comes while the command runs waits for it", async () => {
  const mark = newMark();
  const out = newOutput();
  const { it } = await started(mark, ["sh", "-c", `${WAIT}; exit 6`], { OUT: out.path });
  const released = it.release();
  expect(guardians(mark)).toBeDefined();
  writeFileSync(out.path, "");
  expect(await it.exited).toMatchObject({ code: 6 });
  await released;
  expect(marked(mark)).toEqual([]);
});
