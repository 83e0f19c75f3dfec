import { describe, expect, test } from "vitest";
import {
  computeTimeSinceSuccess,
  type EndedRun,
  judgeRecentRuns,
  type RecentRuns,
} from "../../../../src/cli/views/checks/recent-runs.ts";

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;
const limit = { within: 25 * HOUR, wall: NOW };

const ended = (hoursAgo: number, exit = 0): EndedRun => ({
  endedAt: NOW - hoursAgo * HOUR,
  isSuccess: exit === 0,
  text: `exit ${exit} on web1`,
});
const neutral = (hoursAgo: number): EndedRun => ({
  ...ended(hoursAgo, 75),
  isNeutral: true,
  text: "retry on web1",
});
const job = (runs: EndedRun[], more: Partial<RecentRuns> = {}): RecentRuns => ({
  kind: "lock",
  name: "backup",
  runs,
  runningSince: undefined,
  ...more,
});

test.each([
  ["has succeeded in a boot long ago", [ended(900)], {}, "ok", "succeeded 37d12h ago"],
  ["has not run", [], {}, "ok", "has not run yet; it runs at the next boot of its host"],
  [
    "is due since the boot",
    [],
    { firstDue: NOW - HOUR },
    "ok",
    "has not run yet; its first run was due 1h ago",
  ],
  ["runs late in this boot", [ended(900)], { firstDue: NOW - 24 * HOUR }, "ok", "succeeded 37d12h ago"],
  [
    "is too late in this boot",
    [ended(900)],
    { firstDue: NOW - 26 * HOUR },
    "failure",
    "no run succeeded within 1d1h",
  ],
  ["has failed in this boot", [ended(1, 3), ended(900)], {}, "warning", "its last run failed 1h ago"],
  ["has never succeeded", [ended(1, 3)], {}, "failure", "none of the last 1 runs succeeded"],
])("what runs at boot: %s", (_, runs, more, level, detail) => {
  const found = judgeRecentRuns(job(runs, { kind: "schedule", isAtBoot: true, ...more }), limit);
  expect(found).toMatchObject({ level, detail: expect.stringContaining(detail) });
});

test.each([
  ["has succeeded long ago", [ended(900)], "ok", "succeeded 37d12h ago"],
  ["has failed since", [ended(800, 3), ended(900)], "warning", "its last run failed 33d8h ago"],
  ["has never succeeded", [ended(800, 3)], "failure", "none of the last 1 runs succeeded"],
])("a job that is not judged by time %s", (_, runs, level, detail) => {
  const found = judgeRecentRuns(job(runs, { isUntimed: true }), limit);
  expect(found).toMatchObject({ level, detail: expect.stringContaining(detail) });
});

describe("judgeRecentRuns", () => {
  test.each([
    ["a success in time", [ended(3)], "ok", "succeeded 3h ago, exit 0 on web1"],
    ["a success exactly at the limit", [ended(25)], "ok", "succeeded 1d1h ago, exit 0 on web1"],
    ["a host whose clock is ahead", [ended(-1)], "ok", "succeeded 0s ago, exit 0 on web1"],
    ["an older failure behind a success", [ended(1), ended(2, 3)], "ok", "succeeded 1h ago, exit 0 on web1"],
    [
      "a failure since the last success",
      [ended(1, 3), ended(24)],
      "warning",
      "its last run failed 1h ago, exit 3 on web1; it succeeded 1d ago",
    ],
    [
      "a success that is too old",
      [ended(26)],
      "failure",
      "no run succeeded within 1d1h; the last success was 1d2h ago",
    ],
    [
      "failures only",
      [ended(1, 3), ended(2, 4)],
      "failure",
      "no run succeeded within 1d1h; none of the last 2 runs succeeded; the last run failed 1h ago, exit 3 on web1",
    ],
    [
      "a run since the last success that asked for another start",
      [neutral(1), ended(2)],
      "ok",
      "succeeded 2h ago, exit 0 on web1",
    ],
    [
      "a failure before a run that asked for another start",
      [neutral(1), ended(2, 3), ended(3)],
      "warning",
      "a later run failed 2h ago, exit 3 on web1; it succeeded 3h ago",
    ],
    [
      "only runs that asked for another start",
      [neutral(1)],
      "failure",
      "no run succeeded within 1d1h; none of the last 1 runs succeeded; the last run ended 1h ago, retry on web1",
    ],
    ["nothing remembered", [], "failure", "no run succeeded within 1d1h; no run is recorded"],
  ] as const)("%s", (_, runs, level, detail) => {
    expect(judgeRecentRuns(job([...runs]), limit)).toMatchObject({ check: "lock backup", level, detail });
  });

  test("a run that is still going is told beside the missing success", () => {
    const { detail } = judgeRecentRuns(job([ended(26)], { runningSince: NOW - 2 * HOUR }), limit);
    expect(detail).toMatch(/; a run has been going for 2h$/);
  });

  test.each([
    [-5 * HOUR, "ok", "has not run yet; its first run is due in 5h"],
    [25 * HOUR, "ok", "has not run yet; its first run was due 1d1h ago"],
    [26 * HOUR, "failure", "no run succeeded within 1d1h; no run is recorded"],
  ])("a schedule whose first run was due %i ms ago: %s", (ago, level, detail) => {
    expect(judgeRecentRuns(job([], { firstDue: NOW - ago }), limit)).toMatchObject({ level, detail });
    expect(judgeRecentRuns(job([ended(1, 3)], { firstDue: NOW - ago }), limit).level).toBe("failure");
  });

  test.each([
    [[], "failure", "no run succeeded within 1d1h; 3 were skipped"],
    [[ended(26)], "failure", "no run succeeded within 1d1h; the last success was 1d2h ago; 3 were skipped"],
    [[ended(3)], "warning", "3 were skipped; it succeeded 3h ago"],
  ] as const)("what was due and did not run counts, beside %j", (runs, level, detail) => {
    const found = judgeRecentRuns(job([...runs], { missed: "3 were skipped", firstDue: NOW - HOUR }), limit);
    expect(found).toMatchObject({ level, detail });
  });

  test("the remedy is a line to copy, also where the finding is about one host of a schedule", () => {
    const remedy = (more: Partial<RecentRuns>) =>
      judgeRecentRuns(job([ended(26)], { name: "a b", ...more }), limit).remedy;
    expect(remedy({})).toBe("signalbox ls history 'a b'");
    expect(remedy({ kind: "schedule", host: "web1", runs: [] })).toBe(
      "does a worker take it? See: signalbox show schedule 'a b'",
    );
  });
});

test.each([
  ["the newest success counts", [ended(1, 1), ended(2), ended(3)], 2 * HOUR],
  ["without one there is no age", [ended(1, 1)], undefined],
] as const)("sinceSuccess: %s", (_, runs, age) => {
  expect(computeTimeSinceSuccess(job([...runs]), limit)).toBe(age);
});
