/** Valid and invalid cron expressions, and error messages. */
import { describe, expect, test } from "vitest";
import { UsageError } from "../../../src/core/base/errors.ts";
import { CRON_MACROS, CronError, parseCron } from "../../../src/schedule/cron/cron.ts";
import { findOccurrenceAfter } from "../../../src/schedule/cron/upcoming-occurrences.ts";

const valuesOf = (text: string) => {
  const { minute, hour, day, month, weekday } = parseCron(text).fields;
  return [minute, hour, day, month, weekday].map(({ values }) => values);
};
const range = (from: number, to: number, step = 1) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, at) => from + at * step);
const ALL = [range(0, 59), range(0, 23), range(1, 31), range(1, 12), range(0, 6)] as const;

describe("fields", () => {
  test.each<[text: string, at: number, values: number[]]>([
    ["5 * * * *", 0, [5]],
    ["? * ? * ?", 0, range(0, 59)],
    ["*/15 * * * *", 0, [0, 15, 30, 45]],
    ["*/60 * * * *", 0, [0]],
    ["5-59/15 * * * *", 0, [5, 20, 35, 50]],
    ["3,1,2,1,*/30 * * * *", 0, [0, 1, 2, 3, 30]],
    ["05 * * * *", 0, [5]],
    ["0 8-17/3,22 * * *", 1, [8, 11, 14, 17, 22]],
    ["0 0 */10 * *", 2, [1, 11, 21, 31]],
    ["0 0 1 JAN,mar-May,12 *", 3, [1, 3, 4, 5, 12]],
    ["0 0 * * 7", 4, [0]],
    ["0 0 * * fri-sun", 4, [0, 5, 6]],
    ["0 0 * * Mon-FRI", 4, range(1, 5)],
    // A single value with a step goes on to the end of the field (robfig/cron, croniter, cron-parser, Quartz;
    // croner refuses it unless told otherwise).
    ["5/15 * * * *", 0, [5, 20, 35, 50]],
    ["0 0 * * 1/2", 4, [1, 3, 5]],
    // A range that wraps goes on at the beginning of the field (croniter; croner and cron-parser refuse it).
    ["0 23-0 * * *", 1, [0, 23]],
    ["0 20-4/3 * * *", 1, [2, 20, 23]],
    ["0 0 * * 7-mon", 4, [0, 1]],
    ["0 0 * * 7-3/2", 4, [0, 2]],
    ["0 0 * * fri-tue/2", 4, [0, 2, 5]],
    ["0 0 1 apr-mar/2 *", 3, [2, 4, 6, 8, 10, 12]],
    // Full English names (gorhill/cronexpr).
    ["0 0 1 January,JUNE-august *", 3, [1, 6, 7, 8]],
    ["0 0 * * Monday,wednesday-Friday", 4, [1, 3, 4, 5]],
  ])("%s", (text, at, values) => {
    expect(valuesOf(text)[at]).toEqual(values);
  });

  test("spaces and tabs around and between do not count", () => {
    expect(parseCron("  0\t4  * * 1\n").text).toBe("0 4 * * 1");
  });

  test.each(Object.entries(CRON_MACROS))("%s stands for %s", (macro, text) => {
    expect(valuesOf(macro)).toEqual(valuesOf(text));
    expect(parseCron(macro.toUpperCase()).fields.day.isStar).toBe(parseCron(text).fields.day.isStar);
    expect(parseCron(macro).text).toBe(macro);
  });

  test("every value of every field, one by one", () => {
    const text = ALL.map((values) => values.join(",")).join(" ");
    expect(valuesOf(text)).toEqual(ALL);
  });

  test("a text that was read is remembered", () => {
    expect(parseCron("1 2 3 4 5")).toBe(parseCron("1 2 3 4 5"));
  });
});

