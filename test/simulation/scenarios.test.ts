import { expect, test } from "vitest";
import { SCENARIOS } from "../../fixtures/simulation/scenarios.ts";

test.each(Object.entries(SCENARIOS))(
  "stories in which a rule of the protocol matters: %s",
  async (_name, play) => {
    expect(await play()).toEqual([]);
  },
);
