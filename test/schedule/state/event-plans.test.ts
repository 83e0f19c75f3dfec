/** Plans that depend on an event: what operators, boots and ends do to their states. */
import { describe, expect, test } from "vitest";
import { type Calendars, parseCalendar, toDay } from "../../../src/schedule/calendar/calendar.ts";
import { type Definition, findDefinitionFault } from "../../../src/schedule/definition.ts";
import { addBoot, isNewBoot } from "../../../src/schedule/state/boot.ts";
import { type DueState, formatDue, parseDue } from "../../../src/schedule/state/due.ts";
import {
  computeFirstDue,
  computeModifiedDue,
  computeRecalculatedDue,
  computeResumedDue,
} from "../../../src/schedule/state/due-transitions.ts";
import { startOccurrence } from "../../../src/schedule/state/start-occurrence.ts";
import { createTiming } from "../../../src/schedule/timing.ts";

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
/** A Monday. */
const NOW = Date.UTC(2026, 10, 23, 12);
const define = (cron: string, more: Partial<Definition> = {}): Definition => ({
  cron,
  timezone: "UTC",
  ...more,
});
const AFTER_END = define("@after-end 5m");
const AT_BOOT = define("@reboot", { on: "every-host" });
const RUNNING = { scheduled: NOW, runAt: NOW, attempt: 1, failures: 0, kind: "due" } as const;
const LAST = { scheduled: NOW, startedAt: NOW, endedAt: NOW, late: 0, result: "ok", run: "r" } as const;

describe("after the end of the last run", () => {
  const modify = (due: DueState, before: Definition, after: Definition) =>
    computeModifiedDue("job", before, after, due, NOW + MINUTE).next;

  test("the first run is at its start, or now", () => {
    expect(computeFirstDue("job", AFTER_END, NOW).next).toBe(NOW);
    expect(computeFirstDue("job", { ...AFTER_END, delay: 7 }, NOW, { start: NOW + DAY })).toMatchObject({
      next: NOW + DAY,
      runAt: NOW + DAY + 7,
    });
  });

  test("an edit counts from the last end; during a run it leaves nothing that could be forgotten", () => {
    const waiting = { next: NOW + 5 * MINUTE, runAt: NOW + 5 * MINUTE, open: [], last: LAST };
    expect(modify(waiting, AFTER_END, define("@after-end 9m"))).toBe(NOW + 9 * MINUTE);
    expect(modify(waiting, AFTER_END, define("0 0 * * *"))).toBe(NOW + DAY / 2);
    expect(modify({ runAt: 0, open: [RUNNING] }, define("0 0 * * *"), AFTER_END)).toBe(NOW + MINUTE);
    expect(modify(waiting, AFTER_END, { ...AFTER_END, note: "x" })).toBe(NOW + 5 * MINUTE);
  });

  test("a pause does not end it, and what was due during the pause runs when it ends", () => {
    const due = { next: NOW, runAt: NOW, open: [] };
    expect(computeResumedDue("job", AFTER_END, due, NOW + DAY).next).toBe(NOW + DAY);
    const paused = { ...AFTER_END, pause: { by: "ann", at: NOW - 1, until: NOW + DAY } };
    const started = startOccurrence(paused, createTiming("job", paused), due, { runAt: NOW }, NOW + 2 * DAY);
    expect(started.occurrence?.scheduled).toBe(NOW + DAY);
    expect(started.outcomes).toMatchObject([{ result: "skipped", count: 1 }]);
  });

  test("a calendar delays it to the next day that is allowed, also if it changes later", () => {
    const parsed = parseCalendar(JSON.stringify({ days: ["2026-11-23"] }));
    const calendars: Calendars = new Map([["closed", parsed]]);
    const definition = { ...AFTER_END, except: ["closed"] };
    expect("value" in parsed).toBe(true);
    const tomorrow = (toDay(NOW) + 1) * DAY;
    expect(computeFirstDue("job", definition, NOW, {}, calendars).next).toBe(tomorrow);
    const due = { next: NOW + MINUTE, runAt: NOW + MINUTE, open: [] };
    const swap = { before: new Map([["closed", parseCalendar('{"days":[]}')]]), after: calendars };
    expect(computeRecalculatedDue("job", definition, due, NOW, swap).next).toBe(tomorrow);
    const running = { runAt: 0, open: [RUNNING] };
    expect(computeRecalculatedDue("job", definition, running, NOW, swap)).toBe(running);
    const timing = createTiming("job", definition, calendars);
    const late = startOccurrence(definition, timing, { ...due, next: NOW, runAt: NOW }, { runAt: NOW }, NOW);
    expect([late.occurrence, late.due.next]).toEqual([undefined, tomorrow]);
  });
});

