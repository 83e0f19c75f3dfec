/** Cron texts with a field of seconds, compared with the package croner. */
import { Cron } from "croner";
import { expect, test } from "vitest";
import { lintCron } from "../../../src/schedule/cron/lint.ts";
import {
  createPlanTimes,
  explainPlan,
  listPlannedOccurrences,
  parsePlan,
} from "../../../src/schedule/plan.ts";

const START = Date.parse("2026-03-28T22:58:57.500Z");

test.each([
  "*/10 * * * * *",
  "0 * * * * *",
  "15,45 */7 * * * *",
  "59 59 23 * * *",
  "5-8 0 1,2,3 * * 6,0",
  "30 30 12 29 * *",
])("the times of: %s, in a night in which the clocks go forward", (text) => {
  for (const zone of ["UTC", "Europe/Berlin"]) {
    const times = createPlanTimes(parsePlan(`@seconds ${text}`), zone);
    const oracle = new Cron(text, { timezone: zone, legacyMode: true });
    let at = START;
    for (let index = 0; index < 200; index += 1) {
      const wanted = oracle.nextRun(new Date(at))?.getTime() ?? Number.NaN;
      expect(times.findAfter(at)).toBe(wanted);
      expect([times.findFrom(wanted), times.findUntil(wanted), times.count(at, wanted, 5)]).toEqual([
        wanted,
        wanted,
        1,
      ]);
      if (index > 0) expect(times.findUntil(wanted - 1)).toBe(at);
      at = wanted;
    }
  }
});

test("are shown and explained with their seconds", () => {
  const explain = (text: string) => explainPlan(parsePlan(`@seconds ${text}`));
  expect(["*/10 * * * * *", "* * * * * *", "30 */5 * * * *", "0,7 30 2 * * 1"].map(explain)).toEqual([
    "every 10 seconds",
    "every second",
    "at second 30, every 5 minutes",
    "at seconds 0 and 7, at 02:30, Monday",
  ]);
  const [first] = listPlannedOccurrences(parsePlan("@seconds 30 30 2 * * *"), "Europe/Berlin", START, 1);
  expect(first).toMatchObject({ local: "2026-03-29 03:00:30 CEST (+02:00)", mark: "gap" });
});

test("need the word that says so", () => {
  expect(() => parsePlan("*/10 * * * * *")).toThrow(
    'add --seconds, or write "@seconds */10 * * * * *" in a file; or leave them out: "* * * * *"',
  );
  expect(() => parsePlan("@seconds * * * * *")).toThrow("has 4 fields");
  expect(() => parsePlan("@seconds 60 * * * * *")).toThrow("second:");
  expect(lintCron("@seconds */10 * * * * *", "UTC", START).map(({ detail }) => detail)).toEqual([
    "it fires 6 times in each of its minutes",
  ]);
});
