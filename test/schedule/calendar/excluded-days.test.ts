import { describe, expect, test } from "vitest";
import type { Calendars } from "../../../src/schedule/calendar/calendar.ts";
import type { CalendarFields } from "../../../src/schedule/calendar/day-rule.ts";
import { createTiming } from "../../../src/schedule/timing.ts";

const calendars: Calendars = new Map([
  ["weekend", { value: { days: ["sat", "sun"] } }],
  ["holidays", { value: { days: ["12-25", "12-26", "01-01"] } }],
  ["all", { value: { days: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] } }],
  ["clocks", { value: { days: ["2026-03-28", "2026-10-24"] } }],
  ["broken", { fault: "it is odd" }],
]);

interface Case extends CalendarFields {
  cron: string | readonly string[];
  zone?: string;
  from: string;
  /** The next occurrences as UTC times, without seconds. */
  next: string[];
}

/** Lists occurrences by every function of a timing, which must agree. */
function listOccurrences({ cron, zone = "UTC", from, next, ...fields }: Case) {
  const timing = createTiming("job", { cron, timezone: zone, ...fields }, calendars);
  const found: number[] = [];
  let at = timing.findFrom(Date.parse(from));
  while (at !== undefined && found.length < next.length) {
    expect(timing.isExcluded(at)).toBe(false);
    expect(timing.findUntil(at)).toBe(at);
    expect(timing.findUntil((timing.findAfter(at) ?? at + 1) - 1)).toBe(at);
    found.push(at);
    at = timing.findAfter(at);
  }
  const [first = 0, last = 0] = [found[0], found.at(-1)];
  expect(timing.count(first - 1, last, 1_000)).toBe(found.length);
  return found.map((one) => new Date(one).toISOString().slice(0, 16));
}

describe("occurrences on excluded days", () => {
  test.each<[string, Case]>([
    [
      "of several cron texts move one by one, to the same instant once",
      {
        cron: ["0 3 * * 6", "0 3 * * 1", "0 9 * * 6"],
        except: ["weekend"],
        ifExcluded: "next",
        from: "2026-11-20T00:00Z",
        next: ["2026-11-23T03:00", "2026-11-23T09:00", "2026-11-30T03:00"],
      },
    ],
    [
      "of an interval are left out, from the first to the last moment of the day in its zone",
      {
        cron: "@every 20m from 2026-11-20T22:20Z",
        zone: "Europe/Berlin",
        except: ["weekend"],
        from: "2026-11-20T22:30Z",
        next: ["2026-11-20T22:40", "2026-11-22T23:00", "2026-11-22T23:20"],
      },
    ],
    [
      "of an interval are left out with any rule",
      {
        cron: "@every 1d from 2026-11-20T12:00Z",
        except: ["weekend"],
        ifExcluded: "next",
        from: "2026-11-21T00:00Z",
        next: ["2026-11-23T12:00", "2026-11-24T12:00"],
      },
    ],
    [
      "move onto the day on which the clocks skip their time",
      {
        cron: "30 2 * * sat",
        zone: "Europe/Berlin",
        except: ["clocks"],
        ifExcluded: "next",
        from: "2026-03-27T00:00Z",
        next: ["2026-03-29T01:00", "2026-04-04T00:30"],
      },
    ],
    [
      "move onto the day on which the clocks show their time twice",
      {
        cron: "30 2 * * sat",
        zone: "Europe/Berlin",
        except: ["clocks"],
        ifExcluded: "next",
        from: "2026-10-23T00:00Z",
        next: ["2026-10-25T00:30", "2026-10-31T01:30"],
      },
    ],
    [
      "of a schedule that is due once are left out",
      { cron: "@at 2026-12-25T03:00Z", except: ["holidays"], from: "2026-12-01T00:00Z", next: [] },
    ],
    [
      "of a schedule that is due once move",
      {
        cron: "@at 2026-12-24T23:30Z",
        zone: "Europe/Berlin",
        except: ["holidays"],
        ifExcluded: "next",
        from: "2026-12-01T00:00Z",
        next: ["2026-12-26T23:30"],
      },
    ],
  ])("%s", (_, one) => {
    expect(listOccurrences(one)).toEqual(one.next);
  });

  test.each(["skip", "next", "previous"] as const)(
    "never end the search if all are excluded (%s)",
    (ifExcluded) => {
      for (const cron of ["* * * * *", "0 0 29 2 *", "@at 2026-12-25T03:00Z"]) {
        const timing = createTiming("job", { cron, timezone: "UTC", except: ["all"], ifExcluded }, calendars);
        expect(timing.findFrom(0)).toBeUndefined();
        expect(timing.findUntil(Date.UTC(2026, 0))).toBeUndefined();
        expect(timing.count(0, Date.UTC(2026, 0), 10)).toBe(0);
      }
    },
  );

  test("the end of the schedule applies after the move", () => {
    const fields = {
      cron: "0 3 25 12 *",
      timezone: "UTC",
      except: ["holidays"],
      ifExcluded: "next",
    } as const;
    const end = Date.parse("2026-12-26T12:00Z");
    expect(createTiming("job", { ...fields, end }, calendars).findFrom(Date.UTC(2026, 10))).toBeUndefined();
  });
});

test.each([
  [{ except: ["gone"] }, 'there is no calendar "gone"'],
  [{ only: ["weekend", "gone"] }, 'there is no calendar "gone"'],
  [{ except: ["broken"] }, 'calendar "broken" cannot be read: it is odd'],
])("a schedule with %j has no timing", (fields, fault) => {
  expect(() => createTiming("job", { cron: "@daily", timezone: "UTC", ...fields }, calendars)).toThrow(fault);
});

test("a schedule with empty lists needs no calendar", () => {
  const timing = createTiming("job", { cron: "@daily", timezone: "UTC", except: [], only: [] });
  expect(timing.findFrom(1)).toBe(Date.UTC(1970, 0, 2));
});
