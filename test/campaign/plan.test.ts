import { describe, expect, test } from "vitest";
import { parseEntry } from "../../fixtures/campaign/journal.ts";
import { planFaults, TRACKS } from "../../fixtures/campaign/plan.ts";

describe("the plan of a campaign", () => {
  test("is the same for the same seed, and another for another", () => {
    expect(planFaults(7, 60)).toEqual(planFaults(7, 60));
    expect(planFaults(8, 60)).not.toEqual(planFaults(7, 60));
  });

  test("has every kind of fault within three minutes, whatever the seed", () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const kinds = new Set(planFaults(seed, 180).map(({ kind }) => kind));
      expect(
        Object.values(TRACKS)
          .flat()
          .filter((kind) => !kinds.has(kind)),
        `seed ${seed}`,
      ).toEqual([]);
    }
  });

  test("lasts as long as it is told", () => {
    const last = planFaults(3, 30).at(-1);
    expect(last?.at).toBeLessThan(30_000);
    expect(last?.at).toBeGreaterThan(20_000);
  });
});

describe("an entry of the journal", () => {
  const file = "r1-h1~abc~bare~77";

  test.each([
    ["of a process that ended", "1000000 42 /k\n00000000000003000000\nend\n", true],
    ["of one that was killed", "1000000 42 /k\n00000000000003000000\n", false],
  ])("%s", (_, text, hasEnded) => {
    expect(parseEntry(file, text)).toEqual({
      name: "r1-h1",
      run: "abc",
      token: 42n,
      key: "/k",
      life: { role: "bare", pid: 77, birth: 1, last: 3, hasEnded },
    });
  });

  test("that is not written yet is none", () => {
    expect(parseEntry(file, "")).toBeUndefined();
  });
});
