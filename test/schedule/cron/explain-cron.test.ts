/** Explanations of cron expressions in plain English. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cronText } from "../../../fixtures/schedule/cron-texts.ts";
import { parseCron } from "../../../src/schedule/cron/cron.ts";
import { explainWallPlan } from "../../../src/schedule/cron/explain-cron.ts";

describe("explained", () => {
  test.each([
    ["30 2 * * 1-5", "at 02:30, Monday to Friday"],
    ["0,20,40 6 * * *", "at 06:00, 06:20 and 06:40, every day"],
    ["* * * * *", "every minute"],
    ["5-59/15 * * * *", "every 15 minutes, first at minute 5 of the hour"],
    ["*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour"],
    ["1,2,3,9 * * * *", "at minutes 1 to 3 and 9 of every hour"],
    ["0 * * * *", "every hour"],
    ["@hourly", "every hour"],
    ["15 * * * *", "every hour at minute 15"],
    ["0 9-17 * * *", "every hour from 09:00 to 17:00"],
    ["30 */2 * * *", "every 2 hours from 00:30 to 22:30"],
    ["17 1,3,5,9,12,22,23 * * *", "at minute 17 of the hours 1, 3, 5, 9, 12, 22 and 23"],
    ["* 2 * * *", "every minute from 02:00 to 02:59"],
    ["*/15 9-17 * * mon-fri", "every 15 minutes from 09:00 to 17:59, Monday to Friday"],
    ["0,30 1-3,9,12 * * *", "every 30 minutes of the hours 1 to 3, 9 and 12"],
    ["1,2 9-17 * * *", "at minutes 1 and 2 of every hour from 09:00 to 17:59"],
    ["@daily", "at 00:00, every day"],
    ["@yearly", "at 00:00, on the 1st of the month, in January"],
    ["0 0 1-7,22 * *", "at 00:00, on the 1st to 7th and 22nd of the month"],
    ["0 0 */2 * *", "at 00:00, every 2nd day of the month from the 1st to the 31st"],
    ["0 0 L * *", "at 00:00, on the last day of the month"],
    ["0 0 L-3,L * *", "at 00:00, on the 3rd day before the last and the last day of the month"],
    ["0 0 15W,LW * *", "at 00:00, on the weekday nearest to the 15th and the last weekday of the month"],
    ["0 0 * * 1#4,3#2", "at 00:00, the fourth Monday of the month and the second Wednesday of the month"],
    ["0 0 * * fri#L", "at 00:00, the last Friday of the month"],
    ["0 0 15,L * *", "at 00:00, on the 15th of the month and on the last day of the month"],
    ["0 0 13 * 5", "at 00:00, on the 13th of the month, or Friday"],
    ["0 0 */2 * 1", "at 00:00, every 2nd day of the month from the 1st to the 31st if that is Monday"],
    ["0 0 1-31 * 5", "at 00:00, every day"],
    ["0 0 * * fri-sun", "at 00:00, Friday to Sunday"],
    ["0 0 * * 0-7", "at 00:00, every day"],
    ["0 0 * * 1,5L", "at 00:00, Monday and the last Friday of the month"],
    ["0 12 * 3-5,9 *", "at 12:00, every day, in March to May and September"],
  ])("%s: %s", (text, words) => {
    expect(explainWallPlan(parseCron(text))).toBe(words);
  });

  test("whatever it is, in words", () => {
    fc.assert(
      fc.property(cronText, (text) => {
        expect(explainWallPlan(parseCron(text))).toMatch(/^(at|every) [A-Za-z0-9:, ]+$/);
      }),
    );
  });
});
