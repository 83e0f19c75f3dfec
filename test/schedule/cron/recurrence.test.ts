/** Rules of iCalendar as cron texts: their days, their clock changes, and what is refused. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseRecurrence } from "../../../src/schedule/cron/recurrence.ts";
import {
  createPlanTimes,
  explainPlan,
  listPlannedOccurrences,
  parsePlan,
} from "../../../src/schedule/plan.ts";

const RULES = readFileSync(new URL("./recurrences.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => /^FREQ/.test(line))
  .map((line) => /^(\S+) (\S+):(.*)$/.exec(line)?.slice(1) as [string, string, string])
  .map(([rule, first, days]) => ({ rule, first, days: days.trim().split(" ").filter(Boolean) }));

/** Lists the first days of a rule, and whether each is found from the one before and from the one after it. */
function listDays(rule: string, first: string, most: number): string[] {
  const times = createPlanTimes(parsePlan(`@rrule ${rule} from ${first}T00:00`), "UTC");
  const days: string[] = [];
  let last = Date.parse(`${first}T00:00Z`) - 1;
  while (days.length < most) {
    const at = times.findAfter(last);
    const day = at === undefined ? undefined : new Date(at).toISOString().slice(0, 10);
    if (at === undefined || day === undefined || day > "2060-01-01") break;
    expect([times.findFrom(at), times.findUntil(at), times.count(last, at, 9)]).toEqual([at, at, 1]);
    if (days.length > 0) expect(times.findUntil(at - 1)).toBe(last);
    days.push(day);
    last = at;
  }
  return days;
}

test.each(RULES)("$rule from $first", ({ rule, first, days }) => {
  if (days.length > 0) expect(listDays(rule, first, 6)).toEqual(days);
  else
    try {
      expect(listDays(rule, first, 6)).toEqual([]); // its days are after 2060
    } catch (error) {
      expect(String(error)).toContain("never fires");
    }
});

describe("a rule in a zone with clock changes", () => {
  const list = (from: string) =>
    listPlannedOccurrences(
      parsePlan(`@rrule FREQ=DAILY from ${from}T02:30:15`),
      "Europe/Berlin",
      Date.parse(`${from}T00:00Z`) - 7_200_000,
      3,
    ).map(({ at, mark }) => `${new Date(at).toISOString().slice(0, 19)} ${mark ?? ""}`.trim());

  test("fires after a gap, and once where the clocks show its time twice, as a cron text with one time of the day", () => {
    expect(list("2027-03-27")).toEqual([
      "2027-03-27T01:30:15",
      "2027-03-28T01:00:15 gap",
      "2027-03-29T00:30:15",
    ]);
    expect(list("2027-10-30")).toEqual([
      "2027-10-30T00:30:15",
      "2027-10-31T00:30:15 overlap",
      "2027-11-01T01:30:15",
    ]);
  });
});

test("is one of several texts of a schedule, and is explained", () => {
  const plan = parsePlan(["0 9 * * 1", "@rrule RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO from 2026-11-30T09:00"]);
  expect(explainPlan(plan)).toBe("at 09:00, Monday; and every 2 weeks (BYDAY=MO), at 09:00, from 2026-11-30");
  const found = listPlannedOccurrences(plan, "UTC", Date.parse("2026-11-22T00:00Z"), 3);
  expect(found.map(({ at }) => new Date(at).toISOString().slice(0, 10))).toEqual([
    "2026-11-23",
    "2026-11-30",
    "2026-12-07",
  ]);
});

test.each([
  ["@rrule FREQ=WEEKLY", "must have a rule, and its first day and time"],
  ["@rrule FREQ=WEEKLY from 2026-02-30T09:00", "must have a rule"],
  ["@rrule FREQ=WEEKLY from 2026-02-03T24:00", "must have a rule"],
  ["@rrule FREQ=HOURLY from 2026-02-03T09:00", "use @every"],
  ["@rrule FREQ=WEEKLY;BYDAY=1MO from 2026-02-03T09:00", "takes weekdays without a number"],
  ["@rrule FREQ=WEEKLY;BYDAY=XX from 2026-02-03T09:00", "a weekday is MO"],
  ["@rrule FREQ=DAILY;BYHOUR=3 from 2026-02-03T09:00", "the time of the day is that after"],
  ["@rrule FREQ=DAILY;FREQ=DAILY from 2026-02-03T09:00", "use each once"],
  ["@rrule FREQ=DAILY;INTERVAL=0 from 2026-02-03T09:00", "INTERVAL=0"],
  ["@rrule FREQ=MONTHLY;BYMONTHDAY=32 from 2026-02-03T09:00", "1 to 31, or -1 to -31"],
  ["@rrule FREQ=DAILY;UNTIL=20270101T000000Z from 2026-02-03T09:00", "use --end"],
  ["@rrule FREQ=DAILY;UNTIL=20260101 from 2026-02-03T09:00", "never fires"],
  ["@rrule FREQ=DAILY;INTERVAL=7;BYDAY=TU from 2026-02-02T09:00", "never fires"],
  ["@rrule FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;BYSETPOS=-1 from 2026-02-02T09:00", "never fires"],
])("refuses %s", (text, fault) => {
  expect(() => parsePlan(text)).toThrow(fault);
});

test("a rule that ends has no occurrence after its end", () => {
  expect(listDays("FREQ=DAILY;UNTIL=20260204", "2026-02-03", 9)).toEqual(["2026-02-03", "2026-02-04"]);
  expect(listDays("FREQ=DAILY;COUNT=2;INTERVAL=3", "2026-02-03", 9)).toEqual(["2026-02-03", "2026-02-06"]);
});

test("values that a rule repeats cost nothing: a worker parses what anyone may write into etcd", () => {
  const start = performance.now();
  for (const rule of ["FREQ=MONTHLY;BYDAY=6MO", "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2"])
    expect(() =>
      parseRecurrence(`@rrule ${rule}${`,${rule.split("=").at(-1)}`.repeat(50_000)} from 2026-11-30T09:00`),
    ).toThrow("never fires");
  expect(performance.now() - start).toBeLessThan(2_000);
});

test("the same text is parsed once", () => {
  const text = "@rrule FREQ=DAILY from 2026-02-03T09:00";
  expect(parseRecurrence(text)).toBe(parseRecurrence(text));
});
