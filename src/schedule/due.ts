import type { Parsed } from "../base/text.ts";
import { type Fields, fieldsOf, isCount, isFields, isMillis, isText } from "./fields.ts";
import { RESULTS, type Result } from "./outcome.ts";

/** An occurrence that was taken up or triggered, and has not finished. Instants in ms since the epoch. */
export interface Open {
  /** Its nominal time, or the instant of the trigger. No two of a schedule share one. */
  scheduled: number;
  /** When it may be taken, unless it is running. */
  runAt: number;
  /** How often it was started. */
  attempt: number;
  /** How often it failed. Starts that neither failed nor finished were lost with their worker. */
  failures: number;
  kind: "due" | "trigger";
}

/** How the last occurrence that ended came out. */
export interface Last {
  scheduled: number;
  startedAt: number;
  endedAt: number;
  /** How long after it was due it was started, ms. */
  late: number;
  result: Result;
  run: string;
}

/** Where a schedule is, under `due/<id>`. Instants in ms since the epoch. */
export interface Due {
  /** The next occurrence that nobody has taken up, as the cron text states it; undefined: there is none any more. */
  next?: number;
  /** When that may be taken. */
  runAt: number;
  open: readonly Open[];
  last?: Last;
  /** Dead letters that are kept, for listings: these do not read what is remembered. Absent: none. */
  dead?: number;
}

/** The value to keep in etcd, as `parseDue` reads it. */
export function dueText(due: Due): string {
  return JSON.stringify({ v: 1, ...due, open: due.open.length === 0 ? undefined : due.open });
}

export function parseDue(text: string): Parsed<Due> {
  const fields = fieldsOf(text);
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

function isOpen(value: unknown): value is Open {
  if (!isFields(value)) return false;
  const { scheduled, runAt, attempt, failures, kind } = value;
  return [scheduled, runAt].every(isMillis) && [attempt, failures].every(isCount) && isKind(kind);
}

const isKind = (value: unknown): boolean => value === "due" || value === "trigger";

function isLast(value: unknown): value is Last {
  if (!isFields(value)) return false;
  const { scheduled, startedAt, endedAt, late, result, run }: Fields = value;
  return (
    [scheduled, startedAt, endedAt, late].every(isMillis) &&
    RESULTS.some((one) => one === result) &&
    isText(run)
  );
}
