import type { Definition } from "../schedule/definition.ts";
import { computeFirstDue, type FirstOccurrenceOptions } from "../schedule/state/due-transitions.ts";
import { getStoredSchedule } from "./each-mutation.ts";
import type { ScheduleMutation } from "./schedule-mutation.ts";
import { buildAddMutation } from "./schedule-mutations.ts";
import type { StoredSchedule } from "./stored-schedules.ts";

/**
 * Adds a job: a schedule that is due once. Its `decide` throws an AlreadyExistsError if there is one with this id.
 * @param options.replaces  a job that was given up is replaced, with its dead letter
 * @param options.handleDead  called if there is a job that was given up, and it is not replaced
 */
export function buildJobMutation(
  id: string,
  definition: Definition,
  first: FirstOccurrenceOptions,
  options: { replaces: boolean; handleDead: () => void },
): ScheduleMutation {
  const add = buildAddMutation(id, definition, first);
  return {
    ...add,
    decide: (stored, now) => {
      const before = getStoredSchedule(stored, id);
      if (!isGivenUp(before)) return add.decide(stored, now);
      if (!options.replaces) {
        options.handleDead();
        return add.decide(stored, now);
      }
      const due = computeFirstDue(id, definition, now, first, stored.calendars);
      return [{ before, definition, due, outcomes: { ...before.outcomes, dead: [] } }];
    },
  };
}

/** Whether nothing of a job is left to run. It is removed when it succeeds, so it has failed for good. */
function isGivenUp({ definition, due }: StoredSchedule): boolean {
  return (
    definition?.removeAfter !== undefined &&
    due !== undefined &&
    due.next === undefined &&
    due.open.length === 0
  );
}
