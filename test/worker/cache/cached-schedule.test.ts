import { expect, test } from "vitest";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { formatRunning } from "../../../src/schedule/state/running-record.ts";
import { applyKey, CachedSchedule, removeScheduleKey } from "../../../src/worker/cache/cached-schedule.ts";

const createRunning = (key: string): KeyValue => ({
  key,
  value: formatRunning({ run: "r", worker: "w", host: "h", since: 1, scheduled: 1, attempt: 1 } as never),
  createRevision: 7n,
  modRevision: 7n,
  session: 3n,
});

test("several running keys go one by one; one that is not there changes nothing", () => {
  const one = new CachedSchedule({ id: "one", host: undefined, since: undefined }, 5);
  for (const key of ["running/one/1", "running/one/2"]) applyKey(one, "running", createRunning(key));
  removeScheduleKey(one, "running", "running/one/3", 98);
  expect(one.freeSince).toBe(5);
  removeScheduleKey(one, "running", "running/one/1", 99);
  expect([...one.running.keys()]).toEqual(["running/one/2"]);
});
