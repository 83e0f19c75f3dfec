/** `npm run spec` must be able to fail: it finds a broken model, and a rule that a model does not need. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exploreModel } from "../../scripts/spec/checker.ts";
import { findSpin } from "../../scripts/spec/find-spin.ts";
import { parseModel, readModel } from "../../scripts/spec/model.ts";
import { replaceRules } from "../../scripts/spec/rules-page.ts";

const MODEL = `/*
 * Two processes count.
 *
 * small: -DMOST=2
 * large: -DMOST=3 -DSLOW
 *
 * Rules
 * T1: A process reads and writes
 *     in one step. [claim-absent, test/scripts/spec]
 * T2 (-DMOST=1): Nobody needs this. [margin]
 */
byte count;
#ifdef WITHOUT_T1
#define STEP
#else
#define STEP atomic
#endif
proctype Counter() {
  byte seen;
  STEP { seen = count; count = seen + 1 };
  printf("> it has counted\\n")
}
proctype Judge() {
  timeout -> assert(count == MOST)
}
init { atomic { run Counter(); run Counter(); run Judge() } }
`;

describe("the specification", () => {
  let folder: string;
  let file: string;
  let spin: string;

  beforeAll(async () => {
    spin = await findSpin();
    folder = await mkdtemp(path.join(tmpdir(), "spec-test-"));
    file = path.join(folder, "count.pml");
    await writeFile(file, MODEL);
  }, 120_000);
  afterAll(async () => await rm(folder, { recursive: true, force: true }));

  const explore = (...defines: string[]) =>
    exploreModel(spin, file, { defines, isBroken: defines.length > 1, isLarge: false });

  test("reads the worlds and rules of a model", () => {
    const { title, small, large, rules } = parseModel("count", file, MODEL);
    expect(title).toBe("Two processes count.");
    expect([small, large]).toEqual([[["-DMOST=2"]], [["-DMOST=3", "-DSLOW"]]]);
    expect(rules).toEqual([
      {
        id: "T1",
        text: "A process reads and writes in one step.",
        world: [],
        shownBy: ["claim-absent", "test/scripts/spec"],
      },
      { id: "T2", text: "Nobody needs this.", world: ["-DMOST=1"], shownBy: ["margin"] },
    ]);
  });

  test("finds no violation in a whole model, and all of its states", async () => {
    const { counterExample, states } = await explore("-DMOST=2");
    expect(counterExample).toBeUndefined();
    expect(states).toBeGreaterThan(5);
  }, 60_000);

  test("finds the violation without a rule", async () => {
    const { counterExample } = await explore("-DMOST=2", "-DWITHOUT_T1");
    expect(counterExample).toEqual(["it has counted", "it has counted"]);
  }, 60_000);

  test("finds none without a rule that the model does not need", async () => {
    expect(await explore("-DMOST=2", "-DWITHOUT_T2")).toMatchObject({ counterExample: undefined });
  }, 60_000);

  test("finds that a process waits for ever", async () => {
    await writeFile(file, `${MODEL}\nactive proctype Stuck() { count == 9 }\n`);
    const { counterExample } = await explore("-DMOST=2");
    await writeFile(file, MODEL);
    expect(counterExample?.at(-1)).toBe("nothing goes on: a process waits for ever");
  }, 60_000);

  test("writes a row for each rule, with its counter-example", async () => {
    const model = await readModel(file);
    const found = { states: 1, seconds: 1, memory: 1, counterExample: ["a tick", "a tick", "it breaks"] };
    const without = new Map(model.rules.map((rule) => [rule, found]));
    const page = replaceRules("# Head\n<!-- The rest is made by: npm run spec -- --write -->\nold", [
      { model, whole: [], without },
    ]);
    expect(page).toContain(
      "| T1 | A process reads and writes in one step. | **it breaks**: a tick (2 times) |",
    );
    expect(page).toMatch(/^# Head\n/);
    expect(page).not.toContain("old");
  });
});
