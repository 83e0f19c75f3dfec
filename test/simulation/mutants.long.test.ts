import { describe, expect, test } from "vitest";
import { MUTANTS } from "../../fixtures/mutants.ts";
import { tryMutant } from "../../fixtures/try-mutant.ts";

// Checks that the simulation can find violations: without any one of the rules, it must find one.
describe("the simulation notices when a rule is missing", () => {
  test.each(Object.entries(MUTANTS))("%s", async (name, { without }) => {
    const { isNoticed, evidence } = await tryMutant(name, 20_000);
    expect(isNoticed, `without the rule (${without}): ${evidence}`).toBe(true);
  });
});
