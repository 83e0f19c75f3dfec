/** How many runs held and waited over time, from what is stored. */
import { describe, expect, it } from "vitest";
import { countActivity } from "../../../src/cli/views/overview.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { keys } from "../../core/protocol/samples.ts";
import { historyOf, NOW, pastRun, pictureOf, plain, runOf, stand } from "../../site/state/pictures.ts";
import { running, schedule } from "./schedules.ts";

const SPAN = { from: NOW - 4_000, until: NOW };
const ago = (seconds: number) => NOW - seconds * 1_000;

/** Holders and waiters in four parts of a second each. */
function count(...kvs: KeyValue[]): { holders: readonly number[]; waiters: readonly number[] } {
  const { holders, waiters } = countActivity(pictureOf(kvs), SPAN, 4);
  return { holders, waiters };
}

describe("activity", () => {
  it("counts holders from their grant and waiters from their claim, cut to the span", () => {
    const holder = stand("lock x", "a", 1, { state: "held", enqueuedAt: ago(9), grantedAt: ago(2) });
    const waiter = stand("lock x", "b", 2, { enqueuedAt: ago(2.5) });
    expect(count(holder, waiter)).toEqual({ holders: [0, 0, 1, 1], waiters: [1, 1.5, 1, 1] });
  });

  it("counts a run once, whatever it claims: it holds from its last grant", () => {
    const both = [
      stand("lock x", "a", 1, { state: "held", enqueuedAt: ago(4), grantedAt: ago(3) }),
      stand("resource db", "a", 2, { state: "held", enqueuedAt: ago(3), grantedAt: ago(1) }),
    ];
    expect(count(...both)).toEqual({ holders: [0, 0, 0, 1], waiters: [1, 1, 1, 0] });
    const partly = [both[0], stand("resource db", "a", 2, { enqueuedAt: ago(3) })] as KeyValue[];
    expect(count(...partly)).toEqual({ holders: [0, 0, 0, 0], waiters: [1, 1, 1, 1] });
  });

  it("counts past runs of locks, also short ones, and none that ended before", () => {
    const short = pastRun({ enqueuedAt: ago(3.5), grantedAt: ago(3.5), endedAt: ago(3.25) });
    const early = pastRun({ run: runOf("q"), enqueuedAt: ago(9), grantedAt: ago(8), endedAt: ago(5) });
    expect(count(historyOf("x", short, early))).toEqual({ holders: [0.25, 0, 0, 0], waiters: [0, 0, 0, 0] });
  });

  it("counts running occurrences of schedules, but not again if their run has a claim", () => {
    const task = count(running("nightly.backup", { run: runOf("t"), since: ago(2) }));
    expect(task.holders).toEqual([0, 0, 1, 1]);
    const claim = stand("lock x", "t", 5, { state: "held", enqueuedAt: ago(2), grantedAt: ago(2) });
    expect(count(running("nightly.backup", { run: runOf("t"), since: ago(2) }), claim)).toEqual(task);
  });

  it("counts the last outcome of a schedule; failures of runs and schedules count when they ended", () => {
    const failed = pastRun({ endedAt: ago(2.5), exit: 3 });
    const early = pastRun({ run: runOf("q"), endedAt: ago(4), exit: 3 });
    const times = { scheduled: ago(4), startedAt: ago(3), endedAt: ago(0.5), late: 0 };
    const last = { ...times, result: "failed", run: "z" } as const;
    expect(count(...schedule("nightly", {}, { last })).holders).toEqual([0, 1, 1, 0.5]);
    const kvs = [
      historyOf("x", failed, early, pastRun({ run: runOf("r") })),
      ...schedule("nightly", {}, { last }),
    ];
    expect(countActivity(pictureOf(kvs), SPAN, 4).failures).toEqual([0, 1, 0, 1]);
  });

  it("ignores what has no times, and clocks that are ahead", () => {
    const malformed = plain(keys.lock("x", runOf("m")), "?");
    const ahead = stand("lock y", "a", 1, { enqueuedAt: NOW + 60_000 });
    expect(count(malformed, ahead)).toEqual({ holders: [0, 0, 0, 0], waiters: [0, 0, 0, 0] });
  });
});
