import { describe, expect, it } from "vitest";
import { PaintPace } from "../../../src/console/terminal/paint-pace.ts";

/** A pace with a clock that the test sets. */
function createPace() {
  const clock = { time: 0, now: () => clock.time };
  return { pace: new PaintPace(clock), clock };
}

describe("a frame", () => {
  it("waits for the answer to the one before", () => {
    const { pace } = createPace();
    expect(pace.computeWait()).toBe(0);
    pace.handleAsked(36);
    expect(pace.computeWait()).toBeGreaterThan(0);
    expect(pace.asks, "one question at a time").toBe(false);
    pace.handleAnswer();
    expect(pace.computeWait()).toBe(0);
    expect(pace.asks).toBe(true);
  });

  it("is not kept back by a terminal that never answers", () => {
    const { pace, clock } = createPace();
    pace.handleAsked(36);
    clock.time += pace.computeWait();
    expect(pace.computeWait()).toBe(0);
    expect(pace.asks, "it is not asked again").toBe(false);
    expect(pace.owesAnswer).toBe(false);
  });

  it("waits for a slow terminal, and for a stopped one only so long", () => {
    const { pace, clock } = createPace();
    pace.handleAsked(36);
    pace.handleAnswer();
    pace.handleAsked(36);
    clock.time += 5_000;
    expect(pace.computeWait()).toBeGreaterThan(0);
    expect(pace.owesAnswer).toBe(true);
    clock.time += pace.computeWait();
    expect(pace.computeWait()).toBe(0);
    pace.handleAnswer(); // late
    expect(pace.asks, "a late answer shows that it answers").toBe(true);
  });
});

describe("displayed ages", () => {
  it("grow each second while someone types, more slowly while nobody does, and most slowly on a slow line", () => {
    const { pace, clock } = createPace();
    expect(pace.getAgeStep()).toBe(5_000);
    pace.handleKey();
    expect(pace.getAgeStep()).toBe(1_000);
    clock.time += 60_000;
    expect(pace.getAgeStep()).toBe(5_000);
    pace.handleAsked(2_000);
    clock.time += 1_450;
    pace.handleAnswer();
    expect(pace.getAgeStep()).toBe(10_000);
  });
});

describe("a slow line", () => {
  it("gets frames in parts", () => {
    const { pace, clock } = createPace();
    const ask = (written: number, delay: number) => {
      pace.handleAsked(written);
      clock.time += delay;
      pace.handleAnswer();
      return Number.isFinite(pace.partLength);
    };
    expect(ask(4_000, 100)).toBe(false);
    expect(ask(4_000, 3_000)).toBe(true);
  });

  it("gets whole frames when it answers no more: nothing would ask for the rest", () => {
    const { pace, clock } = createPace();
    pace.handleAsked(4_000);
    clock.time += 1_400;
    pace.handleAnswer();
    pace.handleAsked(4_000);
    clock.time += 2_000;
    pace.handleAnswer();
    expect(Number.isFinite(pace.partLength)).toBe(true);
    pace.handleAsked(1_000);
    clock.time += pace.computeWait();
    expect(pace.computeWait()).toBe(0);
    expect(pace.partLength).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("a question before all output", () => {
  it("tells the latency of the line, and no frame waits for its answer", () => {
    const { pace, clock } = createPace();
    pace.handleProbed();
    expect([pace.computeWait(), pace.asks, pace.openQuestions]).toEqual([0, true, 1]);
    pace.handleAsked(4_000);
    expect(pace.openQuestions).toBe(2);
    clock.time += 600;
    pace.handleAnswer(); // to the first question
    expect([pace.hasArrived, pace.owesAnswer, pace.openQuestions]).toEqual([false, true, 1]);
    clock.time += 50;
    pace.handleAnswer();
    expect([pace.hasArrived, pace.owesAnswer, pace.openQuestions]).toEqual([true, false, 0]);
    expect(pace.isSlow, "4,000 bytes came within 50 ms after the first answer").toBe(false);
  });

  it("is forgotten with a terminal that never answers", () => {
    const { pace, clock } = createPace();
    pace.handleProbed();
    pace.handleAsked(4_000);
    clock.time += pace.computeWait();
    expect(pace.computeWait()).toBe(0);
    expect(pace.openQuestions).toBe(0);
  });
});

describe("what was written has arrived", () => {
  it("when the terminal has answered after it", () => {
    const { pace } = createPace();
    pace.handleAsked(100);
    expect(pace.hasArrived).toBe(false);
    pace.handleAnswer();
    expect(pace.hasArrived).toBe(true);
  });

  it("on a terminal that never answers, when a slow line would have shown it", () => {
    const { pace, clock } = createPace();
    pace.handleAsked(100);
    clock.time += pace.computeWait();
    expect(pace.computeWait()).toBe(0);
    pace.handleUnasked(); // a dialog, for example
    expect([pace.hasArrived, pace.needsQuestion]).toEqual([false, false]);
    clock.time = 9_999;
    expect(pace.hasArrived).toBe(false);
    clock.time = 10_000;
    expect(pace.hasArrived).toBe(true);
  });

  it("not on a terminal that has answered before and is stopped: only a later question tells", () => {
    const { pace, clock } = createPace();
    pace.handleAsked(100);
    pace.handleAnswer();
    pace.handleAsked(100);
    clock.time += pace.computeWait();
    expect(pace.computeWait()).toBe(0);
    pace.handleUnasked(); // a dialog, for example
    expect(pace.hasArrived).toBe(false);
    pace.handleAnswer(); // to the question before the dialog
    expect([pace.hasArrived, pace.needsQuestion]).toEqual([false, true]);
    pace.handleAsked(0);
    pace.handleAnswer();
    expect([pace.hasArrived, pace.needsQuestion]).toEqual([true, false]);
  });
});

it("a first frame that takes longer than a terminal is waited for shows that the line is slow", () => {
  const { pace, clock } = createPace();
  pace.handleAsked(5_000);
  clock.time += pace.computeWait();
  expect(pace.computeWait()).toBe(0);
  clock.time += 1_000; // 2.5 s in all
  pace.handleAnswer();
  expect(Number.isFinite(pace.partLength)).toBe(true);
});
