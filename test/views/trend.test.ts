/** Durations drawn as bars. */
import { expect, it } from "vitest";
import { describeTrend, renderSparkline, renderTrendCell } from "../../src/views/queues.ts";
import { NOW, pastRun } from "../state/pictures.ts";

const runs = (...held: number[]) =>
  held.map((ms, at) =>
    pastRun({ run: String(at).padStart(16, "0"), held: ms, waited: 0, endedAt: NOW - at }),
  );

it.each([
  [[], "", ""],
  [[0, 0], "▁▁", "__"],
  [[5], "▇", "#"],
  [[0, 25, 50, 75, 100], "▁▂▃▅▇", "_.-=#"],
  [[-5, 10], "▁▇", "_#"],
])("%j is %s or %s", (durations, text, ascii) => {
  expect(renderSparkline(durations)).toBe(text);
  expect(renderSparkline(durations, true)).toBe(ascii);
});

it("a cell has the last twelve runs, the newest at the right", () => {
  expect(renderTrendCell(runs(100, 1), "held")).toBe("▁▇");
  expect(renderTrendCell(runs(...Array<number>(20).fill(7)), "held", true)).toBe("#".repeat(12));
  expect(renderTrendCell(undefined, "held")).toBe("");
});

it("a description has shortest, median and longest", () => {
  expect(describeTrend(runs(4_000, 2_000, 60_000), "held")).toBe("▇▁▁ min 2s, median 4s, max 1m of 3 runs");
  expect(describeTrend(runs(4_000, 2_000), "waited", true)).toBe("__ min 0s, median 0s, max 0s of 2 runs");
  expect(describeTrend(runs(1), "held")).toBeUndefined();
});
