import type { Definition } from "../schedule/definition.ts";
import type { DueState } from "../schedule/state/due.ts";
import type { OutcomeHistory } from "../schedule/state/outcome.ts";
import type { StoredSchedule } from "./stored-schedules.ts";

/** Planned change of a schedule. Fields that are not set stay unchanged. */
export interface PlannedChange {
  readonly before: StoredSchedule;
  readonly definition?: Definition;
  readonly due?: DueState;
  readonly outcomes?: OutcomeHistory;
  readonly isDeleted?: true;
}
