import * as v from "valibot";
import type { ParseResult } from "../../base/text.ts";
import { parseJsonFields } from "../json-fields.ts";
import { COUNT, MILLIS } from "./due.ts";

/** Record of a running occurrence, under `running/<id>` on the worker's session. Instants in ms since the epoch. */
const RUNNING = v.object({
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
export type RunningRecord = v.InferOutput<typeof RUNNING>;

/** Returns the value to store in etcd, for `parseRunning`. */
export function formatRunning(running: RunningRecord): string {
  return JSON.stringify({ v: 1, ...running });
}

export function parseRunning(text: string): ParseResult<RunningRecord> {
  const { success, output } = v.safeParse(RUNNING, parseJsonFields(text));
  return success ? { value: output } : { fault: "it does not say which worker runs which task" };
}
