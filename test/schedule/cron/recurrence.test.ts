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
function listDays(rule: string, first: string, most: number) {
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

const TIMES = readFileSync(new URL("./recurrence-times.txt", import.meta.url), "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, rule = "", start = "", zone = "", instants = ""] =
      /^(FREQ\S+) (\S+) (\S+):(.*)$/.exec(line) ?? [];
    return rule === "" ? [] : [{ rule, start, zone, instants: instants.trim().split(" ").filter(Boolean) }];
  });

test.each(TIMES)("$rule from $start in $zone", ({ rule, start, zone, instants }) => {
  const text = `@rrule ${rule} from ${start}`;
  const isNever = instants.length === 0 && catchMessage(() => parsePlan(text))?.includes("never fires");
  if (isNever) return;
  const times = createPlanTimes(parsePlan(text), zone);
  const begin = Date.parse("2000-01-01T00:00Z");
  const found: number[] = [];
  for (let at = times.findAfter(begin); at !== undefined && found.length < 6; at = times.findAfter(at))
    found.push(at);
  const texts = found.map((at) => new Date(at).toISOString().replace(":00.000", ""));
  expect(texts.filter((text) => text < "2060")).toEqual(instants);
  const last = found.at(-1);
  if (last === undefined) return;
  expect(times.findUntil(last)).toBe(last);
  expect(times.count(begin, last, 99)).toBe(found.length);
  if (found.length < 6) expect(times.findUntil(last + 20_000 * 86_400_000)).toBe(last);
});

function catchMessage(act: () => unknown) {
  try {
    act();
    return undefined;
  } catch (error) {
    return String(error);
  }
}

test("several times of a day in a gap fire once, at its end", () => {
  const count = (rule: string) => {
    const times = createPlanTimes(parsePlan(`@rrule ${rule} from 2027-03-28T00:00`), "Europe/Berlin");
    const [from, until] = [Date.parse("2027-03-27T23:00Z") - 1, Date.parse("2027-03-28T22:00Z") - 1];
    const found: string[] = [];
    for (let at = times.findAfter(from); at !== undefined && at <= until; at = times.findAfter(at))
      found.push(new Date(at).toISOString().slice(11, 16));
    expect(times.count(from, until, 99)).toBe(found.length);
    return found;
  };
  expect(count("FREQ=DAILY;BYHOUR=1,2;BYMINUTE=10,40")).toEqual(["00:10", "00:40", "01:00"]);
  expect(count("FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=0,30")).toEqual(["00:00", "00:30", "01:00", "01:30"]);
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
  ["@rrule FREQ=DAILY;BYHOUR=24 from 2026-02-03T09:00", "0 to 23 is possible"],
  ["@rrule FREQ=DAILY;BYHOUR=3,12 from 2026-02-03T09:00", "between two times of the day: begin at midnight"],
  ["@rrule FREQ=DAILY;BYHOUR=3,12;COUNT=5 from 2026-02-03T00:00", "must be a multiple of 2"],
  ["@rrule FREQ=DAILY;BYHOUR=3,12;BYSETPOS=1 from 2026-02-03T00:00", "with one time of the day only"],
  [
    "@rrule FREQ=DAILY;BYHOUR=3,12;UNTIL=20260205T040000 from 2026-02-03T00:00",
    "between two times of the day",
  ],
  ["@rrule FREQ=WEEKLY;BYWEEKNO=3;BYDAY=MO from 2026-02-03T09:00", "it needs FREQ=YEARLY"],
  ["@rrule FREQ=YEARLY;BYWEEKNO=3 from 2026-02-03T09:00", "weekdays without a number, such as BYDAY=MO"],
  ["@rrule FREQ=YEARLY;BYWEEKNO=0;BYDAY=MO from 2026-02-03T09:00", "1 to 53, or -1 to -53"],
  ["@rrule FREQ=DAILY;;COUNT=2 from 2026-02-03T09:00", "use each once"],
  ["@rrule FREQ=DAILY;FREQ=DAILY from 2026-02-03T09:00", "use each once"],
  ["@rrule FREQ=DAILY;INTERVAL=0 from 2026-02-03T09:00", "INTERVAL=0"],
  ["@rrule FREQ=MONTHLY;BYMONTHDAY=32 from 2026-02-03T09:00", "1 to 31, or -1 to -31"],
  ["@rrule FREQ=DAILY;UNTIL=20270101T0000Z from 2026-02-03T09:00", "or an instant such as 20271231T225959Z"],
  ["@rrule FREQ=DAILY;UNTIL=20260101 from 2026-02-03T09:00", "never fires"],
  ["@rrule FREQ=DAILY;INTERVAL=7;BYDAY=TU from 2026-02-02T09:00", "never fires"],
  ["@rrule FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;BYSETPOS=-1 from 2026-02-02T09:00", "never fires"],
])("refuses %s", (text, fault) => {
  expect(() => parsePlan(text)).toThrow(fault);
});

test("the explanation names its times", () => {
  const explain = (rule: string) => explainPlan(parsePlan(`@rrule ${rule} from 2026-11-30T00:30`));
  expect(explain("FREQ=DAILY;BYHOUR=9,15;")).toBe("every day, at 09:30 and 15:30, from 2026-11-30");
  expect(explain("FREQ=DAILY;BYHOUR=9;BYSECOND=5")).toBe("every day, at 09:30:05, from 2026-11-30");
  expect(explain("FREQ=DAILY;BYHOUR=9,10;BYMINUTE=1,2,3,4")).toBe(
    "every day, at 8 times of the day, from 2026-11-30",
  );
});

test("a rule that ends has no occurrence after its end", () => {
  expect(listDays("FREQ=DAILY;UNTIL=20260204", "2026-02-03", 9)).toEqual(["2026-02-03", "2026-02-04"]);
  expect(listDays("FREQ=DAILY;COUNT=2;INTERVAL=3", "2026-02-03", 9)).toEqual(["2026-02-03", "2026-02-06"]);
});

test("values that a rule repeats cost nothing: a worker parses what anyone may write into etcd", () => {
  // Compared with each other, so many would take longer than a test may: 50,000 took 8 s.
  for (const rule of ["FREQ=MONTHLY;BYDAY=6MO", "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2"])
    expect(() =>
      parseRecurrence(`@rrule ${rule}${`,${rule.split("=").at(-1)}`.repeat(400_000)} from 2026-11-30T09:00`),
    ).toThrow("never fires");
});

test("the same text is parsed once", () => {
  const text = "@rrule FREQ=DAILY from 2026-02-03T09:00";
  expect(parseRecurrence(text)).toBe(parseRecurrence(text));
});