describe("at boot", () => {
  const boot = (id: string, minute: number) => ({ id, at: NOW + minute * MINUTE });

  test("only on every host", () => {
    expect(findDefinitionFault({ cron: "@reboot", timezone: "UTC" })).toContain("on: every-host");
    expect(findDefinitionFault({ cron: " @Reboot", timezone: "UTC" })).toContain("on: every-host");
    expect(findDefinitionFault({ ...AT_BOOT })).toBeUndefined();
    expect(findDefinitionFault({ ...AT_BOOT, cron: ["@reboot", "@daily"] })).toContain("must stand alone");
  });

  test("a new boot is due once, an earlier one is only noted; the states are stored", () => {
    const first = computeFirstDue("job\0web1", AT_BOOT, NOW);
    expect(first).toEqual({ runAt: 0, open: [], boots: { since: NOW, ids: [] } });
    const early = addBoot(first, boot("a", -1), 3);
    expect([early.next, early.boots?.ids, isNewBoot(early, { id: "a" })]).toEqual([undefined, ["a"], false]);
    const due = addBoot({ ...early, open: [RUNNING], last: LAST }, boot("b", 1), 3);
    expect(due).toMatchObject({ next: NOW + MINUTE, runAt: NOW + MINUTE + 3, open: [], last: LAST });
    expect(parseDue(formatDue(due))).toEqual({ value: due });
    expect(isNewBoot(due, { id: "a" })).toBe(false);
    const { due: started, occurrence } = startOccurrence(
      AT_BOOT,
      createTiming("job", AT_BOOT),
      due,
      { runAt: due.runAt },
      NOW + DAY,
    );
    expect([occurrence?.scheduled, started.next]).toEqual([NOW + MINUTE, undefined]);
  });

  test("a boot that does not count leaves a run that another plan has started, and what it has left to do", () => {
    const running = { next: NOW - 1, runAt: NOW - 1, open: [RUNNING], last: LAST };
    const noted = addBoot({ ...running, boots: { since: NOW, ids: [] } }, boot("a", -1), 3);
    expect(noted).toEqual({ ...running, boots: { since: NOW, ids: ["a"] } });
  });

  test("a boot after the end of the schedule is only noted", () => {
    const due = addBoot({ runAt: 0, open: [RUNNING] }, boot("a", 1), 3, NOW);
    expect(due).toEqual({ runAt: 0, open: [], boots: { since: 0, ids: ["a"] } });
  });

  test("a calendar must exist, and a first run at another time is refused", () => {
    expect(() => computeFirstDue("job", { ...AT_BOOT, except: ["none"] }, NOW)).toThrow('no calendar "none"');
    expect(() => computeFirstDue("job", AT_BOOT, NOW, { at: NOW })).toThrow("set delay");
  });

  test("a boot that is too late for the deadline is skipped", () => {
    const definition = { ...AT_BOOT, deadline: MINUTE };
    const due = addBoot(computeFirstDue("job", AT_BOOT, NOW), boot("a", 1), 0);
    const {
      due: after,
      occurrence,
      outcomes,
    } = startOccurrence(definition, createTiming("job", definition), due, { runAt: due.runAt }, NOW + DAY);
    expect([occurrence, after.next]).toEqual([undefined, undefined]);
    expect(outcomes).toMatchObject([{ result: "skipped", count: 1, scheduled: NOW + MINUTE }]);
  });

  test("a schedule that becomes one counts boots from the change on", () => {
    const due = { next: NOW + DAY, runAt: NOW + DAY, open: [] };
    const hourly = define("0 * * * *", { on: "every-host" });
    const changed = computeModifiedDue("job", hourly, AT_BOOT, due, NOW);
    expect(changed).toMatchObject({ boots: { since: NOW, ids: [] } });
    expect(changed.next).toBeUndefined();
    const back = computeModifiedDue("job", AT_BOOT, hourly, changed, NOW);
    expect([back.boots, back.next]).toEqual([undefined, NOW]);
  });
});
