import { describe, expect, it, test } from "vitest";
import { LineSpeed } from "../../../src/console/terminal/paint-pace.ts";

/** A line of so many bytes per second, whose answers take so long besides, ms. */
interface Line {
  rate: number;
  latency?: number;
}

/** Records the answers to outputs of some lengths. */
function sendOver(speed: LineSpeed, { rate, latency = 20 }: Line, ...lengths: readonly number[]): LineSpeed {
  for (const length of lengths) speed.record(length, latency + (length * 1_000) / rate);
  return speed;
}

const FRAMES = [0, 8_000, 60, 700, 3_000, 60];

test.each<[name: string, line: Line, isSlow: boolean]>([
  ["a modem", { rate: 600 }, true],
  ["2,000 bytes a second", { rate: 2_000 }, true],
  ["2,000 bytes a second from far away", { rate: 2_000, latency: 400 }, true],
  ["100,000 bytes a second", { rate: 100_000 }, false],
  ["100,000 bytes a second from far away", { rate: 100_000, latency: 400 }, false],
  ["100,000 bytes a second over a satellite", { rate: 100_000, latency: 900 }, false],
])("%s: slow is %s", (_, line, isSlow) => {
  expect(sendOver(new LineSpeed(), line, ...FRAMES).isSlow).toBe(isSlow);
});

test("a part takes about half a second on a slow line", () => {
  const { partLength } = sendOver(new LineSpeed(), { rate: 2_000 }, ...FRAMES);
  expect(partLength).toBeGreaterThan(900);
  expect(partLength).toBeLessThan(1_500);
  expect(sendOver(new LineSpeed(), { rate: 300 }, ...FRAMES).partLength).toBe(600);
});

test("the first part is short if the terminal answers at all: it tells how to write the rest", () => {
  const speed = new LineSpeed();
  expect(speed.partLength).toBe(Number.POSITIVE_INFINITY);
  sendOver(speed, { rate: 100_000 }, 0);
  expect(speed.partLength).toBe(1_500);
  sendOver(speed, { rate: 100_000 }, 300);
  expect(speed.partLength, "that was too short to tell").toBe(1_500);
  expect(sendOver(speed, { rate: 100_000 }, 1_500).partLength).toBe(Number.POSITIVE_INFINITY);
});

test("a line on which only long output was sent is judged too", () => {
  expect(sendOver(new LineSpeed(), { rate: 2_000 }, 8_000).isSlow).toBe(true);
  expect(sendOver(new LineSpeed(), { rate: 100_000, latency: 500 }, 8_000).isSlow).toBe(false);
});

describe("a line that was fast", () => {
  const createFast = () => sendOver(new LineSpeed(), { rate: 1e6 }, ...FRAMES, 700, 700);

  it("is not slow because one answer was held up", () => {
    const speed = createFast();
    speed.record(700, 320);
    expect(speed.isSlow).toBe(false);
  });

  it("is slow when long output takes long", () => {
    expect(sendOver(createFast(), { rate: 2_000 }, 3_000).isSlow).toBe(true);
  });

  it("is not slow for long if only its way has become longer", () => {
    const speed = sendOver(createFast(), { rate: 1e6, latency: 400 }, 60, 60, 60, 60, 700, 60, 60, 60);
    expect(sendOver(speed, { rate: 1e6, latency: 400 }, 60, 60, 60, 2_000, 2_000, 2_000).isSlow).toBe(false);
  });
});

test("a slow line is not fast because short output passes it quickly, but because long output does", () => {
  const speed = sendOver(new LineSpeed(), { rate: 2_000 }, ...FRAMES);
  expect(sendOver(speed, { rate: 1e6 }, 60, 200, 60).isSlow).toBe(true);
  expect(sendOver(speed, { rate: 1e6 }, 4_000, 4_000, 4_000, 8_000, 8_000).isSlow).toBe(false);
});

test("a part never becomes shorter than its least length, whatever was recorded", () => {
  const speed = new LineSpeed();
  for (const delay of [0, 0, 10_000, 0, 10_000]) speed.record(500, delay);
  expect(speed.partLength).toBeGreaterThanOrEqual(600);
});
