import { isJsonObject, parseObject } from "../base/parse-json.ts";

/** Maximum number of runs in a lock's history. */
export const HISTORY_LENGTH = 20;

/** One finished run of a lock. Wall clocks in ms since the epoch, durations in ms. */
export interface PastRun {
  run: string;
  host: string;
  pid: number;
  command: string;
  label?: string;
  token: string;
  enqueuedAt: number;
  grantedAt: number;
  endedAt: number;
  waited: number;
  held: number;
  exit: number;
  /** Why signalbox ended the command, if it did. */
  reason?: string;
}

/** Adds a run to a lock's history. Unreadable parts of the old history are dropped. */
export function appendPastRun(text: string | undefined, past: PastRun): string {
  return JSON.stringify({ v: 1, runs: [past, ...parsePastRuns(text)].slice(0, HISTORY_LENGTH) });
}

/** Parses a lock's history, newest run first. Returns an empty list if the text is not a valid history. */
export function parsePastRuns(text: string | undefined): PastRun[] {
  const { runs } = parseObject(text ?? "");
  return Array.isArray(runs) ? runs.filter(isPastRun).slice(0, HISTORY_LENGTH) : [];
}

function isPastRun(value: unknown): value is PastRun {
  if (!isJsonObject(value)) return false;
  const { run, host, command, token, label = "", reason = "" } = value;
  const { pid, enqueuedAt, grantedAt, endedAt, waited, held, exit } = value;
  const isText = (one: unknown) => typeof one === "string";
  return (
    [run, host, command, token, label, reason].every(isText) &&
    [pid, enqueuedAt, grantedAt, endedAt, waited, held, exit].every(Number.isFinite)
  );
}
