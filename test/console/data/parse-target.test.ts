/** Where the console travels to, as tables. */
import { describe, expect, it } from "vitest";
import { parsePastTarget } from "../../../src/cli/frame/command-line/past-target.ts";
import { describePastMoment, formatPastTime } from "../../../src/console/data/time-travel.ts";
import { searchPalette } from "../../../src/console/overlays/palette-search.ts";

const NOW = Date.parse("2026-11-23T10:30:00Z");
const HOUR = 3_600_000;

describe("what is typed", () => {
  it.each([
    ["03:00", "2026-11-23T03:00:00Z"],
    ["3:00", "2026-11-23T03:00:00Z"],
    ["03:00:07", "2026-11-23T03:00:07Z"],
    ["22:10", "2026-11-22T22:10:00Z"], // not yet today
    ["yesterday 22:10", "2026-11-22T22:10:00Z"],
    ["yesterday", "2026-11-22T00:00:00Z"],
    ["Today 01:00", "2026-11-23T01:00:00Z"],
    ["-2h", "2026-11-23T08:30:00Z"],
    ["2h30m", "2026-11-23T08:00:00Z"],
    [" 2026-11-22T03:00Z ", "2026-11-22T03:00:00Z"],
    ["2026-11-22 03:00", "2026-11-22T03:00:00Z"],
    ["now", "2026-11-23T10:30:00Z"],
  ])("%s is %s", (text, instant) => {
    expect(parsePastTarget(text, NOW)).toEqual({ at: Date.parse(instant) });
  });

  it.each([
    ["rev 1234", 1234n],
    ["revision 7", 7n],
    ["#88140", 88140n],
    ["rev 999999999999999999", 999999999999999999n],
  ])("%s is a revision", (text, revision) => {
    expect(parsePastTarget(text, NOW)).toEqual({ revision });
  });

  it.each([
    ["", "write a time"],
    ["24:00", "write a time"],
    ["03:60", "write a time"],
    ["rev 0", "begin at 1"],
    ["rev -3", "write a time"],
    ["rev 9999999999999999999", "write a time"],
    ["today 11:00", "in the future"],
    ["2026-11-24T03:00Z", "in the future"],
    ["2026-02-31T03:00Z", "write a time"],
    ["\u001b[31m", "write a time"],
    ["tomorrow", "write a time"],
  ])("%j is refused: %s", (text, fault) => {
    expect(parsePastTarget(text, NOW)).toMatchObject({ fault: expect.stringContaining(fault) });
  });
});

describe("how exactly the time is known", () => {
  it.each([
    [NOW - HOUR, NOW - HOUR + 6_000, "between 09:30:00Z and 09:30:06Z"],
    [NOW - HOUR, NOW - HOUR + 60, "at 09:30:00Z"],
    [NOW - 24 * HOUR, NOW - HOUR, "between 2026-11-22 10:30:00Z and 09:30:00Z"],
    [undefined, NOW - HOUR, "before 09:30:00Z"],
    [NOW - HOUR, undefined, "not before 09:30:00Z"],
    [undefined, undefined, "of an unknown time"],
  ])("%j to %j", (from, until, text) => {
    const moment = { revision: 5n, at: NOW, from, until };
    expect(describePastMoment(moment, NOW)).toBe(`state at revision 5, ${text}`);
  });

  it("says the day only if it is another one", () => {
    expect(formatPastTime(NOW - HOUR, NOW)).toBe("09:30:00Z");
    expect(formatPastTime(NOW - 24 * HOUR, NOW)).toBe("2026-11-22 10:30:00Z");
  });
});

describe("the palette", () => {
  it.each([
    ["at 03:00", "03:00"],
    [" AT  yesterday 22:10 ", "yesterday 22:10"],
  ])("offers %j first", (text, time) => {
    const { entries } = searchPalette([], text);
    expect(entries.map(({ choice }) => choice)).toEqual([{ kind: "travel", time }]);
  });
  it.each(["at", "at ", "attic", "cat 3"])("offers nothing for %j", (text) => {
    expect(searchPalette([], text).entries).toEqual([]);
  });
});
