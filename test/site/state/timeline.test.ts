/** Bars of holds and waits, as tables of histories and queues. */
import { describe, expect, it } from "vitest";
import { createRunningKey } from "../../../fixtures/schedule/schedule-keys.ts";
import {
  createDrainKey,
  createHistoryKey,
  createSnapshot,
  createTicketKey,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import { ASCII_SIGNS, formatTimeline } from "../../../src/cli/views/timeline-drawing.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { buildTimeline } from "../../../src/site/state/timeline.ts";

const SPAN = { from: NOW - 10_000, until: NOW };

/** The bars, a column a second. */
function draw(
  kvs: readonly KeyValue[],
  outcomes: Parameters<typeof buildTimeline>[0]["outcomes"] = new Map(),
) {
  const tracks = buildTimeline({ snapshot: createSnapshot(kvs), outcomes }, SPAN);
  return formatTimeline(tracks, SPAN, { width: 10, signs: ASCII_SIGNS }).slice(1, -1);
}

const ended = (enqueued: number, granted: number, end: number, exit = 0) =>
  createHistoryKey("x", { enqueuedAt: NOW - enqueued, grantedAt: NOW - granted, endedAt: NOW - end, exit });
const drain = (scope: "lock" | "all", name: string, at: number, until?: number) =>
  createDrainKey(scope, name, { at: NOW - at, ...(until !== undefined && { until: NOW - until }) });

describe("bars", () => {
  it.each([
    ["a wait and a hold", [ended(8_000, 5_000, 2_500)], ["lock x  ..---###.."]],
    ["a failed run", [ended(5_000, 5_000, 2_500, 1)], ["lock x  .....!!!.."]],
    ["before the time", [ended(30_000, 25_000, 12_000)], []],
    ["cut at the start", [ended(30_000, 25_000, 8_500)], ["lock x  ##........"]],
    [
      "a holder and a waiter of now",
      [
        createTicketKey("resource db", "a", 1, {
          state: "held",
          enqueuedAt: NOW - 6_000,
          grantedAt: NOW - 3_000,
        }),
        createTicketKey("lock y", "b", 2, { state: "waiting", enqueuedAt: NOW - 2_000 }),
      ],
      ["lock y       ........--", "resource db  ....---###"],
    ],
    ["an ended drain", [drain("lock", "x", 8_000, 6_500)], ["lock x  ..xx......"]],
    [
      "a drain of everything",
      [ended(8_000, 8_000, 6_500), drain("all", "all", 3_000)],
      ["lock x  ..##...xxx"],
    ],
    ["a running schedule", [createRunningKey("a", { since: NOW - 2_000 })], ["schedule a  ........##"]],
  ])("%s", (_, kvs, bars) => {
    expect(draw(kvs).sort()).toEqual(bars);
  });

  it("outcomes of a schedule, without skipped ones", () => {
    const outcome = { scheduled: NOW - 5_000, endedAt: NOW - 2_500 };
    const started = { ...outcome, startedAt: NOW - 5_000 };
    const runs = [
      { ...started, result: "timeout" as const },
      { ...outcome, result: "skipped" as const },
    ];
    expect(draw([], new Map([["a", runs]]))).toEqual(["schedule a  .....!!!.."]);
  });
});
