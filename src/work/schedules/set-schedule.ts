import { validateName } from "../../protocol/names.ts";
import { checkDefinition, type Definition } from "../../schedule/definition.ts";
import { computeFirstDue, type FirstOccurrenceOptions } from "../../schedule/state/due-transitions.ts";
import { buildDefinitionChange } from "./definition-change.ts";
import { describeMutation, getStoredSchedule } from "./each-mutation.ts";
import type { PlannedChange } from "./planned-change.ts";
import type { ScheduleMutation } from "./schedule-mutation.ts";
import type { StoredSchedule } from "./stored-schedules.ts";

/**
 * Builds a mutation that adds a schedule, or replaces its definition if it exists. An existing schedule keeps its state, its
 * pause and its source.
 * @param first  used only if the schedule is added
 * @throws UsageError for an invalid name; CronError, ConfigError for an invalid definition
 */
export function buildSetMutation(
  id: string,
  definition: Definition,
  first: FirstOccurrenceOptions = {},
): ScheduleMutation {
  validateName("schedule", id);
  checkDefinition(definition);
  return {
    ...describeMutation([id], () => "set"),
    decide: (stored, now): PlannedChange[] => {
      const before = getStoredSchedule(stored, id);
      return before.definitionMod === 0n
        ? [{ before, definition, due: computeFirstDue(id, definition, now, first, stored.calendars) }]
        : buildDefinitionChange(before, keepOperatorFields(before, definition), now, {}, stored.calendars);
    },
  };
}

function keepOperatorFields(before: StoredSchedule, definition: Definition): Definition {
  const { pause, source } = before.definition ?? {};
  return { ...definition, ...(pause !== undefined && { pause }), ...(source !== undefined && { source }) };
}
