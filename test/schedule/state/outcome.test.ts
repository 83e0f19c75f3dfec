/** The outcome history of schedules: writing and reading. */
import { describe, expect, test } from "vitest";
import {
  addOutcomes,
  formatOutcomes,
  type OccurrenceOutcome,
  OUTCOMES_LENGTH,
  type OutcomeHistory,
  parseOutcomes,
} from "../../../src/schedule/state/outcome.ts";

const NO_OUTCOMES: OutcomeHistory = { runs: [], dead: [] };

const outcome = (scheduled: number, change: Partial<OccurrenceOutcome> = {}): OccurrenceOutcome => ({
  ...{ scheduled, result: "ok", endedAt: scheduled + 5, run: `r${scheduled}`, host: "h1" },
  ...change,
});
const many = (count: number, change: Partial<OccurrenceOutcome> = {}) =>
  Array.from({ length: count }, (_, n) => outcome(n, change));

describe("what is remembered", () => {
  test("the newest first, and so many", () => {
    let memory = NO_OUTCOMES;
    for (const one of many(OUTCOMES_LENGTH + 5)) memory = addOutcomes(memory, [one]);
    expect(memory.runs.map(({ scheduled }) => scheduled)).toEqual(
      many(OUTCOMES_LENGTH).map((_, n) => 24 - n),
    );
  });

  test("several at once come oldest first", () => {
    expect(addOutcomes(NO_OUTCOMES, many(3)).runs.map(({ scheduled }) => scheduled)).toEqual([2, 1, 0]);
  });

  test("dead letters beside the runs, and so many", () => {
    let memory = NO_OUTCOMES;
    for (const one of many(OUTCOMES_LENGTH + 2, { result: "failed" }))
      memory = addOutcomes(memory, [one], one);
    expect(memory.dead).toHaveLength(OUTCOMES_LENGTH);
    expect(memory.dead[0]?.scheduled).toBe(21);
  });

  test("output of the newest, and of the newest that was not well", () => {
    const well = [0, 1, 2, 4, 5].map((at) => outcome(at, { tail: `t${at}` }));
    const bad = outcome(3, { result: "failed", tail: "t3" });
    const { runs } = addOutcomes(NO_OUTCOMES, [...well.slice(0, 3), bad, ...well.slice(3)]);
    expect(runs.filter(({ tail }) => tail !== undefined).map(({ tail }) => tail)).toEqual(["t5", "t3"]);
  });

  test("not more of what a handler says than can be kept", () => {
    const loud = outcome(1, { tail: `${"x".repeat(99_999)}end`, reason: `why ${"y".repeat(9_999)}` });
    const memory = addOutcomes(NO_OUTCOMES, [loud], loud);
    expect(memory.runs[0]?.tail).toMatch(/^x{4093}end$/);
    expect(memory.runs[0]?.reason).toHaveLength(300);
    expect(formatOutcomes(memory).length).toBeLessThan(16_000);
  });

  test("is little, even where everything fails and talks", () => {
    let memory = NO_OUTCOMES;
    for (const one of many(50, { result: "failed", tail: "x".repeat(1_024), reason: "y".repeat(300) }))
      memory = addOutcomes(memory, [one], one);
    expect(formatOutcomes(memory).length).toBeLessThan(24_000);
  });
});

describe("what is read back", () => {
  test("is what was written", () => {
    const memory = addOutcomes(
      NO_OUTCOMES,
      many(3, { tail: "\u001b[31m", code: 7, late: 3, token: "12" }),
      outcome(9),
    );
    expect(parseOutcomes(formatOutcomes(memory))).toEqual(memory);
  });

  test.each([
    "",
    "null",
    "[]",
    "7",
    '{"runs":7}',
    '{"runs":[{}],"dead":[null,3]}',
    '{"runs":[{"scheduled":-1,"endedAt":1,"result":"ok"}]}',
  ])("nothing of %s", (text) => expect(parseOutcomes(text)).toEqual(NO_OUTCOMES));

  test("what can be read, of a list that is partly strange", () => {
    const text = JSON.stringify({
      runs: [outcome(1), { ...outcome(2), tail: 7 }, { ...outcome(3), result: "wow" }, "x"],
    });
    expect(parseOutcomes(text).runs).toEqual([outcome(1)]);
  });
});
