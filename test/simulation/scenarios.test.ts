// Covers src/work/run/claim/acquire.ts, src/work/run/claim/claim-view.ts,
// src/work/run/claim/refusal-report.ts
import { describe, expect, test } from "vitest";
import { SCENARIOS } from "../../fixtures/simulation/scenarios.ts";

describe("stories in which a rule of the protocol matters", () => {
  test.each(Object.entries(SCENARIOS))("%s", async (_name, play) => {
    expect(await play()).toEqual([]);
  });
});
