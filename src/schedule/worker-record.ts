import type { Parsed } from "../base/text.ts";
import { fieldsOf, isCount, isFields, isMillis, isText } from "./fields.ts";

/** How far a worker trusts its clock: it fires; it fires and warns (above 0.5 s off); it does not fire (above 5 s). */
export const CLOCK_STATES = ["ok", "warns", "refuses"] as const;
export type ClockState = (typeof CLOCK_STATES)[number];

/** What a worker says of itself, under `workers/<id>` on its session. Instants in ms since the epoch. */
export interface WorkerRecord {
  host: string;
  pid: number;
  version: string;
  since: number;
  /** Its wall clock when it wrote this: others compare theirs when they hear of it. */
  wall: number;
  /** Counts what it has written, from 1. */
  beat: number;
  /** Types of schedules that it has handlers for: exact, or a `/regular expression/`. */
  types: readonly string[];
  /** Groups that its host is in are read from the configuration; these are tags of its own. */
  tags: readonly string[];
  /** How many tasks it runs now, and at most. */
  running: number;
  concurrency: number;
  clock: ClockState;
  /** It takes nothing more and will leave. */
  isLeaving?: true;
}

/** The value to keep in etcd, as `parseWorker` reads it. */
export function workerText(record: WorkerRecord): string {
  return JSON.stringify({ v: 1, ...record });
}

export function parseWorker(text: string): Parsed<WorkerRecord> {
  const fields = fieldsOf(text) ?? {};
  const { host, pid, version, since, wall, beat, types, tags, running, concurrency, clock } = fields;
  const isWhole =
    [host, version].every(isText) &&
    [pid, beat, running, concurrency].every(isCount) &&
    [since, wall].every(isMillis) &&
    [types, tags].every((list) => Array.isArray(list) && list.every(isText)) &&
    CLOCK_STATES.some((state) => state === clock);
  if (!isWhole || !isFields(fields)) return { fault: "it is not a worker's word" };
  return { value: fields as unknown as WorkerRecord };
}
