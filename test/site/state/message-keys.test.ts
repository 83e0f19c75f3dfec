/** Keys of messages: equal for the same line at another time, so that a dialog marks only what has changed. */
import { describe, expect, it } from "vitest";
import { computeDrainExtent, formatDrainExtent } from "../../../src/site/state/drain-extent.ts";
import { formatEvictionPreview, previewEviction } from "../../../src/site/state/eviction-preview.ts";
import { NOW, pictureOf, runOf, stand } from "./pictures.ts";

const TARGET = { scope: "lock", name: "x" } as const;
const AGES = { grantedAt: NOW - 60_000, enqueuedAt: NOW - 90_000 };

/** Builds a snapshot of a lock with a holder and as many waiters. */
function createSnapshot(waiters: number) {
  const letters = "bcdefghijklmn".slice(0, waiters).split("");
  return pictureOf([
    stand("lock x", "a", 1, { ...AGES, state: "held" }),
    ...letters.map((letter, at) => stand("lock x", letter, at + 2, { ...AGES, state: "waiting" })),
  ]);
}

describe("the keys of a preview", () => {
  const extent = (waiters: number) => computeDrainExtent(createSnapshot(waiters), TARGET, NOW);

  it("are one for each line, without ages", () => {
    const preview = previewEviction(createSnapshot(2), new Set([runOf("a")]), NOW);
    const lines = formatEvictionPreview(preview, NOW);
    const keys = formatEvictionPreview(preview, undefined);
    expect(keys).toHaveLength(lines.length);
    expect(lines.join()).toContain(", for 1m");
    expect(keys.join()).not.toContain(", for ");
  });

  it("are the same if more runs wait than are shown, however many these are", () => {
    const [few, many] = [10, 12].map((count) => formatDrainExtent(extent(count), TARGET, undefined));
    expect(few).toEqual(many);
    expect(formatDrainExtent(extent(10), TARGET, NOW)).not.toEqual(
      formatDrainExtent(extent(12), TARGET, NOW),
    );
  });

  it("differ if another run waits", () => {
    const [one, two] = [1, 2].map((count) => formatDrainExtent(extent(count), TARGET, undefined));
    expect(two).not.toEqual(one);
  });
});
