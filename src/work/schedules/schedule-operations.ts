import type { Definition } from "../../schedule/definition.ts";
import type { FirstOccurrenceOptions } from "../../schedule/state/due-transitions.ts";
import { formatOperator, type OperatorPorts } from "../operate/ports.ts";
import { applyMutation, type MutationOptions, type MutationResult } from "./schedule-mutation.ts";
import {
  buildAddMutation,
  buildDeleteMutation,
  buildModifyMutation,
  buildPauseMutation,
  buildResumeMutation,
  buildTriggerMutation,
} from "./schedule-mutations.ts";

// Applies mutations of schedules at once, for operators and programs. Instants in ms since the epoch.

/**
 * Adds a schedule.
 * @throws AlreadyExistsError, UsageError, CronError, ConfigError, SignalboxError 75, 77, StoreError
 */
export function addSchedule(
  ports: OperatorPorts,
  id: string,
  definition: Definition,
  { start, at, ...options }: FirstOccurrenceOptions & MutationOptions = {},
): Promise<MutationResult> {
  const first = { ...(start !== undefined && { start }), ...(at !== undefined && { at }) };
  return applyMutation(ports, buildAddMutation(id, definition, first), options);
}

/**
 * Changes the definition of a schedule.
 * @param change returns the new definition; called again if others change the schedule meanwhile
 * @throws NotFoundError, …
 */
export function modifySchedule(
  ports: OperatorPorts,
  id: string,
  change: (before: Definition | undefined) => Definition,
  options?: MutationOptions,
): Promise<MutationResult> {
  return applyMutation(ports, buildModifyMutation([id], change), options);
}

/**
 * Deletes a schedule.
 * @throws NotFoundError, SignalboxError 75, 77, StoreError
 */
export function deleteSchedule(
  ports: OperatorPorts,
  id: string,
  options?: MutationOptions,
): Promise<MutationResult> {
  return applyMutation(ports, buildDeleteMutation([id]), options);
}

/**
 * Pauses a schedule.
 * @throws NotFoundError, UsageError, SignalboxError 75, 77, StoreError
 */
export function pauseSchedule(
  ports: OperatorPorts,
  id: string,
  { until, ...options }: MutationOptions & { until?: number } = {},
): Promise<MutationResult> {
  const pause = { by: formatOperator(ports.operator), until, why: options.reason };
  return applyMutation(ports, buildPauseMutation([id], pause), options);
}

/**
 * Resumes a schedule.
 * @throws NotFoundError, UsageError, SignalboxError 75, 77, StoreError
 */
export function resumeSchedule(
  ports: OperatorPorts,
  id: string,
  options?: MutationOptions,
): Promise<MutationResult> {
  return applyMutation(ports, buildResumeMutation([id]), options);
}

/**
 * Triggers one more run of a schedule at once.
 * @param dead scheduled time of a dead letter to run again
 * @throws NotFoundError, UsageError, SignalboxError 75, 77, StoreError
 */
export function triggerSchedule(
  ports: OperatorPorts,
  id: string,
  { dead, ...options }: MutationOptions & { dead?: number } = {},
): Promise<MutationResult> {
  return applyMutation(ports, buildTriggerMutation([id], dead), options);
}
