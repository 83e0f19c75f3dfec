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
    pace.handleAsked();
    expect(pace.computeWait()).toBeGreaterThan(0);
    expect(pace.asks, "one question at a time").toBe(false);
    pace.handleAnswer();
    expect(pace.computeWait()).toBe(0);
    expect(pace.asks).toBe(true);
  });

  it("is not kept back by a terminal that never answers", () => {
    const { pace, clock } = createPace();
    pace.handleAsked();
    clock.time += pace.computeWait();
    expect(pace.computeWait()).toBe(0);
    expect(pace.asks, "it is not asked again").toBe(false);
    expect(pace.owesAnswer).toBe(false);
  });

  it("waits for a slow terminal, and for a stopped one only so long", () => {
    const { pace, clock } = createPace();
    pace.handleAsked();
    pace.handleAnswer();
    pace.handleAsked();
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
    pace.handleAsked();
    clock.time += 900;
    pace.handleAnswer();
    expect(pace.getAgeStep()).toBe(10_000);
  });
});
