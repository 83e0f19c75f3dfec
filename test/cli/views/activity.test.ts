/** How many runs held and waited over time, from what is stored. */
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import { createRunningKey, createScheduleKeys } from "../../../fixtures/schedule/schedule-keys.ts";
import {
  createEndedRun,
  createHistoryKey,
  createKeyValue,
  createSnapshot,
  createTicketKey,
  NOW,
  toRunId,
} from "../../../fixtures/state/sample-snapshots.ts";
import { buildSummary } from "../../../src/cli/views/overview.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";

const ago = (seconds: number) => NOW - seconds * 1_000;

const readActivity = (kvs: readonly KeyValue[]) =>
  buildSummary(createSnapshot(kvs), NOW, { span: 4_000, buckets: 4 }).activity;

/** Holders and waiters in four parts of a second each. */
function count(...kvs: KeyValue[]) {
  const { holders, waiters } = readActivity(kvs);
  return { holders, waiters };
}

describe("activity", () => {
  it("counts holders from their grant and waiters from their claim, cut to the span", () => {
    const holder = createTicketKey("lock x", "a", 1, {
      state: "held",
      enqueuedAt: ago(9),
      grantedAt: ago(2),
    });
    const waiter = createTicketKey("lock x", "b", 2, { enqueuedAt: ago(2.5) });
    expect(count(holder, waiter)).toEqual({ holders: [0, 0, 1, 1], waiters: [1, 1.5, 1, 1] });
  });

  it("counts a run once, whatever it claims: it holds from its last grant", () => {
    const both = [
      createTicketKey("lock x", "a", 1, { state: "held", enqueuedAt: ago(4), grantedAt: ago(3) }),
      createTicketKey("resource db", "a", 2, { state: "held", enqueuedAt: ago(3), grantedAt: ago(1) }),
    ];
    expect(count(...both)).toEqual({ holders: [0, 0, 0, 1], waiters: [1, 1, 1, 0] });
    const partly = [both[0], createTicketKey("resource db", "a", 2, { enqueuedAt: ago(3) })] as KeyValue[];
    expect(count(...partly)).toEqual({ holders: [0, 0, 0, 0], waiters: [1, 1, 1, 1] });
  });

  it("counts past runs of locks, also short ones, and none that ended before", () => {
    const short = createEndedRun({ enqueuedAt: ago(3.5), grantedAt: ago(3.5), endedAt: ago(3.25) });
    const early = createEndedRun({
      run: toRunId("q"),
      enqueuedAt: ago(9),
      grantedAt: ago(8),
      endedAt: ago(5),
    });
    expect(count(createHistoryKey("x", short, early))).toEqual({
      holders: [0.25, 0, 0, 0],
      waiters: [0, 0, 0, 0],
    });
  });

  it("counts running occurrences of schedules, but not again if their run has a claim", () => {
    const task = count(createRunningKey("nightly.backup", { run: toRunId("t"), since: ago(2) }));
    expect(task.holders).toEqual([0, 0, 1, 1]);
    const claim = createTicketKey("lock x", "t", 5, { state: "held", enqueuedAt: ago(2), grantedAt: ago(2) });
    expect(count(createRunningKey("nightly.backup", { run: toRunId("t"), since: ago(2) }), claim)).toEqual(
      task,
    );
  });

  it("counts the last outcome of a schedule; failures of runs and schedules count when they ended", () => {
    const failed = createEndedRun({ endedAt: ago(2.5), exit: 3 });
    const early = createEndedRun({ run: toRunId("q"), endedAt: ago(4), exit: 3 });
    const times = { scheduled: ago(4), startedAt: ago(3), endedAt: ago(0.5), late: 0 };
    const last = { ...times, result: "failed", run: "z" } as const;
    expect(count(...createScheduleKeys("nightly", {}, { last })).holders).toEqual([0, 1, 1, 0.5]);
    const kvs = [
      createHistoryKey("x", failed, early, createEndedRun({ run: toRunId("r") })),
      ...createScheduleKeys("nightly", {}, { last }),
    ];
    expect(readActivity(kvs).failures).toEqual([0, 1, 0, 1]);
  });

  it("ignores what has no times, and clocks that are ahead", () => {
    const malformed = createKeyValue(keys.lock("x", toRunId("m")), "?");
    const ahead = createTicketKey("lock y", "a", 1, { enqueuedAt: NOW + 60_000 });
    expect(count(malformed, ahead)).toEqual({ holders: [0, 0, 0, 0], waiters: [0, 0, 0, 0] });
  });
});
