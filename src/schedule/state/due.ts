import { isJsonObject } from "../../base/parse-json.ts";
import type { ParseResult } from "../../base/text.ts";
import { isCount, isMillis, isText, type JsonFields, parseJsonFields } from "../json-fields.ts";
import { OCCURRENCE_RESULTS, type OccurrenceResult } from "./outcome.ts";

/** An occurrence that was started or triggered, and has not finished. Instants in ms since the epoch. */
export interface OpenOccurrence {
  /** Its scheduled time, or the instant of the trigger. Unique within a schedule. */
  scheduled: number;
  /** When it may be claimed, unless it is running. */
  runAt: number;
  /** Number of starts. */
  attempt: number;
  /** Number of failures. Starts that neither failed nor finished were lost with their worker. */
  failures: number;
  kind: "due" | "trigger";
}

/** Result of the last occurrence that ended. */
export interface LastOccurrence {
  scheduled: number;
  startedAt: number;
  endedAt: number;
  /** Delay between the due time and the start, ms. */
  late: number;
  result: OccurrenceResult;
  run: string;
}

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
  if (!Array.isArray(open) || !open.every(isOpen)) return { fault: "its open occurrences cannot be read" };
  return {
    value: {
      ...(next !== undefined && { next }),
      ...{ runAt, open },
      ...(isLast(last) && { last }),
      ...(isCount(dead) && dead > 0 && { dead }),
    },
  };
}

function isOpen(value: unknown): value is OpenOccurrence {
  if (!isJsonObject(value)) return false;
  const { scheduled, runAt, attempt, failures, kind } = value;
  return [scheduled, runAt].every(isMillis) && [attempt, failures].every(isCount) && isKind(kind);
}

const isKind = (value: unknown): boolean => value === "due" || value === "trigger";

function isLast(value: unknown): value is LastOccurrence {
  if (!isJsonObject(value)) return false;
  const { scheduled, startedAt, endedAt, late, result, run }: JsonFields = value;
  return (
    [scheduled, startedAt, endedAt, late].every(isMillis) &&
    OCCURRENCE_RESULTS.some((one) => one === result) &&
    isText(run)
  );
}
