/** Zooming and moving a timeline. */
import { describe, expect, it } from "vitest";
import {
  FIRST_WINDOW,
  fitWindow,
  getWindowSpan,
  panWindow,
  zoomWindow,
} from "../../../src/console/overlays/Timeline.tsx";
import type { RunBar } from "../../../src/site/state/timeline.ts";

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;

describe("the window of a timeline", () => {
  it("fits its runs", () => {
    const bar = (from: number) =>
      ({ subject: "lock x", run: "r", waitedFrom: from - 1, from, until: from + 1 }) as RunBar;
    expect(fitWindow([], NOW)).toEqual(FIRST_WINDOW);
    const fit = (ago: number) => fitWindow([bar(NOW - 1_000), bar(NOW - ago)], NOW).length;
    expect([60_000, HOUR / 2, 3 * HOUR, 1e12].map(fit)).toEqual([HOUR / 4, HOUR, 4 * HOUR, 64 * 24 * HOUR]);
  });

  it("follows the present until it is moved, and again when it comes back", () => {
    expect(getWindowSpan(FIRST_WINDOW, NOW)).toEqual({ from: NOW - HOUR, until: NOW });
    const left = panWindow(FIRST_WINDOW, -1, NOW);
    expect(getWindowSpan(left, NOW + 5)).toEqual({ from: NOW - 1.25 * HOUR, until: NOW - HOUR / 4 });
    expect(panWindow(left, 1, NOW)).toEqual(FIRST_WINDOW);
    expect(panWindow(FIRST_WINDOW, 1, NOW)).toEqual(FIRST_WINDOW);
  });

  it("keeps the present, or its middle, when it zooms", () => {
    expect(zoomWindow(FIRST_WINDOW, "in", NOW)).toEqual({ length: HOUR / 2, end: undefined });
    const left = { length: HOUR, end: NOW - 4 * HOUR };
    expect(zoomWindow(left, "in", NOW)).toEqual({ length: HOUR / 2, end: NOW - 4.25 * HOUR });
    expect(zoomWindow({ length: HOUR, end: NOW - 1 }, "out", NOW)).toEqual({
      length: 2 * HOUR,
      end: undefined,
    });
  });

  it("has limits", () => {
    let [near, far] = [FIRST_WINDOW, FIRST_WINDOW];
    for (let times = 0; times < 40; times += 1) {
      near = zoomWindow(near, "in", NOW);
      far = zoomWindow(far, "out", NOW);
    }
    expect([near.length, far.length]).toEqual([10_000, 64 * 24 * HOUR]);
    const [past] = [{ length: HOUR, end: HOUR }].map((window) => panWindow(window, -1, NOW));
    expect(past && getWindowSpan(past, NOW).from).toBe(0);
  });
});
