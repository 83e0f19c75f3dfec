/** Findings about schedules. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cronText, zones } from "../../../fixtures/schedule/cron-texts.ts";
import { lintCron } from "../../../src/schedule/cron/lint.ts";

const NOW = Date.UTC(2026, 0, 1);

describe("findings", () => {
  test.each<[text: string, zone: string, found: [level: string, about: string, says: string][]]>([
    ["5 4 * * 1-5", "UTC", []],
    ["5 4 1,15 * *", "Europe/Berlin", []],
    ["17 * * * *", "Europe/Berlin", []],
    ["0 30 2 * * *", "UTC", [["error", "cron", "has 6 fields"]]],
    [
      "5 4 * * mno",
      "Berlin",
      [
        ["error", "day of the week", "did you mean mon?"],
        ["error", "timezone", "did you mean Europe/Berlin?"],
      ],
    ],
    ["0 0 30 2 *", "UTC", [["error", "day of the month", "never fires"]]],
    ["* * * * *", "UTC", [["hint", "minute", "1440 times a day"]]],
    ["* 2 * * *", "UTC", [["warning", "minute", "60 times in each"]]],
    [
      "*/7 * * * *",
      "UTC",
      [
        [
          "warning",
          "minute",
          "after minute 56 comes minute 0 of the next hour, 4 minutes later instead of 7",
        ],
      ],
    ],
    ["*/60 * * * *", "UTC", [["warning", "minute", '"*/60" means only minute 0 of every hour']]],
    ["5 1/24 * * *", "UTC", [["warning", "hour", '"1/24" means only hour 1 of every day']]],
    ["5 1/32 * * *", "UTC", [["warning", "hour", '"1/32" means only hour 1 of every day']]],
    ["5 3 1/31 * *", "UTC", [["warning", "day of the month", '"1/31" means only day of the month 1']]],
    ["5 3 1 */12 *", "UTC", [["warning", "month", '"*/12" means only month 1 of every year']]],
    ["5 3 * * 1/7", "UTC", [["warning", "day of the week", '"1/7" means only day of the week 1']]],
    ["0,50/20 3 * * *", "UTC", [["warning", "minute", '"50/20" means only minute 50 of every hour']]],
    ["*/90 * * * *", "UTC", [["warning", "minute", "means only minute 0 of every hour"]]],
    ["*/15 * * * *", "UTC", []],
    [
      "5 */5 * * *",
      "UTC",
      [["warning", "hour", "after hour 20 comes hour 0 of the next day, 4 hours later instead of 5"]],
    ],
    ["5 */6 * * *", "UTC", []],
    ["@daily", "UTC", [["hint", "hour", "all at once"]]],
    ["5 4 1 * 1", "UTC", [["warning", "day of the week", "one match is enough"]]],
    [
      "5 4 */2 * 1",
      "UTC",
      [
        ["warning", "day of the week", "both days must match"],
        ["hint", "day of the month", "the 31st and the 1st may both fire"],
      ],
    ],
    ["5 4 * * */2", "UTC", [["hint", "day of the week", "Saturday and Sunday may both fire"]]],
    [
      "5 4 31 * *",
      "UTC",
      [["warning", "day of the month", "February, April, June, September and November have no day 31"]],
    ],
    ["5 4 30 * *", "UTC", [["warning", "day of the month", "February has no day 30"]]],
    ["5 4 29 * *", "UTC", [["warning", "day of the month", "February, but for leap years, has no day 29"]]],
    ["5 4 31 1,3 *", "UTC", []],
    ["5 4 L * *", "UTC", []],
    ["5 4 29 2 *", "UTC", [["warning", "day of the month", "every four years"]]],
    [
      "30 2 * * *",
      "Europe/Berlin",
      [
        [
          "hint",
          "clock change",
          "on 2026-03-29 the clocks of Europe/Berlin go from 02:00 to 03:00: 02:30 does not exist, it fires at 03:00",
        ],
        [
          "hint",
          "clock change",
          "on 2026-10-25 the clocks of Europe/Berlin go from 03:00 to 02:00: 02:30 comes twice, it fires the first time",
        ],
      ],
    ],
    ["30 2 * * *", "UTC", []],
    ["30 2 * * 1", "Europe/Berlin", []],
    [
      "0,30 2 * * *",
      "Europe/Berlin",
      [
        ["warning", "clock change", "it does not fire for 02:00"],
        ["warning", "clock change", "it fires twice for 02:00"],
      ],
    ],
    [
      "0,30 2 * 3 0L",
      "Europe/Berlin",
      [["error", "clock change", "the clocks of Europe/Berlin skip it every time"]],
    ],
  ])("%s in %s", (text, zone, wanted) => {
    const found = lintCron(text, zone, NOW);
    expect(found.map(({ level, about }) => [level, about])).toEqual(
      wanted.map(([level, about]) => [level, about]),
    );
    for (const [index, [, , says]] of wanted.entries()) expect(found[index]?.detail).toContain(says);
  });

  test("the worst comes first, and no text makes it throw", () => {
    const rank = ["error", "warning", "hint"];
    fc.assert(
      fc.property(fc.oneof(cronText, fc.string()), fc.constantFrom(...zones, "nowhere"), (text, zone) => {
        const ranks = lintCron(text, zone, NOW).map(({ level }) => rank.indexOf(level));
        expect(ranks).toEqual([...ranks].sort());
      }),
      { numRuns: 200 },
    );
  });
});
