/** The next occurrences for operators: local time, and clock changes. */
import { expect, test } from "vitest";
import { parseCron } from "../../../src/schedule/cron/cron.ts";
import { listUpcomingOccurrences } from "../../../src/schedule/cron/upcoming-occurrences.ts";

function lines(text: string, zone: string, after: string, count: number) {
  return listUpcomingOccurrences(parseCron(text), zone, Date.parse(`${after}Z`), count).map(
    ({ local, mark, note }) => `${local}${mark === undefined ? "" : ` [${mark}] ${note}`}`,
  );
}

test("an ordinary day", () => {
  expect(listUpcomingOccurrences(parseCron("0 12 * * *"), "UTC", Date.parse("2026-03-01T12:00Z"), 1)).toEqual(
    [{ at: Date.parse("2026-03-02T12:00Z"), local: "2026-03-02 12:00 UTC (+00:00)" }],
  );
});

test.each([
  ["Europe/Berlin", "2026-07-01 00:00 CEST (+02:00)"],
  ["America/New_York", "2026-07-01 00:00 EDT (-04:00)"],
  ["Asia/Kolkata", "2026-07-01 00:00 IST (+05:30)"],
  ["America/Sao_Paulo", "2026-07-01 00:00 (-03:00)"],
])("a zone's own abbreviation, where English has one: %s", (zone, line) => {
  expect(lines("0 0 1 7 *", zone, "2026-06-01T00:00", 1)).toEqual([line]);
});

test("a time in a gap", () => {
  expect(lines("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00", 2)).toEqual([
    "2026-03-29 03:00 CEST (+02:00) [gap] instead of 02:30, which does not exist: the clocks go from 02:00 to 03:00",
    "2026-03-30 02:30 CEST (+02:00)",
  ]);
});

test("times that a gap swallows", () => {
  expect(lines("*/20 1-3 * * *", "Europe/Berlin", "2026-03-29T00:30", 3)).toEqual([
    "2026-03-29 01:40 CET (+01:00)",
    "2026-03-29 03:00 CEST (+02:00) [gap] skipped 02:00, 02:20, 02:40: the clocks go from 02:00 to 03:00",
    "2026-03-29 03:20 CEST (+02:00)",
  ]);
  expect(lines("* 2 * * *", "Europe/Berlin", "2026-03-28T12:00", 1)).toEqual([
    "2026-03-30 02:00 CEST (+02:00) [gap] skipped 02:00, 02:01, 02:02 and 57 more: the clocks go from 02:00 to 03:00",
  ]);
});

test("a gap that concerns no time of it is not mentioned", () => {
  expect(lines("30 4 * * *", "Europe/Berlin", "2026-03-28T12:00", 1)).toEqual([
    "2026-03-29 04:30 CEST (+02:00)",
  ]);
});

test("a time that is shown twice", () => {
  expect(lines("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00", 2)).toEqual([
    "2026-10-25 02:30 CEST (+02:00) [overlap] 02:30 comes twice, the first counts: the clocks go back from 03:00 to 02:00",
    "2026-10-26 02:30 CET (+01:00)",
  ]);
  expect(lines("30 * * * *", "Europe/Berlin", "2026-10-25T00:00", 3)).toEqual([
    "2026-10-25 02:30 CEST (+02:00) [overlap] 02:30 for the first time: the clocks go back from 03:00 to 02:00",
    "2026-10-25 02:30 CET (+01:00) [overlap] 02:30 for the second time: the clocks go back from 03:00 to 02:00",
    "2026-10-25 03:30 CET (+01:00)",
  ]);
});

test("a day that never was", () => {
  expect(lines("30 23 * * *", "America/Nuuk", "2027-03-27T12:00", 1)).toEqual([
    expect.stringContaining("instead of 2027-03-27 23:30, which does not exist"),
  ]);
  expect(lines("0 0 * * *", "Pacific/Apia", "2011-12-29T12:00", 2)).toEqual([
    "2011-12-31 00:00 (+14:00) [gap] skipped 2011-12-30 00:00: the clocks go from 2011-12-30 00:00 to 2011-12-31 00:00",
    "2012-01-01 00:00 (+14:00)",
  ]);
});

test("clocks that change at midnight", () => {
  expect(lines("0 0 * * *", "Africa/Cairo", "2026-04-23T12:00", 1)).toEqual([
    "2026-04-24 01:00 EEST (+03:00) [gap] instead of 00:00, which does not exist: the clocks go from 00:00 to 01:00",
  ]);
  expect(lines("30 23 * * *", "Africa/Cairo", "2026-10-29T12:00", 1)).toEqual([
    "2026-10-29 23:30 EEST (+03:00) [overlap] 23:30 comes twice, the first counts: the clocks go back from 2026-10-30 00:00 to 2026-10-29 23:00",
  ]);
});

test("there are none where none come", () => {
  expect(lines("0,30 2 * 3 0L", "Europe/Berlin", "2026-01-01T00:00", 3)).toEqual([]);
  expect(lines("0 0 * * *", "UTC", "2026-01-01T00:00", 0)).toEqual([]);
});
