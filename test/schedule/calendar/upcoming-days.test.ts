import { describe, expect, test } from "vitest";
import type { Calendars } from "../../../src/schedule/calendar/calendar.ts";
import {
  listExcludedDays,
  listUpcoming,
  type PlannedFields,
} from "../../../src/schedule/calendar/upcoming-days.ts";

const calendars: Calendars = new Map([
  ["weekend", { value: { days: ["sat", "sun"] } }],
  ["holidays", { value: { days: ["12-25", "12-26"] } }],
]);
const FROM = Date.parse("2026-12-24T00:00Z");

function listNotes(fields: Partial<PlannedFields>, count: number, since?: number) {
  const all = { cron: "0 3 * * *", timezone: "UTC", ...fields };
  return listUpcoming(all, calendars, { after: FROM, count, since }).map(({ at, mark, note }) => [
    new Date(at).toISOString().slice(5, 10),
    mark,
    note,
  ]);
}

describe("a preview", () => {
  test("marks the days that are left out, with the calendar", () => {
    expect(listNotes({ except: ["holidays", "weekend"] }, 2)).toEqual([
      ["12-24", undefined, undefined],
      ["12-28", "calendar", "skipped 2026-12-25 (holidays), 2026-12-26 (holidays), 2026-12-27 (weekend)"],
    ]);
  });

  test("marks the days from which occurrences move", () => {
    const fields = { except: ["holidays", "weekend"], ifExcluded: "next" } as const;
    expect(listNotes({ ...fields, cron: "0 3 25 12 *" }, 1)).toEqual([
      ["12-28", "calendar", "instead of 2026-12-25 (holidays)"],
    ]);
    expect(listNotes({ ...fields, cron: "0 3 25,28 12 *" }, 1)).toEqual([
      ["12-28", "calendar", "also for 2026-12-25 (holidays)"],
    ]);
    expect(listNotes({ ...fields, cron: "@at 2026-12-25T03:00Z" }, 1)).toEqual([
      ["12-28", "calendar", "instead of 2026-12-25 (holidays)"],
    ]);
  });

  test("marks only the first occurrence of a day", () => {
    const notes = listNotes({ cron: "0 6,18 * * *", except: ["holidays"] }, 4).map(([, , note]) => note);
    expect(notes).toEqual([
      undefined,
      undefined,
      "skipped 2026-12-25 (holidays), 2026-12-26 (holidays)",
      undefined,
    ]);
  });

  test("names what is not in a calendar of `only`, and counts many days", () => {
    const [first] = listNotes({ only: ["holidays"] }, 1, Date.parse("2026-12-19T00:00Z"));
    expect(first?.[2]).toBe(
      "skipped 2026-12-19 (not in holidays), 2026-12-20 (not in holidays), 2026-12-21 (not in holidays), 2026-12-22 (not in holidays), 2026-12-23 (not in holidays) and 1 more",
    );
  });

  test("keeps the mark of a clock change", () => {
    const fields = { cron: "30 2 * * *", timezone: "Europe/Berlin", except: ["weekend"], ifExcluded: "next" };
    const after = Date.parse("2026-10-24T12:00Z");
    const late: Calendars = new Map([["weekend", { value: { days: ["2026-10-24"] } }]]);
    const [first] = listUpcoming(fields as PlannedFields, late, { after, count: 1 });
    expect([first?.mark, first?.note]).toEqual([
      "overlap",
      expect.stringMatching(/comes twice.*; also for 2026-10-24 \(weekend\)$/),
    ]);
  });
});

test("the next excluded days of a schedule are only those on which it would be due", () => {
  const fields = { cron: "0 3 * * fri,sat", timezone: "UTC", except: ["holidays", "weekend"] };
  expect(listExcludedDays(fields, calendars, FROM, 10)).toEqual([
    "2026-12-25 (holidays)",
    "2026-12-26 (holidays)",
    "2027-01-02 (weekend)",
  ]);
  expect(listExcludedDays({ ...fields, cron: "@manual" }, calendars, FROM, 10)).toEqual([]);
});
