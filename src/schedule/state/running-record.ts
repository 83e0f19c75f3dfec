import type { ParseResult } from "../../base/text.ts";
import { isCount, isMillis, isText, parseJsonFields } from "../json-fields.ts";

/** Record of a running occurrence, under `running/<id>` on the worker's session. Instants in ms since the epoch. */
export interface RunningRecord {
  /** Id of the worker. */
  worker: string;
  host: string;
  pid: number;
  /** New for every start. */
  run: string;
  scheduled: number;
  attempt: number;
  since: number;
  /** Delay of the start, ms. */
  late: number;
}

/** Returns the value to store in etcd, for `parseRunning`. */
export function formatRunning(running: RunningRecord): string {
  return JSON.stringify({ v: 1, ...running });
}

export function parseRunning(text: string): ParseResult<RunningRecord> {
  const { worker, host, pid, run, scheduled, attempt, since, late } = parseJsonFields(text) ?? {};
  const isWhole = [worker, host, run].every(isText) && [pid, attempt].every(isCount);
  if (!isWhole || ![scheduled, since, late].every(isMillis))
    return { fault: "it does not say which worker runs which task" };
  return { value: { worker, host, pid, run, scheduled, attempt, since, late } as RunningRecord };
}
