import * as v from "valibot";
import type { ParseResult } from "../../base/text.ts";
import { isCount, isMillis, parseJsonFields } from "../json-fields.ts";
import { OCCURRENCE_RESULTS } from "./outcome.ts";
import { COUNT, MILLIS } from "./record-schema.ts";

/** An occurrence that was started or triggered, and has not finished. Instants in ms since the epoch. */
const OPEN = v.object({
  /** Its scheduled time, or the instant of the trigger. Unique within a schedule. */
  scheduled: MILLIS,
  /** When it may be claimed, unless it is running. */
  runAt: MILLIS,
  /** Number of starts. */
  attempt: COUNT,
  /** Number of failures. Starts that neither failed nor finished were lost with their worker. */
  failures: COUNT,
  kind: v.picklist(["due", "trigger"]),
});
const OPEN_LIST = v.array(OPEN);
export type OpenOccurrence = v.InferOutput<typeof OPEN>;

/** Result of the last occurrence that ended. */
const LAST = v.object({
  scheduled: MILLIS,
  startedAt: MILLIS,
  endedAt: MILLIS,
  /** Delay between the due time and the start, ms. */
  late: MILLIS,
  result: v.picklist(OCCURRENCE_RESULTS),
  run: v.string(),
});
export type LastOccurrence = v.InferOutput<typeof LAST>;

/** State of a schedule, under `due/<id>`. Instants in ms since the epoch. */
export interface DueState {
  /** Next occurrence that was not started, according to the cron expression; undefined if there is none. */
  next?: number;
  /** When the next occurrence may be claimed. */
  runAt: number;
  open: readonly OpenOccurrence[];
  last?: LastOccurrence;
  /** Number of stored dead letters, for listings, which do not read the outcome history. Absent if there are none. */
  dead?: number;
}

/** Returns the value to store in etcd, for `parseDue`. */
export function formatDue(due: DueState): string {
  return JSON.stringify({ v: 1, ...due, open: due.open.length === 0 ? undefined : due.open });
}

export function parseDue(text: string): ParseResult<DueState> {
  const fields = parseJsonFields(text);
  if (fields === undefined || !isMillis(fields.runAt)) return { fault: "it is not the state of a schedule" };
  const { next, runAt, open = [], last, dead } = fields;
  if (next !== undefined && !isMillis(next)) return { fault: "its next time is not an instant" };
  if (!v.is(OPEN_LIST, open)) return { fault: "its open occurrences cannot be read" };
  return {
    value: {
      ...(next !== undefined && { next }),
      ...{ runAt, open },
      ...(v.is(LAST, last) && { last }),
      ...(isCount(dead) && dead > 0 && { dead }),
    },
  };
}
