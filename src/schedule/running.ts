import type { Parsed } from "../base/text.ts";
import { fieldsOf, isCount, isMillis, isText } from "./fields.ts";

/** Who runs an occurrence, under `running/<id>` on the worker's session. Instants in ms since the epoch. */
export interface Running {
  /** The worker's id. */
  worker: string;
  host: string;
  pid: number;
  /** New for every start. */
  run: string;
  scheduled: number;
  attempt: number;
  since: number;
  /** How late it was started, ms. */
  late: number;
}

/** The value to keep in etcd, as `parseRunning` reads it. */
export function runningText(running: Running): string {
  return JSON.stringify({ v: 1, ...running });
}

export function parseRunning(text: string): Parsed<Running> {
  const { worker, host, pid, run, scheduled, attempt, since, late } = fieldsOf(text) ?? {};
  const isWhole = [worker, host, run].every(isText) && [pid, attempt].every(isCount);
  if (!isWhole || ![scheduled, since, late].every(isMillis))
    return { fault: "it does not say who runs what" };
  return { value: { worker, host, pid, run, scheduled, attempt, since, late } as Running };
}
