import { isJsonObject } from "../../base/parse-json.ts";
import type { ParseResult } from "../../base/text.ts";
import { isCount, isMillis, isText, parseJsonFields } from "../json-fields.ts";

/**
 * State of a worker's clock. `ok`: the worker fires. `warns`: it fires and warns (above 0.5 s off). `refuses`: it does
 * not fire (above 5 s).
 */
export const CLOCK_STATES = ["ok", "warns", "refuses"] as const;
export type ClockState = (typeof CLOCK_STATES)[number];

/** Record of a worker, under `workers/<id>` on its session. Instants in ms since the epoch. */
export interface WorkerRecord {
  host: string;
  pid: number;
  version: string;
  since: number;
  /** Wall clock of the worker when it wrote the record. Other workers compare their clocks when they receive it. */
  wall: number;
  /** Number of the record, from 1. */
  beat: number;
  /** Schedule types with a handler: exact, or a `/regular expression/`. */
  types: readonly string[];
  /** Tags of the worker. Its groups are not included; they are read from the configuration. */
  tags: readonly string[];
  /** Number of running tasks, and the limit. */
  running: number;
  concurrency: number;
  clock: ClockState;
  /** The worker claims nothing more and will leave. */
  isLeaving?: true;
}

/** Returns the value to store in etcd, for `parseWorker`. */
export function formatWorker(record: WorkerRecord): string {
  return JSON.stringify({ v: 1, ...record });
}

export function parseWorker(text: string): ParseResult<WorkerRecord> {
  const fields = parseJsonFields(text) ?? {};
  const { host, pid, version, since, wall, beat, types, tags, running, concurrency, clock } = fields;
  const isWhole =
    [host, version].every(isText) &&
    [pid, beat, running, concurrency].every(isCount) &&
    [since, wall].every(isMillis) &&
    [types, tags].every((list) => Array.isArray(list) && list.every(isText)) &&
    CLOCK_STATES.some((state) => state === clock);
  if (!isWhole || !isJsonObject(fields)) return { fault: "it is not a worker's record" };
  return { value: fields as unknown as WorkerRecord };
}
