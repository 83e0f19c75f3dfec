/** The outcome history of schedules: writing and reading. */
import { describe, expect, test } from "vitest";
import {
  addOutcomes,
  DEAD_LETTERS_LENGTH,
  formatOutcomes,
  isFailing,
  type OccurrenceOutcome,
  type OutcomeHistory,
  type OutcomeLimits,
  parseOutcomes,
} from "../../../src/schedule/state/outcome.ts";

const NO_OUTCOMES: OutcomeHistory = { runs: [], dead: [] };

const outcome = (scheduled: number, change: Partial<OccurrenceOutcome> = {}): OccurrenceOutcome => ({
  scheduled,
  result: "ok",
  endedAt: scheduled + 5,
  run: `r${scheduled}`,
  host: "h1",
  ...change,
});
const many = (count: number, change: Partial<OccurrenceOutcome> = {}) =>
  Array.from({ length: count }, (_, n) => outcome(n, change));

describe("what is remembered", () => {
  test("dead letters beside the runs, and so many", () => {
    let memory = NO_OUTCOMES;
    for (const one of many(DEAD_LETTERS_LENGTH + 2, { result: "failed" }))
      memory = addOutcomes(memory, [one], {}, one);
    expect(memory.dead).toHaveLength(DEAD_LETTERS_LENGTH);
    expect(memory.dead[0]?.scheduled).toBe(21);
  });

  test("output of the newest, and of the newest that was not well", () => {
    const well = [0, 1, 2, 4, 5].map((at) => outcome(at, { tail: `t${at}` }));
    const bad = outcome(3, { result: "failed", tail: "t3" });
    const { runs } = addOutcomes(NO_OUTCOMES, [...well.slice(0, 3), bad, ...well.slice(3)], {});
    expect(runs.filter(({ tail }) => tail !== undefined).map(({ tail }) => tail)).toEqual(["t5", "t3"]);
  });

  test("the last line of each dead letter", () => {
    let memory = NO_OUTCOMES;
    for (const at of [0, 1, 2, 3]) {
      const dead = outcome(at, { result: "failed", tail: `begin\n${at} ${"x".repeat(300)}\n` });
      memory = addOutcomes(memory, [dead], {}, dead);
    }
    const tails = memory.dead.map(({ tail }) => tail);
    expect(tails.map((tail = "") => tail.trimEnd().split("\n").at(-1)?.slice(0, 2))).toEqual([
      "3 ",
      "2 ",
      "1 ",
      "0 ",
    ]);
    expect(tails.at(-1)).toHaveLength(200);
  });

  test("not more of what a handler says than can be kept", () => {
    const loud = outcome(1, { tail: `${"x".repeat(99_999)}end`, reason: `why ${"y".repeat(9_999)}` });
    const memory = addOutcomes(NO_OUTCOMES, [loud], {}, loud);
    expect(memory.runs[0]?.tail).toMatch(/^x{4093}end$/);
    expect(memory.runs[0]?.reason).toHaveLength(300);
    expect(formatOutcomes(memory).length).toBeLessThan(16_000);
  });

  test("is little, even where everything fails and talks", () => {
    let memory = NO_OUTCOMES;
    for (const one of many(50, { result: "failed", tail: "x".repeat(1_024), reason: "y".repeat(300) }))
      memory = addOutcomes(memory, [one], {}, one);
    expect(formatOutcomes(memory).length).toBeLessThan(24_000);
  });
});

describe("the limits of a definition", () => {
  const scheduledOf = (limits: OutcomeLimits, ...added: OccurrenceOutcome[]) =>
    addOutcomes(NO_OUTCOMES, added, limits).runs.map(({ scheduled }) => scheduled);

  test.each([
    [{ keep: 3 }, [9, 8, 7]],
    [{ keepFor: 0 }, [9]],
    [{ keep: 2, keepFor: 5 }, [9, 8]],
    [{ keep: 5, keepFor: 2 }, [9, 8, 7]],
  ])("%j", (limits, kept) => {
    expect(scheduledOf(limits, ...many(10))).toEqual(kept);
  });

  test("the newest success and the newest failure stay, so that the next failure is known to be the first", () => {
    const [failed, again] = [outcome(1, { result: "failed" }), outcome(2, { result: "retry" })];
    const limits = { keep: 1, keepFor: 0 };
    expect(scheduledOf(limits, outcome(0), failed, again, outcome(3, { result: "retry" }))).toEqual([
      3, 1, 0,
    ]);
    expect(isFailing(addOutcomes(NO_OUTCOMES, [failed, again], limits))).toBe(true);
  });

  test("the largest history is read back whole", () => {
    const retried = many(200, { result: "retry", tail: "x".repeat(4_096), reason: "y".repeat(300) });
    const history = addOutcomes(NO_OUTCOMES, [outcome(0), ...retried], { keep: 100 });
    expect(history.runs).toHaveLength(101);
    expect(parseOutcomes(formatOutcomes(history))).toEqual(history);
    expect(formatOutcomes(history).length).toBeLessThan(64_000);
  });

  test("dead letters have their own limit", () => {
    const letters = many(3, { result: "failed" });
    const history = letters.reduce((all, one) => addOutcomes(all, [one], { keep: 1 }, one), NO_OUTCOMES);
    expect([history.runs.length, history.dead.length]).toEqual([1, 3]);
  });
});

describe("what is read back", () => {
  test("is what was written", () => {
    const memory = addOutcomes(
      NO_OUTCOMES,
      many(3, { tail: "\u001b[31m", code: 7, late: 3, token: "12" }),
      {},
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
