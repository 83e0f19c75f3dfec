/** Blackouts by time of day: minute by minute against what Intl's clocks show, around clock changes, and the rules at their edges. */
import { describe, expect, test } from "vitest";
import { listChanges, readClocks } from "../../../fixtures/schedule/clock-oracle.ts";
import { isBlackoutText, parseBlackout } from "../../../src/schedule/calendar/blackout.ts";
import { NO_CALENDARS } from "../../../src/schedule/calendar/calendar.ts";
import { listUpcoming } from "../../../src/schedule/calendar/upcoming-days.ts";
import { checkDefinition, type Definition } from "../../../src/schedule/definition.ts";
import { createPlanTimes, parsePlan } from "../../../src/schedule/plan.ts";
import type { DueState, OpenOccurrence } from "../../../src/schedule/state/due.ts";
import { computeFirstDue } from "../../../src/schedule/state/due-transitions.ts";
import { findNextCandidate } from "../../../src/schedule/state/next-candidate.ts";
import { startOccurrence } from "../../../src/schedule/state/start-occurrence.ts";
import { createTiming } from "../../../src/schedule/timing.ts";
import { checkFires } from "../../../src/site/operate/schedule-mutations.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const at = (text: string) => Date.parse(`${text}Z`);
const define = (fields: Partial<Definition>): Definition => ({
  cron: "*/30 * * * *",
  timezone: "UTC",
  ...fields,
});

/** Zones whose clocks change by an hour, by half an hour, at midnight, in the south, by a day, and never. */
const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Africa/Cairo",
  "America/Santiago",
  "Africa/Casablanca",
  "Pacific/Apia",
  "Asia/Kathmandu",
];
const BLACKOUTS = [
  ["22:00-06:00"],
  ["02:00-03:00"],
  ["01:30-02:30"],
  ["02:30-02:31"],
  ["00:00-01:00", "23:15-24:00"],
  ["08:00-17:00", "01:00-02:15"],
];
const CRONS = ["*/5 * * * *", "30 2 * * *", "@every 7m", "0,45 */2 * * *"];

/** Whether the clocks show a time of a blackout. */
function isInside(minute: number, blackouts: readonly string[]) {
  return blackouts.some((text) => {
    const [from = 0, until = 0] = text.split("-").map((time) => {
      const [hour, rest] = time.split(":").map(Number);
      return (hour ?? 0) * 60 + (rest ?? 0);
    });
    return from < until ? minute >= from && minute < until : minute >= from || minute < until;
  });
}

/** Two days around each clock change of a zone, or around one day without. */
function listSpans(zone: string) {
  const begin = zone === "Pacific/Apia" ? at("2011-12-01T00:00") : at("2026-01-01T00:00");
  const changes = listChanges(zone, begin, begin + 370 * DAY);
  const middles = changes.length === 0 ? [begin + DAY] : changes.slice(0, 4).map((one) => one.at);
  return middles.map((middle) => ({ from: middle - 1.2 * DAY, until: middle + 1.2 * DAY }));
}

describe.each(ZONES)("in %s, around the changes of its clocks", (zone) => {
  const wall = readClocks(zone);

  test.each(CRONS)("%s is due at no minute of a blackout, and at all others", (cron) => {
    const base = createPlanTimes(parsePlan(cron), zone);
    for (const { from, until } of listSpans(zone)) {
      const planned: number[] = [];
      for (let next = base.findFrom(from); next !== undefined && next < until; next = base.findAfter(next))
        planned.push(next);
      for (const except of BLACKOUTS) {
        const expected = planned.filter((one) => !isInside((wall(one) % DAY) / MINUTE, except));
        const timing = createTiming("x", { cron, timezone: zone, except });
        const forward: number[] = [];
        for (
          let next = timing.findFrom(from);
          next !== undefined && next < until;
          next = timing.findAfter(next)
        )
          forward.push(next);
        expect(forward, `${except} from ${new Date(from).toISOString()}`).toEqual(expected);
        const backward: number[] = [];
        for (
          let next = timing.findUntil(until - 1);
          next !== undefined && next >= from;
          next = timing.findUntil(next - 1)
        )
          backward.unshift(next);
        expect(backward).toEqual(expected);
        expect(timing.count(from - 1, until - 1, 10_000)).toBe(expected.length);
        const upcoming = listUpcoming({ cron, timezone: zone, except }, NO_CALENDARS, {
          after: from - 1,
          count: 10,
        });
        expect(upcoming.map((one) => one.at).filter((one) => one < until)).toEqual(expected.slice(0, 10));
        for (let minute = Math.ceil(from / MINUTE) * MINUTE; minute < until; minute += MINUTE * 47)
          expect(timing.isExcluded(minute)).toBe(isInside((wall(minute) % DAY) / MINUTE, except));
      }
    }
  });
});

