/** Names and clocks of time zones. */
import { describe, expect, test } from "vitest";
import { UsageError } from "../../../src/core/base/errors.ts";
import { checkZone, findOffsetPeriod, getZoneOffset } from "../../../src/schedule/cron/offsets.ts";

const HOUR = 3_600_000;

describe("names", () => {
  test.each([
    ["utc", "UTC"],
    ["europe/BERLIN", "Europe/Berlin"],
    ["US/Pacific", "US/Pacific"],
    ["Etc/GMT-2", "Etc/GMT-2"],
    ["CET", "CET"],
  ])("%s is %s", (name, known) => {
    expect(checkZone(name)).toBe(known);
  });

  test.each([
    ["", "a name such as Europe/Berlin"],
    ["Berlin", "did you mean Europe/Berlin?"],
    ["Europe/Berln", "did you mean Europe/Berlin?"],
    ["CEST", "did you mean Europe/Berlin?"],
    ["ist", "did you mean Asia/Kolkata?"],
    ["ECT", "unknown time zone"],
    ["Z", "did you mean UTC?"],
    ["GMT+2", "did you mean Etc/GMT-2?"],
    ["UTC-05", "did you mean Etc/GMT+5?"],
    ["local", "a name such as"],
    ["Europe/Berlin\u001b[2J", '"Europe/Berlin\\u001b[2J"'],
    ["x".repeat(5000), "xxx..."],
  ])("%s: %s", (name, says) => {
    expect(() => checkZone(name)).toThrow(UsageError);
    expect(() => checkZone(name)).toThrow(says);
  });

  test("what is meant is known", () => {
    for (const zone of ["CEST", "BST", "MSK", "AEDT", "PDT", "GMT+12"]) {
      const meant = /did you mean (.*)\?/.exec(messageOf(zone))?.[1] ?? "";
      expect(checkZone(meant)).toBe(meant);
    }
  });
});

describe("offsets", () => {
  test.each([
    ["Europe/Berlin", "2026-03-29T00:59:59.999Z", 1],
    ["Europe/Berlin", "2026-03-29T01:00Z", 2],
    ["Europe/Dublin", "2026-07-01T00:00Z", 1],
    ["Australia/Lord_Howe", "2026-07-01T00:00Z", 10.5],
    ["America/St_Johns", "2026-01-01T00:00Z", -3.5],
    ["Pacific/Apia", "2011-12-30T09:59:59Z", -10],
    ["Pacific/Apia", "2011-12-30T10:00Z", 14],
    ["Africa/Monrovia", "1971-01-01T00:00Z", -44.5 / 60],
    ["UTC", "2200-01-01T00:00Z", 0],
  ])("%s at %s: %d h", (zone, at, hours) => {
    expect(getZoneOffset(zone, Date.parse(at))).toBe(hours * HOUR);
  });

  test("periods follow one another without a hole, and say what was before", () => {
    for (const zone of ["Africa/Casablanca", "Antarctica/Troll", "Asia/Gaza", "Europe/Dublin"]) {
      let period = findOffsetPeriod(zone, Date.UTC(2010, 0));
      while (period !== undefined && period.start < Date.UTC(2030, 0)) {
        const next = findOffsetPeriod(zone, period.end);
        expect(next?.start).toBe(period.end);
        expect(next?.before).toBe(period.offset);
        period = next;
      }
    }
  });

  test("what no Date can hold has no period", () => {
    for (const at of [Number.NaN, Number.POSITIVE_INFINITY, -8.64e15, 9e15])
      expect(findOffsetPeriod("UTC", at)).toBeUndefined();
  });
});

function messageOf(zone: string) {
  try {
    return checkZone(zone);
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}
