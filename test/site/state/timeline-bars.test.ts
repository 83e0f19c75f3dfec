/** Bars of single runs, bands and axes, as tables. */
import { describe, expect, it } from "vitest";
import { countBandCells, drawRunBar, drawTimeAxis } from "../../../src/cli/views/timeline-drawing.ts";
import type { TimelineInterval } from "../../../src/site/state/timeline.ts";
import { buildRunBars } from "../../../src/site/state/timeline.ts";

const SPAN = { from: 1_000, until: 11_000 };
const SIGNS = { free: ".", wait: "-", hold: "#", failed: "!" };
const one = (kind: TimelineInterval["kind"], from: number, until?: number): TimelineInterval => ({
  kind,
  from,
  owner: "r",
  ...(until !== undefined && { until }),
});

describe("the bar of a run", () => {
  it.each([
    ["waited and held", { waitedFrom: 2_000, from: 4_000, until: 5_500 }, ".--##....."],
    ["still waits", { waitedFrom: 9_000 }, "........--"],
    ["failed", { from: 2_000, until: 4_500, result: "1" }, ".##!......"],
    ["failed at once", { from: 4_500, until: 4_500, result: "failed" }, "...!......"],
    ["before the time", { from: 100, until: 500, result: "1" }, ".........."],
    ["after the time", { from: 12_000, until: 13_000 }, ".........."],
    ["it gave up", { waitedFrom: 2_000, until: 3_500 }, ".--......."],
  ])("%s", (_, bar, text) => {
    const cells = drawRunBar({ subject: "lock x", run: "r", ...bar }, SPAN, 10);
    expect(cells.map((cell) => SIGNS[cell]).join("")).toBe(text);
  });

  it("has the wait and the hold of one run, and nothing of drains", () => {
    const intervals = [one("wait", 1_000, 2_000), one("hold", 2_000, 3_000), one("drain", 1, 2)];
    expect(buildRunBars([{ subject: "lock x", intervals }])).toEqual([
      { subject: "lock x", run: "r", waitedFrom: 1_000, from: 2_000, until: 3_000 },
    ]);
    const live = [one("wait", 1_000, 2_000), one("hold", 2_000)];
    expect(buildRunBars([{ subject: "lock x", intervals: live }])[0]?.until).toBeUndefined();
  });
});

it.each([
  ["nobody", [one("hold", 2_000)], "0000000000", ".........."],
  ["two at the same time", [one("wait", 2_000, 4_500), one("wait", 4_000)], "0112111111", ".........."],
  ["a drain", [one("drain", 3_000, 5_500)], "0000000000", "..xxx....."],
  ["out of sight", [one("wait", 0, 500)], "0000000000", ".........."],
])("the band: %s", (_, intervals, waiters, drained) => {
  const band = countBandCells([{ subject: "lock x", intervals }], SPAN, 10);
  expect(band.waiters.join("")).toBe(waiters);
  expect(band.drained.map((is) => (is ? "x" : ".")).join("")).toBe(drained);
});

describe("the axis, in UTC", () => {
  const at = Date.UTC(2026, 2, 29, 0, 30); // in the night of a clock change in Europe
  it.each([
    [180, "00:30     01:00     01:30     02:00     02:30     03:00"],
    [60 * 48, "              12:00          03-30          12:00"],
    [1, "00:30:00  00:30:10  00:30:20  00:30:30  00:30:40  00:30:50"],
  ])("$0 minutes", (minutes, text) => {
    const axis = drawTimeAxis({ from: at, until: at + minutes * 60_000 }, 60);
    expect(axis).toHaveLength(60);
    expect(axis.trimEnd()).toBe(text);
  });
});
