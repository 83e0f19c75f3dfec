import { formatInstant } from "../base/duration.ts";
import type { OccurrenceOutcome, OutcomeHistory } from "../schedule/state/outcome.ts";
import { createAgeColumn, createNumberColumn, createTextColumn } from "./columns.ts";
import { RESULT_COLUMN } from "./history.ts";
import type { TableColumn } from "./view.ts";

/** An occurrence that failed and is not retried. */
export interface DeadLetter extends OccurrenceOutcome {
  /** Its schedule. */
  id: string;
}

/** Lists the dead letters of schedules, those of each the newest first. @param outcomes  by schedule */
export function listDeadLetters(outcomes: ReadonlyMap<string, OutcomeHistory>): DeadLetter[] {
  return [...outcomes].flatMap(([id, { dead }]) => dead.map((one) => ({ id, ...one })));
}

export const DEAD_LETTER_COLUMNS: readonly TableColumn<DeadLetter>[] = [
  createTextColumn("schedule", 1, ({ id }) => id),
  createTextColumn("scheduled", 1, ({ scheduled }) => formatInstant(scheduled)),
  RESULT_COLUMN,
  { ...createAgeColumn<DeadLetter>("ended", 2, ({ endedAt }) => endedAt), title: "GIVEN UP" },
  createNumberColumn("attempts", 3, ({ attempt }) => attempt),
  // The last line of its output, or the reason of its end if there is none.
  createTextColumn("why", 2, ({ tail = "", reason }) => tail.trimEnd().split("\n").at(-1) || reason, {
    title: "LAST LINE",
  }),
];
