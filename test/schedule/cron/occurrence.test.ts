/** Occurrences of a cron expression in a time zone: clock changes, both kinds of days, earlier occurrences and counts. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cronText, DAY, HOUR, zones } from "../../../fixtures/schedule/cron-texts.ts";
import { parseCron } from "../../../src/schedule/cron/cron.ts";
import {
  countOccurrences,
  findOccurrenceAfter,
  findOccurrenceFrom,
  findOccurrenceUntil,
} from "../../../src/schedule/cron/upcoming-occurrences.ts";

const at = (time: string) => Date.parse(`${time}Z`);

/** The first occurrences after an instant, as "2026-03-29T01:00" in UTC. */
function following(text: string, zone: string, after: string, count: number) {
  const cron = parseCron(text);
  let last: number | undefined = at(after);
  return Array.from({ length: count }, () => {
    last = last === undefined ? undefined : findOccurrenceAfter(cron, zone, last);
    return last === undefined ? "never" : new Date(last).toISOString().slice(0, 16);
  });
}

describe("clock changes", () => {
  // The rule is that of Vixie's cron and cronie for one time of the day; the cases are our own. occurrence-oracle.long.test.ts
  // compares all zones with croner.
  const cases: [what: string, text: string, zone: string, after: string, wanted: string][] = [
    // Berlin, 29 March 2026: 02:00 becomes 03:00 at 01:00 UTC; 25 October: 03:00 becomes 02:00 at 01:00 UTC.
    [
      "one time in a gap comes at its end",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-03-28T12:00",
      "03-29T01:00 03-30T00:30",
    ],
    [
      "one time at the end of a gap comes once",
      "0 3 * * *",
      "Europe/Berlin",
      "2026-03-28T12:00",
      "03-29T01:00 03-30T01:00",
    ],
    [
      "several times in a gap do not come",
      "0,30 2 * * *",
      "Europe/Berlin",
      "2026-03-28T12:00",
      "03-30T00:00 03-30T00:30",
    ],
    [
      "a step over a gap does not come",
      "*/30 2,3 * * *",
      "Europe/Berlin",
      "2026-03-28T12:00",
      "03-29T01:00 03-29T01:30",
    ],
    [
      "one time that is shown twice comes the first time",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-10-24T12:00",
      "10-25T00:30 10-26T01:30",
    ],
    [
      "asked for between the two, it is over",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-10-25T00:30",
      "10-26T01:30",
    ],
    [
      "several times come twice",
      "0,30 2 * * *",
      "Europe/Berlin",
      "2026-10-24T12:00",
      "10-25T00:00 10-25T00:30 10-25T01:00 10-25T01:30",
    ],
    [
      "every hour goes on over a repeated one",
      "30 * * * *",
      "Europe/Berlin",
      "2026-10-25T00:00",
      "10-25T00:30 10-25T01:30 10-25T02:30",
    ],
    [
      "clocks that change by half an hour: twice",
      "45 1 * * *",
      "Australia/Lord_Howe",
      "2026-04-04T00:00",
      "04-04T14:45 04-05T15:15",
    ],
    [
      "midnight in a gap: at one o'clock of the same day",
      "0 0 * * *",
      "Africa/Cairo",
      "2026-04-23T12:00",
      "04-23T22:00 04-24T21:00",
    ],
    [
      "a day that never was",
      "0 12 * * *",
      "Pacific/Apia",
      "2011-12-29T12:00",
      "12-29T22:00 12-30T22:00 12-31T22:00",
    ],
    [
      "a gap that ends with its day: at the end of the gap, on the next day",
      "30 23 * * *",
      "America/Nuuk",
      "2027-03-26T12:00",
      "03-27T01:30 03-28T01:00 03-29T00:30",
    ],
    ["that of one day only", "30 23 27 3 *", "America/Nuuk", "2027-03-26T12:00", "03-28T01:00"],
    ["a date that never was", "0 12 30 12 *", "Pacific/Apia", "2011-12-29T12:00", "12-29T22:00"],
    [
      "a day that never was, of old",
      "0 12 * * *",
      "Pacific/Kwajalein",
      "1993-08-20T12:00",
      "08-21T00:00 08-22T00:00",
    ],
  ];
  test.each(cases)("%s", (_, text, zone, after, wanted) => {
    const times = wanted.split(" ");
    expect(
      following(text, zone, after, times.length)
        .map((time) => time.slice(5))
        .join(" "),
    ).toBe(wanted);
  });

  // Vostok's clocks went from +07:00 to +00:00 in 1994: an oracle that looks three hours around misses that.
  test("clocks that go back by more than any others", () => {
    const wanted = ["1994-01-31T16:40", "1994-01-31T17:00", "1994-01-31T17:20"];
    expect(following("*/20 * * * *", "Antarctica/Vostok", "1994-01-31T16:20", 3)).toEqual(wanted);
    expect(following("30 20 * * *", "Antarctica/Vostok", "1994-01-31T12:00", 2)).toEqual([
      "1994-01-31T13:30",
      "1994-02-01T20:30",
    ]);
  });

  test("times that every year's clocks skip never come", () => {
    const cron = parseCron("0,30 2 * 3 0L");
    expect(findOccurrenceAfter(cron, "Europe/Berlin", at("2026-01-01T00:00"))).toBeUndefined();
    expect(findOccurrenceAfter(cron, "UTC", at("2026-01-01T00:00"))).toBe(at("2026-03-29T02:00"));
  });
});

