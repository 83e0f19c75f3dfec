import { describe, expect, test } from "vitest";
import { readICalendarDays } from "../../../../src/cli/commands/configure/read-icalendar.ts";

const toDays = (date: string) => Date.parse(`${date}T00:00Z`) / 86_400_000;
const SPAN = { from: toDays("2026-01-01"), until: toDays("2028-12-31") };

/** Builds an iCalendar text of events, each a list of lines. */
function buildText(...events: string[][]) {
  const bodies = events.map((lines, index) => [
    "BEGIN:VEVENT",
    `UID:${index}@example.com`,
    "DTSTAMP:20260101T000000Z",
    ...lines,
    "END:VEVENT",
  ]);
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//x//y//EN",
    ...bodies.flat(),
    "END:VCALENDAR",
    "",
  ];
  return lines.join("\r\n");
}

const readDays = (...events: string[][]) => readICalendarDays(buildText(...events), SPAN);

describe("events of an iCalendar file", () => {
  test.each([
    ["one day", ["DTSTART;VALUE=DATE:20261225", "DTEND;VALUE=DATE:20261226"], ["2026-12-25"]],
    ["one day without an end", ["DTSTART;VALUE=DATE:20261225"], ["2026-12-25"]],
    [
      "several days over the end of a year",
      ["DTSTART;VALUE=DATE:20261224", "DTEND;VALUE=DATE:20270102"],
      ["2026-12-24..2027-01-01"],
    ],
    [
      "hours that end at midnight, on the clock of the event",
      ["DTSTART;TZID=Pacific/Auckland:20261225T090000", "DTEND;TZID=Pacific/Auckland:20261226T000000"],
      ["2026-12-25"],
    ],
    ["each year", ["DTSTART;VALUE=DATE:20201225", "RRULE:FREQ=YEARLY"], ["12-25"]],
    [
      "each year, with its own date in the rule",
      ["DTSTART;VALUE=DATE:20200501", "RRULE:FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=1"],
      ["05-01"],
    ],
    [
      "each year by weekday, up to the end of the span",
      ["DTSTART;VALUE=DATE:20241128", "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH"],
      ["2026-11-26", "2027-11-25", "2028-11-23"],
    ],
    [
      "each year, up to an end",
      ["DTSTART;VALUE=DATE:20251225", "RRULE:FREQ=YEARLY;UNTIL=20271225"],
      ["2026-12-25", "2027-12-25"],
    ],
    [
      "each year, but for one",
      ["DTSTART;VALUE=DATE:20261225", "RRULE:FREQ=YEARLY", "EXDATE;VALUE=DATE:20271225"],
      ["2026-12-25", "2028-12-25"],
    ],
    ["cancelled", ["DTSTART;VALUE=DATE:20261225", "STATUS:CANCELLED"], []],
  ])("%s", (_, event, days) => {
    expect(readDays(event)).toEqual(days);
  });

  test("that follow each other become a range", () => {
    const days = ["20261226", "20261225", "20261225", "20261231"].map((day) => [`DTSTART;VALUE=DATE:${day}`]);
    expect(readDays(...days)).toEqual(["2026-12-25..2026-12-26", "2026-12-31"]);
  });

  test("that repeat without a bound are refused", () => {
    expect(() => readDays(["DTSTART:20200101T000000Z", "RRULE:FREQ=SECONDLY", "SUMMARY:tick"])).toThrow(
      'event "tick" repeats more than 20000 times',
    );
  });

  test.each(["", "hello", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT", "BEGIN:VCALENDAR\r\nX"])(
    "%j is refused",
    (text) => {
      expect(() => readICalendarDays(text, SPAN)).toThrow("the file is not iCalendar");
    },
  );

  test("of two calendars in one file count", () => {
    const text = ["20261225", "20261231"].map((day) => buildText([`DTSTART;VALUE=DATE:${day}`])).join("");
    expect(readICalendarDays(text, SPAN)).toEqual(["2026-12-25", "2026-12-31"]);
  });
});
