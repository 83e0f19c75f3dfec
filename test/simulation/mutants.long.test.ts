import { describe, expect, test } from "vitest";
import { MUTANTS } from "../../fixtures/mutants.ts";
import { tryMutant } from "../../fixtures/try-mutant.ts";

// A simulation that finds nothing proves nothing. So every rule is taken out of the code in turn: it must find that.
describe("the simulation notices when a rule is missing", () => {
  test.each(Object.entries(MUTANTS))("%s", async (name, { without }) => {
    const { isNoticed, evidence } = await tryMutant(name, 20_000);
    expect(isNoticed, `without the rule (${without}): ${evidence}`).toBe(true);
  });
});