describe("days", () => {
  // The dates of 2026 are our own; other-suites.test.ts has those of other implementations. Which days match if both are
  // restricted or begin with *: cronie's find_jobs, and robfig/cron's spec_test.go.
  const cases: [what: string, text: string, wanted: string][] = [
    ["either, where both are restricted", "0 0 13 * 5", "01-02 01-09 01-13 01-16"],
    ["both, where the day begins with *", "0 0 */2 * 1", "01-05 01-19 02-09"],
    ["both, where the weekday begins with *", "0 0 1-7 * */3", "01-03 01-04 01-07 02-01"],
    ["a range of all days restricts", "0 0 1-31 * 5", "01-02 01-03 01-04"],
    ["? is *", "0 0 ? * 5", "01-02 01-09"],
    ["the fifth Sunday", "0 0 * * 7#5", "03-29 05-31 08-30"],
    ["a Monday, and the last Friday", "0 0 * * 1,fridayL", "01-05 01-12 01-19 01-26 01-30"],
    ["the 15th and the last day", "0 0 15,l 2 *", "02-15 02-28"],
    ["the weekday nearest to the 15th", "0 0 15w 1,2,8 *", "01-15 02-16 08-14"],
    ["the last Friday, written with #", "0 0 * * FRI#l", "01-30 02-27 03-27"],
    ["the 31st", "0 0 31 * *", "01-31 03-31 05-31"],
    ["the 13th, or the second Monday", "0 0 13 * 1#2", "01-12 01-13 02-09 02-13"],
  ];
  test.each(cases)("%s: %s", (_, text, wanted) => {
    const found = following(text, "UTC", "2026-01-01T00:00", wanted.split(" ").length);
    expect(found.map((time) => time.slice(5, 10)).join(" ")).toBe(wanted);
  });

  test("leap days, over a century without one", () => {
    expect(following("0 0 29 2 *", "UTC", "2092-03-01T00:00", 2)).toEqual([
      "2096-02-29T00:00",
      "2104-02-29T00:00",
    ]);
    expect(following("0 0 29 2 */7", "UTC", "2026-01-01T00:00", 2)).toEqual([
      "2032-02-29T00:00",
      "2060-02-29T00:00",
    ]);
  });
});

describe("looking back and counting", () => {
  const start = fc.integer({ min: Date.UTC(2009, 0), max: Date.UTC(2031, 0) });
  const setting = fc.record({ text: cronText, zone: fc.constantFrom(...zones), start });

  test("stepping, looking back and counting agree", () => {
    fc.assert(
      fc.property(setting, ({ text, zone, start }) => {
        const cron = parseCron(text);
        let last = start;
        for (let count = 1; count <= 12; count += 1) {
          const next = findOccurrenceAfter(cron, zone, last);
          if (next === undefined) throw new Error("it never comes");
          expect(next).toBeGreaterThan(last);
          expect(findOccurrenceFrom(cron, zone, next)).toBe(next);
          expect(findOccurrenceUntil(cron, zone, next)).toBe(next);
          if (count > 1) expect(findOccurrenceUntil(cron, zone, next - 1)).toBe(last);
          expect(countOccurrences(cron, zone, start, next, 1000)).toBe(count);
          expect(countOccurrences(cron, zone, start, next - 1, 1000)).toBe(count - 1);
          last = next;
        }
      }),
      { numRuns: 300 },
    );
  });

  test("around every clock change too", () => {
    for (const zone of zones) {
      for (const text of ["30 2 * * *", "*/30 0-3 * * *", "15 0 * * *", "45 1 * * *"]) {
        const cron = parseCron(text);
        const [from, to] = [Date.UTC(2026, 0), Date.UTC(2027, 0)];
        let count = 0;
        let last = from;
        for (let next = findOccurrenceAfter(cron, zone, last); next !== undefined && next <= to; ) {
          if (count > 0 && findOccurrenceUntil(cron, zone, next - 1) !== last)
            throw new Error(`${text} in ${zone} before ${next}`);
          count += 1;
          last = next;
          next = findOccurrenceAfter(cron, zone, next);
        }
        expect(countOccurrences(cron, zone, from, to, 100_000)).toBe(count);
      }
    }
  });

  test("a count stops at the most", () => {
    const cron = parseCron("* * * * *");
    const from = at("2026-01-01T00:00");
    expect(countOccurrences(cron, "Europe/Berlin", from, from + 365 * DAY, 1e9)).toBe(365 * 1440);
    expect(countOccurrences(cron, "Europe/Berlin", from, from + 365 * DAY, 100)).toBe(100);
    expect(countOccurrences(cron, "Europe/Berlin", from, from, 100)).toBe(0);
    expect(countOccurrences(cron, "Europe/Berlin", from, from - HOUR, 100)).toBe(0);
  });

  test("instants between minutes, and beyond what a Date can hold", () => {
    const cron = parseCron("* * * * *");
    const noon = at("2026-01-01T12:00");
    expect(findOccurrenceAfter(cron, "UTC", noon - 0.5)).toBe(noon);
    expect(findOccurrenceFrom(cron, "UTC", noon)).toBe(noon);
    expect(findOccurrenceFrom(cron, "UTC", noon + 1)).toBe(noon + 60_000);
    expect(findOccurrenceUntil(cron, "UTC", noon + 59_999)).toBe(noon);
    expect(findOccurrenceAfter(cron, "UTC", -1)).toBe(0);
    for (const none of [Number.NaN, Number.POSITIVE_INFINITY, 8.64e15, -8.64e15]) {
      expect(findOccurrenceAfter(cron, "UTC", none)).toBeUndefined();
      expect(findOccurrenceUntil(cron, "UTC", none)).toBeUndefined();
      expect(countOccurrences(cron, "UTC", none, none, 10)).toBe(0);
    }
  });
});