describe("how it is written", () => {
  test.each(["22:00-06:00", "0:00-24:00", "9:30-9:31"])("%s is meant as times of the day", (text) => {
    expect(isBlackoutText(text)).toBe(true);
  });

  test.each(["holidays", "22-06", "22:00", "a22:00-06:00"])("%s is the name of a calendar", (text) => {
    expect(isBlackoutText(text)).toBe(false);
  });

  test.each([
    ["25:00-06:00", "25:00-06:00"],
    ["22:60-06:00", "22:60-06:00"],
    ["22:00-24:01", "22:00-24:01"],
    ["06:00-06:00", "is the whole day, or nothing"],
    ["00:00-24:00", "is the whole day, or nothing"],
  ])("%s is refused", (text, why) => {
    expect(parseBlackout(text)).toEqual({ fault: expect.stringContaining(why) });
    expect(() => checkDefinition(define({ except: ["holidays", text] }))).toThrow(why);
  });

  test("only has none", () => {
    expect(() => checkDefinition(define({ only: ["09:00-17:00"] }))).toThrow(
      'only has names of calendars; got "09:00-17:00": name the other times of the day in except',
    );
  });

  test.each([
    [{ cron: "0 2 * * *", except: ["22:00-06:00"] }, "its blackouts leave no time: 22:00-06:00"],
    [{ cron: "* * * * *", except: ["00:00-12:00", "12:00-24:00"] }, "its blackouts leave no time"],
    [{ cron: "@at 2030-01-01T23:00Z", except: ["22:00-06:00"] }, "its blackouts leave no time"],
  ])("%j would never fire", (fields, why) => {
    const definition = define(fields);
    const now = at("2026-11-30T12:00");
    expect(() => checkFires("x", definition, computeFirstDue("x", definition, now), now)).toThrow(why);
  });
});

test("a preview says how often it left out what was due", () => {
  const fields = { cron: "*/30 * * * *", timezone: "UTC", except: ["22:00-06:00"] };
  const listed = listUpcoming(fields, NO_CALENDARS, { after: at("2026-11-30T21:00"), count: 3 });
  expect(
    listed.map(({ at: time, mark, note }) => [new Date(time).toISOString().slice(11, 16), mark, note]),
  ).toEqual([
    ["21:30", undefined, undefined],
    ["06:00", "blackout", "skipped 16 times (22:00-06:00)"],
    ["06:30", undefined, undefined],
  ]);
});

describe("in a blackout", () => {
  const definition = define({ except: ["22:00-06:00", "06:00-07:00"] });
  const now = at("2026-11-30T23:10");
  const end = at("2026-12-01T07:00");
  const open = (kind: OpenOccurrence["kind"], attempt = 1): OpenOccurrence => ({
    scheduled: at("2026-11-30T21:30"),
    runAt: at("2026-11-30T23:00"),
    attempt,
    failures: attempt,
    kind,
  });
  const find = (due: Partial<DueState>) =>
    findNextCandidate(definition, { runAt: 0, open: [], ...due }, new Set(), now);

  test("what is late, or delayed into it, waits until its end", () => {
    const next = at("2026-11-30T21:30");
    expect(find({ next, runAt: next })).toMatchObject({ runAt: end });
    expect(find({ next, runAt: at("2026-12-01T01:00") })).toMatchObject({ runAt: end });
  });

  test("retries wait, and runs after other schedules", () => {
    expect(find({ open: [open("due")] })).toMatchObject({ runAt: end });
    expect(find({ open: [open("after", 0)] })).toMatchObject({ runAt: end });
  });

  test("what an operator triggers starts, also before what waits", () => {
    const next = at("2026-11-30T21:30");
    expect(find({ next, runAt: next, open: [open("trigger", 0)] })).toMatchObject({
      runAt: at("2026-11-30T23:00"),
      open: { kind: "trigger" },
    });
  });

  test("a run after another schedule whose time is in it is skipped, with the reason", () => {
    const chained = { ...open("after", 0), scheduled: at("2026-11-30T22:30") };
    const timing = createTiming("x", definition);
    const due: DueState = { runAt: 0, open: [chained] };
    const { outcomes, occurrence } = startOccurrence(
      definition,
      timing,
      due,
      { runAt: end, open: chained },
      end,
    );
    expect(occurrence).toBeUndefined();
    expect(outcomes).toMatchObject([
      { result: "skipped", reason: "its scheduled time is in the blackout 22:00-06:00" },
    ]);
  });

  test("after an outage, the latest one that is allowed runs, and what was in it does not count as skipped", () => {
    const timing = createTiming("x", definition);
    const next = at("2026-11-30T21:00");
    const { occurrence, outcomes } = startOccurrence(
      definition,
      timing,
      { next, runAt: next, open: [] },
      { runAt: next },
      end,
    );
    expect(occurrence).toMatchObject({ scheduled: end });
    expect(outcomes).toMatchObject([{ result: "skipped", count: 2, until: at("2026-11-30T21:30") }]);
  });
});
