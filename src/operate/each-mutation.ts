import { UsageError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";
import type { Calendars } from "../schedule/calendar/calendar.ts";
import type { Definition } from "../schedule/definition.ts";
import { NotFoundError } from "../schedule/errors.ts";
import type { PlannedChange } from "./planned-change.ts";
import type { ScheduleMutation } from "./schedule-mutation.ts";
import { createMissingSchedule, type ScheduleReadResult, type StoredSchedule } from "./stored-schedules.ts";

export type ReadableSchedule = StoredSchedule & { readonly definition: Definition };

export function requireReadable(stored: StoredSchedule): ReadableSchedule {
  const { definition, fault, id } = stored;
  if (definition === undefined)
    throw new UsageError(
      `schedule ${quoteText(id)} cannot be read: ${fault ?? "it has no definition"}; repair it with: signalbox schedule edit`,
    );
  return { ...stored, definition };
}

function requireExisting(stored: ScheduleReadResult, id: string): StoredSchedule {
  const schedule = getStoredSchedule(stored, id);
  if (schedule.definitionMod === 0n)
    throw new NotFoundError(`there is no schedule ${quoteText(id)}; see: signalbox schedule list`);
  return schedule;
}

export function getStoredSchedule({ schedules }: ScheduleReadResult, id: string): StoredSchedule {
  return schedules.get(id) ?? createMissingSchedule(id);
}

/** Builds a mutation that decides each schedule by itself. */
export function buildEachMutation(
  given: readonly string[],
  what: () => string,
  decideOne: (before: StoredSchedule, now: number, calendars: Calendars) => readonly PlannedChange[],
): ScheduleMutation {
  const ids = [...new Set(given)];
  return {
    ...describeMutation(ids, what),
    decide: (stored, now) =>
      ids.flatMap((id) => decideOne(requireExisting(stored, id), now, stored.calendars)),
  };
}

/** Maximum number of names in an audit record; further schedules are only counted. */
const MOST_NAMED = 10;

export function describeMutation(
  ids: readonly string[],
  what: () => string,
): Pick<ScheduleMutation, "target" | "ids" | "formatOutcome"> {
  const [only = ""] = ids;
  const named = ids.slice(0, MOST_NAMED).join(", ");
  const rest = ids.length > MOST_NAMED ? ` and ${ids.length - MOST_NAMED} more` : "";
  return {
    ids,
    target: ids.length === 1 ? `schedule ${only}` : `schedules ${named}${rest}`,
    formatOutcome: (changes) => (ids.length === 1 ? what() : `${what()}: ${changes.length}`),
  };
}
