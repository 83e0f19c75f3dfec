/** Times without an offset that the clocks of a zone skip or show twice. */
import { expect, it } from "vitest";
import { findWrongTimes } from "../../../../fixtures/schedule/written-times.ts";
import { parseEndTime, parseInstant, parseTime } from "../../../../src/cli/frame/command-line/instant.ts";

const BERLIN = "Europe/Berlin";

it.each([
  ["2027-03-14T02:30", "America/New_York", "2027-03-14T07:00:00.000Z"],
  ["2027-03-28T02:30", BERLIN, "2027-03-28T01:00:00.000Z"],
  ["2026-10-04T02:15", "Australia/Lord_Howe", "2026-10-03T15:30:00.000Z"],
  ["2011-12-30", "Pacific/Apia", "2011-12-30T10:00:00.000Z"],
])("%s, skipped in %s, is the end of the gap", (text, zone, at) => {
  for (const parse of [parseTime, parseEndTime]) {
    const read = parse(text, "--from")?.(zone, 0);
    expect(new Date(read?.at ?? 0).toISOString()).toBe(at);
    expect(read?.notes).toHaveLength(1);
  }
});

it.each([
  ["2026-10-25T02:30", BERLIN, "2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"],
  ["2026-11-01T01:30", "America/New_York", "2026-11-01T05:30:00.000Z", "2026-11-01T06:30:00.000Z"],
  ["2027-04-04T01:45", "Australia/Lord_Howe", "2027-04-03T14:45:00.000Z", "2027-04-03T15:15:00.000Z"],
])(
  "%s, twice in %s, is the first instant, and the second at the end of a range",
  (text, zone, first, last) => {
    expect(new Date(parseTime(text, "--from")?.(zone, 0).at ?? 0).toISOString()).toBe(first);
    expect(new Date(parseEndTime(text, "--to")?.(zone, 0).at ?? 0).toISOString()).toBe(last);
  },
);

it("says which instant counts, and how to write another", () => {
  expect(parseInstant("2026-10-25T02:30", BERLIN, 0)?.notes).toEqual([
    "2026-10-25T02:30 comes twice: the clocks of Europe/Berlin go from 03:00 to 02:00; the first counts, 2026-10-25T02:30+02:00; for the second, write an offset: 2026-10-25T02:30+01:00",
  ]);
  expect(parseInstant("2026-10-25T02:30", BERLIN, 0, "last")?.notes).toEqual([
    "2026-10-25T02:30 comes twice: the clocks of Europe/Berlin go from 03:00 to 02:00; the second counts, 2026-10-25T02:30+01:00; for the first, write an offset: 2026-10-25T02:30+02:00",
  ]);
  expect(parseInstant("2026-03-29T02:30", BERLIN, 0)?.notes).toEqual([
    "2026-03-29T02:30 does not exist: the clocks of Europe/Berlin go from 02:00 to 03:00; it is taken for 2026-03-29T03:00+02:00; for another instant, write an offset: 2026-03-29T02:30+01:00",
  ]);
});

it("needs no note for a time with an offset, and for one that the clocks show once", () => {
  for (const text of ["2026-10-25T02:30+01:00", "2026-10-25T03:00", "2026-10-25T01:59", "now", "+2h"])
    expect(parseInstant(text, BERLIN, 0)?.notes).toEqual([]);
});

/** Zones with changes of one hour, of half an hour, at midnight, twice a year around Ramadan, and without changes. */
it.each([
  BERLIN,
  "America/New_York",
  "Australia/Lord_Howe",
  "Africa/Cairo",
  "Africa/Casablanca",
  "America/Nuuk",
  "Atlantic/Azores",
  "Antarctica/Troll",
  "Asia/Tokyo",
])("agrees with Intl about 20 years of %s", (zone) => {
  expect(findWrongTimes(zone)).toEqual([]);
});
