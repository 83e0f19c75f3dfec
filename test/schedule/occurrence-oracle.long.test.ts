/**
 * Occurrences against croner, an independent implementation of the same rule: all zones over the clock changes of three years, and
 * random cron texts. `SIGNALBOX_TEST_OCCURRENCES=20` makes twenty times as many random ones.
 */
import { Cron as Croner } from "croner";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listChanges, readClocks } from "../../fixtures/schedule/clock-oracle.ts";
import { cronText, HOUR, zones } from "../../fixtures/schedule/cron-texts.ts";
import { parseCron } from "../../src/schedule/cron/cron.ts";
import { findOccurrenceAfter, findOccurrenceUntil } from "../../src/schedule/cron/upcoming-occurrences.ts";

const MORE = Number(process.env.SIGNALBOX_TEST_OCCURRENCES ?? 1);
const FROM = Date.UTC(2025, 0);
const TO = Date.UTC(2028, 0);

/** Where our next occurrences and croner's are not the same, in words. */
function difference(text: string, zone: string, start: number, count: number): string | undefined {
  const cron = parseCron(text);
  // Croner takes a step on `*` for a restriction. Where one of the days begins with *, cron wants both to hold.
  const [, , day = "", , weekday = ""] = text.split(" ");
  const oracle = new Croner(text, {
    timezone: zone,
    domAndDow: day.startsWith("*") || weekday.startsWith("*"),
  });
  let last = start;
  for (let step = 0; step < count; step += 1) {
    const ours = findOccurrenceAfter(cron, zone, last);
    const theirs = oracle.nextRun(new Date(last))?.getTime();
    const where = `${text} in ${zone} after ${new Date(last).toISOString()}`;
    // Croner never fires on the next day, and drops a time in a gap that ends at midnight.
    if (ours !== theirs && !(cron.isFixed && ours !== undefined && isMidnightAfterGap(zone, ours)))
      return `${where}: ${shown(ours)}, croner has ${shown(theirs)}`;
    if (ours === undefined) return undefined;
    if (ours <= last || ours % 60_000 !== 0)
      return `${where}: ${shown(ours)} is not later, or no whole minute`;
    if (findOccurrenceUntil(cron, zone, ours) !== ours) return `${where}: not found from behind`;
    last = ours;
  }
  return undefined;
}

const shown = (at: number | undefined) => (at === undefined ? "never" : new Date(at).toISOString());

/** Whether the clocks show midnight at an instant, and skipped the end of the day before. */
function isMidnightAfterGap(zone: string, at: number): boolean {
  const wall = readClocks(zone);
  const [before, shown] = [wall(at - 60_000) + 60_000, wall(at)];
  return before < shown && shown % (24 * HOUR) === 0 && before % (24 * HOUR) !== 0;
}

/** Texts that concern an hour around a change: one time, several, steps, on its weekday only. */
function textsAround(zone: string, { at, by }: { at: number; by: number }): string[] {
  const start = new Date(readClocks(zone)(at) - Math.max(by, 0));
  const [hour, minute, day] = [start.getUTCHours(), start.getUTCMinutes(), start.getUTCDay()];
  const next = (hour + 1) % 24;
  return [
    `${minute} ${hour} * * *`,
    `${(minute + 20) % 60} ${hour} * * *`,
    `${minute} ${next} * * *`,
    "*/20 * * * *",
    "7 * * * *",
    `10,40 ${hour} * * *`,
    `5 ${hour}-${hour} * * ${day}`,
  ];
}

describe("every zone", () => {
  const all = [...Intl.supportedValuesOf("timeZone"), "UTC"];

  test("around every clock change of three years", () => {
    let changes = 0;
    for (const zone of all) {
      for (const change of listChanges(zone, FROM, TO)) {
        changes += 1;
        for (const text of textsAround(zone, change)) {
          for (const start of [change.at - 2 * HOUR + 1, change.at - 1, change.at])
            expect(difference(text, zone, start, 3)).toBeUndefined();
        }
      }
    }
    // Or nothing was tested: over a hundred zones change their clocks twice a year.
    expect(changes).toBeGreaterThan(600);
  });

  test("an ordinary day", () => {
    for (const zone of all)
      expect(difference("30 */8 * * 1-5", zone, Date.UTC(2026, 5, 1), 3)).toBeUndefined();
  });
});

describe("random cron texts", () => {
  test(
    "in zones whose clocks do something special",
    () => {
      const start = fc.integer({ min: Date.UTC(2005, 0), max: Date.UTC(2032, 0) });
      fc.assert(
        fc.property(cronText, fc.constantFrom(...zones), start, (text, zone, from) => {
          expect(difference(text, zone, from, 4)).toBeUndefined();
        }),
        { numRuns: 3000 * MORE },
      );
    },
    300_000 * MORE,
  );
});
