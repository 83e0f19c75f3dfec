import { describe, expect, test } from "vitest";
import {
  type Calendar,
  formatCalendar,
  formatDay,
  getDayMatcher,
  MOST_ENTRIES,
  normalizeDays,
  parseCalendar,
  parseCalendarEntry,
} from "../../../src/schedule/calendar/calendar.ts";

const dayOf = (text: string) => Date.parse(`${text}T00:00Z`) / 86_400_000;

describe("an entry of a calendar", () => {
  test.each([
    ["2026-12-25", ["2026-12-25"], ["2026-12-24", "2026-12-26", "2027-12-25"]],
    ["12-25", ["2026-12-25", "1999-12-25"], ["2026-12-24", "2026-11-25"]],
    ["02-29", ["2028-02-29"], ["2027-02-28", "2027-03-01"]],
    ["2026-12-24..2027-01-01", ["2026-12-24", "2026-12-31", "2027-01-01"], ["2026-12-23", "2027-01-02"]],
    ["sat", ["2026-11-21", "1969-12-27"], ["2026-11-22", "2026-11-20"]],
    ["SUN", ["2026-11-22"], ["2026-11-21"]],
  ])("%s names its days", (entry, inside, outside) => {
    const matches = getDayMatcher({ days: [entry] });
    expect(inside.filter((day) => !matches(dayOf(day)))).toEqual([]);
    expect(outside.filter((day) => matches(dayOf(day)))).toEqual([]);
  });

  test.each(["2026-02-30", "2026-13-01", "13-01", "02-30", "caturday", "2026-1-1", "", "2026-01-01..", ".."])(
    "%j is refused with its form",
    (entry) => {
      expect(parseCalendarEntry(entry)).toEqual({
        fault: expect.stringContaining("is not a day: write a date 2026-12-25"),
      });
    },
  );

  test("a range that ends before it begins is refused", () => {
    expect(parseCalendarEntry("2027-01-01..2026-12-24")).toEqual({
      fault: '"2027-01-01..2026-12-24" ends before it begins',
    });
  });
});

test("ranges that overlap, touch or contain each other are one set", () => {
  const days = ["2026-01-10..2026-01-20", "2026-01-01..2026-01-09", "2026-01-12", "2026-01-15..2026-01-25"];
  const matches = getDayMatcher({ days });
  const first = dayOf("2025-12-25");
  const inside = Array.from({ length: 60 }, (_, index) => first + index).filter((day) => matches(day));
  expect([inside.length, formatDay(inside[0] ?? 0), formatDay(inside.at(-1) ?? 0)]).toEqual([
    25,
    "2026-01-01",
    "2026-01-25",
  ]);
});

describe("the stored value of a calendar", () => {
  test("is read again", () => {
    const calendar: Calendar = { days: ["sat", "2026-12-25"], note: "bank" };
    expect(parseCalendar(formatCalendar(calendar))).toEqual({ value: calendar });
    expect(parseCalendar('{"v":2,"days":["sun"],"later":1}')).toEqual({ value: { days: ["sun"] } });
  });

  test.each([
    ["", 'is not {"days"'],
    ['{"days": "sat"}', 'is not {"days"'],
    ['{"days": ["sat", "someday"]}', '"someday" is not a day'],
    [JSON.stringify({ days: Array.from({ length: MOST_ENTRIES + 1 }, () => "sat") }), "at most 5000"],
  ])("%.30s has a fault", (text, fault) => {
    expect(parseCalendar(text)).toEqual({ fault: expect.stringContaining(fault) });
  });
});

test("entries are sorted, weekdays first, without duplicates", () => {
  expect(normalizeDays(["2026-12-25", "SUN", "12-26", "sat", "sun", "01-01", "2026-01-01"])).toEqual([
    "sat",
    "sun",
    "01-01",
    "12-26",
    "2026-01-01",
    "2026-12-25",
  ]);
});