test.each([
  ["30 2 * * *", true],
  ["30-30 02 * * 1-5", true],
  ["@daily", true],
  ["30 2,3 * * *", false],
  ["30 */24 * * *", false],
  ["30-30/5 2 * * *", false],
  ["*/60 2 * * *", false],
])("one time of the day: %s: %s", (text, isFixed) => {
  expect(parseCron(text).isFixed).toBe(isFixed);
});

describe("refused", () => {
  test.each<[text: string, says: string, field?: string]>([
    ["", "is empty"],
    ["5", "has 1 field, five are required"],
    ["0 30 2 * * *", 'leave them out: "30 2 * * *"'],
    ["0 0 1 1 * * 2026", "has 7 fields"],
    ["60 * * * *", "0 to 59", "minute"],
    ["-1 * * * *", "is not understood", "minute"],
    ["0 24 * * *", "0 to 23", "hour"],
    ["0 0 0 * *", "1 to 31", "day of the month"],
    ["0 0 32 * *", "1 to 31", "day of the month"],
    ["0 0 1 0 *", "1 to 12 or jan to dec", "month"],
    ["0 0 * * 8", "0 to 7 or sun to sat", "day of the week"],
    ["*/0 * * * *", 'the step "0"', "minute"],
    ["*/ * * * *", 'the step ""', "minute"],
    ["*/5/5 * * * *", "more than one step", "minute"],
    ["1,,2 * * * *", "something is missing", "minute"],
    ["1-2-3 * * * *", "is not understood", "minute"],
    ["1e1 * * * *", "is not understood", "minute"],
    ["٣ * * * *", "is not understood", "minute"],
    ["0 0 * * thrusday", "did you mean thu?", "day of the week"],
    ["jan * * * *", "0 to 59", "minute"],
    ["L * * * *", "is not understood", "minute"],
    ["0~59 * * * *", "~ is not supported; write a time and give the schedule a jitter", "minute"],
    ["0 0 L-31 * *", "use L-1 to L-30", "day of the month"],
    ["0 0 W * *", "W follows a date", "day of the month"],
    ["0 0 32W * *", "W follows a date", "day of the month"],
    ["0 0 * * 5W", "is not understood", "day of the week"],
    ["0 0 31W 2,4 *", "never fires", "day of the month"],
    ["0 0 * * 1-3#2", "# takes one weekday", "day of the week"],
    ["0 0 * * L", "is not understood", "day of the week"],
    ["0 0 * * 1-5L", "L follows one weekday", "day of the week"],
    ["0 0 * * 1#6", "# takes one weekday", "day of the week"],
    ["0 0 * * #2", "# takes one weekday", "day of the week"],
    ["H * * * *", "H is not supported", "minute"],
    ["@reboot", "is not a macro"],
    ["@dayly", "did you mean @daily?"],
    ["@every 5m", "use one of @hourly"],
    ["0 0 30 2 *", "never fires", "day of the month"],
    ["0 0 31 4,6,9,11 *", "L is a month's last day", "day of the month"],
    ["0 0 */31 * 1#2", "are never the same day", "day of the month"],
    [`${"1,".repeat(400)}1 * * * *`, "at most 500"],
    ["0 0 * * \u001b[31mx", '"\\u001b[31mx"', "day of the week"],
  ])("%j", (text, says, field) => {
    const error = errorOf(text);
    expect(error.message).toContain(says);
    expect(error.field).toBe(field);
    expect(error).toBeInstanceOf(UsageError);
    expect(error.message).not.toMatch(/\p{Cc}/u);
  });

  // Either of the two days will do, so this is no date that never comes.
  test("the 30th of February, or a Monday", () => {
    const monday = Date.UTC(2026, 1, 2);
    expect(findOccurrenceAfter(parseCron("0 0 30 2 1"), "UTC", Date.UTC(2026, 0, 1))).toBe(monday);
  });
});

function errorOf(text: string) {
  try {
    parseCron(text);
  } catch (error) {
    if (error instanceof CronError) return error;
    throw error;
  }
  throw new Error(`${text} was accepted`);
}
