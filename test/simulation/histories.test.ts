import { expect, test } from "vitest";
import { tryMutant } from "../../fixtures/try-mutant.ts";
import { CHUNK } from "./seeds.ts";

/** Tries a mutant, which must be noticed. @returns what the simulation says of it */
async function findEvidence(...mutant: Parameters<typeof tryMutant>): Promise<string | undefined> {
  const { isNoticed, evidence } = await tryMutant(...mutant);
  expect(isNoticed, evidence).toBe(true);
  return evidence;
}

// What is judged here are only the histories, when all is over: no check of a single revision.
test.each([
  ["claim-lock-free", "lock"],
  ["shared-intrudes", "lock"],
  ["shared-succeeds", "lock"],
  ["held-behind", "resource"],
  ["own-total", "resource"],
  ["finish-while-alive", "lock"],
])("without a rule, the history of a simulation is impossible: %s: a %s", async (name, queue) => {
  expect(await findEvidence(name, 1_000, true)).toMatch(
    new RegExp(`history: ${queue} \\w+: no order explains acquire`),
  );
});

test.each([
  ["worker-claim-opens", "no order explains leave of s0"],
  ["worker-end-own", "no order explains"],
  ["worker-hand-over", "no order explains the end of the history"],
])("without a rule, the history of workers is impossible: %s", async (name, says) => {
  expect(await findEvidence(name, 5, true)).toContain(says);
});

test("a grant that takes a wrong result for the history of its lock is noticed in the first schedules", async () => {
  await findEvidence("history-results", CHUNK);
});
