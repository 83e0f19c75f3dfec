import { expect, test } from "vitest";
import { OutputBudget } from "../../src/output/viewer-state.ts";

test("a viewer gets 1 MiB at once, and then 16 KiB a second", () => {
  const budget = new OutputBudget(0);
  expect(budget.getLeft(0)).toBe(1_048_576);
  budget.spend(1_048_576);
  expect(budget.getLeft(0)).toBe(0);
  expect(budget.getLeft(2_000)).toBe(32_768);
  expect(budget.getLeft(3_600_000), "unused time does not add up").toBe(1_048_576);
});
