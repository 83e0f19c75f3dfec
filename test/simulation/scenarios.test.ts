import { describe, expect, test } from "vitest";
import { SCENARIOS } from "../../fixtures/simulation/scenarios.ts";

describe("stories in which a rule of the protocol matters", () => {
  test.each(Object.entries(SCENARIOS))("%s", async (_name, play) => {
    expect(await play()).toEqual([]);
  });
});
