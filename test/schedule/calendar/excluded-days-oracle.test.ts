/** Occurrences with calendars against a naive oracle that walks over the days, in several zones. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Calendars } from "../../../src/schedule/calendar/calendar.ts";
import { EXCLUSION_RULES, type ExclusionRule } from "../../../src/schedule/calendar/day-rule.ts";
import { createTiming, type Timing } from "../../../src/schedule/timing.ts";

const DAY = 86_400_000;
/** Zones with clock changes in both hemispheres, of half an hour, at midnight, and none. */
const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "America/Santiago",
  "Asia/Kathmandu",
  "Africa/Cairo",
];
/** Days before and after the examined ones, from which occurrences may move. No calendar below excludes as many. */
const MARGIN = 120;
const SPAN = 60;

const formatDate = (at: number) => new Date(at).toISOString().slice(0, 10);

const entry = fc.oneof(
  fc.constantFrom("sat", "sun", "mon", "wed"),
  fc.integer({ min: 0, max: 365 }).map((day) => formatDate(Date.UTC(2028, 0, 1 + day)).slice(5)),
  fc.integer({ min: 0, max: 1_400 }).map((day) => formatDate(Date.UTC(2026, 0, 1 + day))),
  fc
    .tuple(fc.integer({ min: 0, max: 1_400 }), fc.integer({ min: 0, max: 20 }))
    .map(([day, length]) =>
      [day, day + length].map((one) => formatDate(Date.UTC(2026, 0, 1 + one))).join(".."),
    ),
);
const days = fc.array(entry, { minLength: 1, maxLength: 12 });
const names = (...all: string[]) => fc.subarray(all);

const situation = fc.record({
  cron: fc.constantFrom(
    "30 2 * * *",
    "0 0 * * *",
    "0 3 * * 1-5",
    "15,45 1 1,15 * *",
    "0 12 L * *",
    "30 */6 * * *",
    "59 23 31 12 *",
  ),
  zone: fc.constantFrom(...ZONES),
  rule: fc.constantFrom<ExclusionRule>(...EXCLUSION_RULES),
  except: names("a", "b"),
  only: names("c", "d"),
  calendars: fc.record({ a: days, b: days, c: days, d: days }),
  start: fc.integer({ min: 0, max: 1_200 }).map((day) => Date.UTC(2026, 0, 1 + day)),
});

/** Returns whether a date is an entry of a calendar, from its text. */
function hasDate(entries: readonly string[], date: string) {
  const weekday = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"][new Date(date).getUTCDay()];
  return entries.some((one) => {
    if (one === weekday || one === date || one === date.slice(5)) return true;
    const [from = "", until] = one.split("..");
    return until !== undefined && from <= date && date <= until;
  });
}

/** Lists all occurrences of a timing between two instants. */
function listBetween(timing: Timing, from: number, before: number) {
  const found: number[] = [];
  for (let at = timing.findFrom(from); at !== undefined && at < before; at = timing.findAfter(at))
    found.push(at);
  return found;
}

/** Lists the dates of the wall clock on which a plan without calendars has occurrences. */
function listPlannedDates(timing: Timing, zone: string, from: number, before: number) {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" });
  return [...new Set(listBetween(timing, from, before).map((at) => format.format(at)))];
}

test("occurrences with calendars are those of a walk over the days", () => {
  fc.assert(
    fc.property(situation, ({ cron, zone, rule, except, only, calendars, start }) => {
      const all = new Map(Object.entries(calendars).map(([name, list]) => [name, { value: { days: list } }]));
      const fields = { cron, timezone: zone };
      const isExcluded = (date: string) =>
        except.some((name) => hasDate(calendars[name as "a"], date)) ||
        (only.length > 0 && !only.some((name) => hasDate(calendars[name as "c"], date)));
      const findActual = (date: string) => {
        const step = rule === "next" ? DAY : -DAY;
        let at = Date.parse(date);
        for (let left = MARGIN; left > 0 && isExcluded(formatDate(at)); left -= 1) {
          if (rule === "skip") return undefined;
          at += step;
        }
        return isExcluded(formatDate(at)) ? undefined : formatDate(at);
      };
      const plain = createTiming("job", fields);
      const planned = listPlannedDates(plain, zone, start - MARGIN * DAY, start + (SPAN + MARGIN) * DAY);
      const wanted = new Set(planned.map(findActual).filter((date) => date !== undefined));
      const timing = createTiming("job", { ...fields, except, only, ifExcluded: rule }, all as Calendars);
      const found = listPlannedDates(timing, zone, start, start + SPAN * DAY);
      const inside = (date: string) =>
        Date.parse(date) > start + 2 * DAY && Date.parse(date) < start + (SPAN - 2) * DAY;
      // A move farther than the margin is beyond the oracle.
      fc.pre(!isFarther(isExcluded, start));
      expect(found.filter(inside)).toEqual([...wanted].filter(inside).sort());
      const own = listBetween(timing, start, start + SPAN * DAY);
      expect(timing.count(start - 1, start + SPAN * DAY - 1, 10_000)).toBe(own.length);
      for (const at of own) expect(timing.findUntil(at)).toBe(at);
    }),
    { numRuns: 150 },
  );
});

/** Returns whether more days in a row are excluded than the oracle examines. */
function isFarther(isExcluded: (date: string) => boolean, start: number) {
  let run = 0;
  for (let day = -2 * MARGIN; day < SPAN + 2 * MARGIN; day += 1) {
    run = isExcluded(formatDate(start + day * DAY)) ? run + 1 : 0;
    if (run >= MARGIN) return true;
  }
  return false;
}

test("days that no calendar excludes have the occurrences of the plan, at the same instants", () => {
  fc.assert(
    fc.property(situation, ({ cron, zone, except, calendars, start }) => {
      const all: Calendars = new Map(
        Object.entries(calendars).map(([name, list]) => [name, { value: { days: list } }]),
      );
      const fields = { cron, timezone: zone };
      const timing = createTiming("job", { ...fields, except }, all);
      const plain = listBetween(createTiming("job", fields), start, start + SPAN * DAY);
      expect(listBetween(timing, start, start + SPAN * DAY)).toEqual(
        plain.filter((at) => !timing.isExcluded(at)),
      );
    }),
    { numRuns: 150 },
  );
});
