import { expect, it } from "vitest";
import { describeProgress, ProgressNotifier } from "../../src/console/alerts.ts";
import type { ConsoleJob } from "../../src/console/data/jobs.ts";

const createJob = (more: Partial<ConsoleJob>): ConsoleJob => ({
  id: 1,
  line: "",
  title: "",
  lines: [],
  code: undefined,
  startedAt: 0,
  endedAt: undefined,
  ...more,
});
const ended = (code: number, endedAt: number) => createJob({ code, endedAt });

it.each([
  ["nothing runs", [], 0, "0"],
  ["one that tells nothing", [createJob({})], 0, "3"],
  ["one that has just begun", [createJob({ startedAt: 4_500 })], 0, "0"],
  ["one that is half done", [createJob({ progress: 0.5 })], 0, "1;50"],
  ["two", [createJob({ progress: 0.5 }), createJob({ progress: 1 })], 0, "1;75"],
  ["two of which one tells nothing", [createJob({ progress: 0.5 }), createJob({})], 0, "3"],
  ["a failure", [ended(1, 4_000)], 0, "2;100"],
  ["a failure that was seen", [ended(1, 4_000)], 4_500, "0"],
  ["a failure at once, which the user has before them", [ended(1, 500)], 0, "0"],
  ["a success", [ended(0, 4_000)], 0, "0"],
])("%s", (_, jobs, seenAt, state) => {
  expect(describeProgress(jobs, 5_000, seenAt)).toBe(state);
});

it("is written when it changes, and never if it is not wanted", () => {
  const written: string[] = [];
  const notifier = new ProgressNotifier((text) => written.push(text), { isWanted: true });
  notifier.clear();
  for (const wall of [5_000, 6_000]) notifier.show([createJob({})], wall);
  notifier.show([ended(2, 6_500)], 7_000);
  notifier.acknowledge(7_500);
  notifier.show([ended(2, 6_500)], 8_000);
  notifier.clear();
  expect(written).toEqual(["3", "2;100", "0"].map((state) => `\x1b]9;4;${state}\x1b\\`));
  new ProgressNotifier((text) => written.push(text), { isWanted: false }).show([createJob({})], 5_000);
  expect(written).toHaveLength(3);
});
