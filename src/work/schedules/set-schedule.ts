import { validateName } from "../../protocol/names.ts";
import { checkDefinition, type Definition } from "../../schedule/definition.ts";
import { computeFirstDue, type FirstOccurrenceOptions } from "../../schedule/state/due-transitions.ts";
import { checkFires } from "./check-fires.ts";
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
      if (before.definitionMod === 0n) {
        const due = computeFirstDue(id, definition, now, first, stored.calendars);
        return [{ before, definition, due: checkFires(id, definition, due, now) }];
      }
      const after = keepOperatorFields(before, definition);
      const changes = buildDefinitionChange(before, after, now, {}, stored.calendars);
      for (const { due } of changes)
        if (due !== undefined && before.definition?.cron !== definition.cron)
          checkFires(id, definition, due, now);
      return changes;
    },
  };
}

function keepOperatorFields(before: StoredSchedule, definition: Definition): Definition {
  const { pause, source } = before.definition ?? {};
  return { ...definition, ...(pause !== undefined && { pause }), ...(source !== undefined && { source }) };
}
