import { describe, expect, test } from "vitest";
import { tryMutant } from "../../fixtures/try-mutant.ts";
import { CHUNK } from "./seeds.ts";

// What is judged here are only the histories, when all is over: no check of a single revision.
describe("without a rule, the history of a simulation is impossible", () => {
  test.each([
    ["claim-lock-free", "lock"],
    ["shared-intrudes", "lock"],
    ["shared-succeeds", "lock"],
    ["held-behind", "resource"],
    ["own-total", "resource"],
    ["finish-while-alive", "resource"],
  ])("%s: a %s", async (name, queue) => {
    const { isNoticed, evidence } = await tryMutant(name, 1_000, true);
    expect(isNoticed, evidence).toBe(true);
    expect(evidence).toMatch(new RegExp(`history: ${queue} \\w+: no order explains acquire`));
  });
});

describe("without a rule, the history of workers is impossible", () => {
  test.each([
    ["worker-claim-opens", "no order explains leave of s0"],
    ["worker-end-own", "no order explains claim of"],
    ["worker-hand-over", "no order explains the end of the history"],
  ])("%s", async (name, says) => {
    const { isNoticed, evidence } = await tryMutant(name, 5, true);
    expect(isNoticed, evidence).toBe(true);
    expect(evidence).toContain(says);
  });
});

test("a grant that takes a wrong result for the history of its lock is noticed in the first schedules", async () => {
  const { isNoticed, evidence } = await tryMutant("history-results", CHUNK);
  expect(isNoticed, evidence).toBe(true);
});
