/** Keys of messages: equal for the same line at another time, so that a dialog marks only what has changed. */
import { describe, expect, it } from "vitest";
import { createSnapshot, createTicketKey, NOW, toRunId } from "../../../fixtures/state/sample-snapshots.ts";
import { formatEvictionPreview } from "../../../src/cli/views/claims.ts";
import { formatDrainExtent } from "../../../src/cli/views/drain-extent.ts";
import { computeDrainExtent } from "../../../src/site/state/drain-extent.ts";
import { previewEviction } from "../../../src/site/state/eviction-preview.ts";

const TARGET = { scope: "lock", name: "x" } as const;
const AGES = { grantedAt: NOW - 60_000, enqueuedAt: NOW - 90_000 };

/** Builds a snapshot of a lock with a holder and as many waiters. */
function createQueue(waiters: number) {
  const letters = "bcdefghijklmn".slice(0, waiters).split("");
  return createSnapshot([
    createTicketKey("lock x", "a", 1, { ...AGES, state: "held" }),
    ...letters.map((letter, at) => createTicketKey("lock x", letter, at + 2, { ...AGES, state: "waiting" })),
  ]);
}

describe("the keys of a preview", () => {
  const extent = (waiters: number) => computeDrainExtent(createQueue(waiters), TARGET, NOW);

  it("are one for each line, without ages", () => {
    const preview = previewEviction(createQueue(2), new Set([toRunId("a")]), NOW);
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
