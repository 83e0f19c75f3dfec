import * as v from "valibot";
import type { ParseResult } from "../../core/base/text.ts";
import { HOOK_PERMISSIONS } from "../definition-values.ts";
import { isTexts, parseJsonFields } from "../json-fields.ts";
import { COUNT, MILLIS } from "./due.ts";

/** Record of a running occurrence, under `running/<id>` on the worker's session. Instants in ms since the epoch. */
const RUNNING_RECORD = v.object({
  /** Id of the worker. */
  worker: v.string(),
  host: v.string(),
  pid: COUNT,
  /** New for every start. */
  run: v.string(),
  scheduled: MILLIS,
  attempt: COUNT,
  since: MILLIS,
  /** Delay of the start, ms. */
  late: MILLIS,
  /** What the task says about its progress. */
  progress: v.exactOptional(v.string()),
});
export type RunningRecord = v.InferOutput<typeof RUNNING_RECORD>;

/** Returns the value to store in etcd, for `parseRunning`. */
export function formatRunning(running: RunningRecord): string {
  return JSON.stringify({ v: 1, ...running });
}

export function parseRunning(text: string): ParseResult<RunningRecord> {
  const { success, output } = v.safeParse(RUNNING_RECORD, parseJsonFields(text));
  return success ? { value: output } : { fault: "it does not say which worker runs which task" };
}

/**
 * State of a worker's clock. `ok`: the worker fires. `warns`: it fires and warns (above 0.5 s off). `refuses`: it does
 * not fire (above 5 s).
 */
export const CLOCK_STATES = ["ok", "warns", "refuses"] as const;
export type ClockState = (typeof CLOCK_STATES)[number];

/** Record of a worker, under `workers/<id>` on its session. Instants in ms since the epoch. */
const WORKER_RECORD = v.object({
  host: v.string(),
  pid: COUNT,
  version: v.string(),
  since: MILLIS,
  /** Wall clock of the worker when it wrote the record. Other workers compare their clocks when they receive it. */
  wall: MILLIS,
  /** Number of the record, from 1. */
  beat: COUNT,
  /** Schedule types with a handler: exact, or a `/regular expression/`. */
  types: v.custom<readonly string[]>(isTexts),
  /** Tags of the worker. Its groups are not included; they are read from the configuration. */
  tags: v.custom<readonly string[]>(isTexts),
  /** Number of running tasks, and the limit. */
  running: COUNT,
  concurrency: COUNT,
  clock: v.picklist(CLOCK_STATES),
  /** Which hooks of schedules it calls. */
  hooks: v.exactOptional(v.picklist(HOOK_PERMISSIONS)),
});
export interface WorkerRecord extends v.InferOutput<typeof WORKER_RECORD> {
  /** The worker has not read all schedules yet, and claims nothing before. */
  isJoining?: true;
  /** The worker claims nothing more and will leave. */
  isLeaving?: true;
}

/** Returns whether two records of a worker say that it claims the same schedules. */
export function claimsTheSame(one: WorkerRecord, other: WorkerRecord): boolean {
  const list = ({ host, types, clock, isJoining, isLeaving }: WorkerRecord) =>
    JSON.stringify([host, types, clock === "refuses", isJoining, isLeaving]);
  return list(one) === list(other);
}

/** Returns the value to store in etcd, for `parseWorker`. */
export function formatWorker(record: WorkerRecord): string {
  return JSON.stringify({ v: 1, ...record });
}

export function parseWorker(text: string): ParseResult<WorkerRecord> {
  const fields: unknown = parseJsonFields(text);
  return v.is(WORKER_RECORD, fields) ? { value: fields } : { fault: "it is not a worker's record" };
}
