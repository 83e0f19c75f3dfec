import type { Definition } from "../../schedule/definition.ts";
import type { First } from "../../schedule/plan.ts";
import { type OperatorPorts, signature } from "../operate/ports.ts";
import { type Amended, amend, type Manner } from "./amend.ts";
import { adding, deleting, modifying, pausing, resuming, triggering } from "./deeds.ts";

// What operators and programs do to schedules, done at once. Instants in ms since the epoch.

/** @throws AlreadyExistsError, UsageError, CronError, ConfigError, SignalboxError 75, 77, StoreError */
export function addSchedule(
  ports: OperatorPorts,
  id: string,
  definition: Definition,
  { start, at, ...manner }: First & Manner = {},
): Promise<Amended> {
  const first = { ...(start !== undefined && { start }), ...(at !== undefined && { at }) };
  return amend(ports, adding(id, definition, first), manner);
}

/** @param change  what becomes of its definition; called again where others change it meanwhile. @throws NotFoundError, … */
export function modifySchedule(
  ports: OperatorPorts,
  id: string,
  change: (before: Definition | undefined) => Definition,
  manner?: Manner,
): Promise<Amended> {
  return amend(ports, modifying([id], change), manner);
}

/** @throws NotFoundError, SignalboxError 75, 77, StoreError */
export function deleteSchedule(ports: OperatorPorts, id: string, manner?: Manner): Promise<Amended> {
  return amend(ports, deleting([id]), manner);
}

/** @throws NotFoundError, UsageError, SignalboxError 75, 77, StoreError */
export function pauseSchedule(
  ports: OperatorPorts,
  id: string,
  { until, ...manner }: Manner & { until?: number } = {},
): Promise<Amended> {
  const pause = { by: signature(ports.operator), until, why: manner.reason };
  return amend(ports, pausing([id], pause), manner);
}

/** @throws NotFoundError, UsageError, SignalboxError 75, 77, StoreError */
export function resumeSchedule(ports: OperatorPorts, id: string, manner?: Manner): Promise<Amended> {
  return amend(ports, resuming([id]), manner);
}

/** @param dead  the nominal time of a dead letter. @throws NotFoundError, UsageError, SignalboxError 75, 77, StoreError */
export function triggerSchedule(
  ports: OperatorPorts,
  id: string,
  { dead, ...manner }: Manner & { dead?: number } = {},
): Promise<Amended> {
  return amend(ports, triggering([id], dead), manner);
}
