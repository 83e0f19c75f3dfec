import { expect, it } from "vitest";
import { createDefinition, createDue } from "../../../../../fixtures/schedule/schedule-keys.ts";
import { formatScheduleChange } from "../../../../../src/cli/commands/schedule/describe-schedule.ts";
import type { StoredSchedule } from "../../../../../src/site/operate/stored-schedules.ts";

const HOUR = 3_600_000;

/** What is said when a trigger adds runs of these times to a schedule that has one open already. */
function describeTrigger(...times: readonly number[]) {
  const openOf = (scheduled: number, kind: "due" | "trigger") => ({
    scheduled,
    runAt: 0,
    attempt: 0,
    failures: 0,
    kind,
  });
  const before = {
    id: "a",
    definitionMod: 1n,
    definition: createDefinition(),
    due: createDue({ open: [openOf(0, "due")] }),
  };
  const due = createDue({ open: [openOf(0, "due"), ...times.map((at) => openOf(at, "trigger"))] });
  return formatScheduleChange({ before: before as unknown as StoredSchedule, due });
}

it("a trigger tells how many runs it adds, and of what times", () => {
  expect(describeTrigger(HOUR)).toBe("schedule a triggered: one run of 1970-01-01 01:00:00 UTC");
  expect(describeTrigger(HOUR, 2 * HOUR)).toBe(
    "schedule a triggered: 2 runs of 1970-01-01 01:00:00 UTC, 1970-01-01 02:00:00 UTC",
  );
  expect(describeTrigger(1, 2, 3, 4, 5, 6, 7)).toMatch(/^schedule a triggered: 7 runs of .* and 2 more$/);
});

it("a deletion of dead letters tells how many", () => {
  const before = { id: "a", definitionMod: 1n, definition: createDefinition(), due: createDue({ dead: 3 }) };
  const describeRest = (due: object) =>
    formatScheduleChange({ before: before as unknown as StoredSchedule, due: createDue(due) });
  expect(describeRest({ dead: 1 })).toBe("schedule a: 2 dead letters deleted");
  expect(describeRest({})).toBe("schedule a: 3 dead letters deleted");
});
