import { expect, test } from "vitest";
import { ManualClock } from "../../fixtures/manual-clock.ts";
import { BriefCache } from "../../src/agent/agent-context.ts";

test("a value is read once, and again when it is some seconds old", async () => {
  const clock = new ManualClock();
  const cache = new BriefCache<string>(clock);
  let reads = 0;
  const read = () => `value ${++reads}`;
  expect([cache.get("a", read), cache.get("a", read), cache.get("b", read)]).toEqual([
    "value 1",
    "value 1",
    "value 2",
  ]);
  await clock.advance(2_000);
  expect(cache.get("a", read)).toBe("value 3");
});
