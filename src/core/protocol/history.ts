import type { Millis, WallTime } from "../base/clock.ts";
import { isJsonObject, isUnits, parseObject } from "../base/parse-json.ts";
import { LONGEST_VALUE } from "../base/size.ts";

/** Maximum number of runs in a lock's history. */
export const HISTORY_LENGTH = 20;

/** One finished run of a lock. Wall clocks in ms since the epoch, durations in ms. */
export interface PastRun {
  run: string;
  host: string;
  pid: number;
  command: string;
  label?: string;
  /** It shared the lock. */
  shared?: boolean;
  /** Units that it held, by resource. */
  leases?: Readonly<Record<string, number>>;
  token: string;
  enqueuedAt: WallTime;
  grantedAt: WallTime;
  endedAt: WallTime;
  waited: Millis;
  held: Millis;
  exit: number;
  /** Why signalbox ended the command, if it did. */
  reason?: string;
  /** End of the output, sanitized, if it was kept. */
  tail?: string;
}

/** Adds a run to a lock's history. Unreadable parts of the old history are dropped. */
export function appendPastRun(text: string | undefined, past: PastRun): string {
  const runs = [past, ...parsePastRuns(text)].slice(0, HISTORY_LENGTH);
  return JSON.stringify({ v: 1, runs: limitLeases(limitTails(runs)) });
}

/** Maximum length of all leases in a history: a run has up to 20, and one transaction writes the histories of 16 locks. */
const LEASES_LENGTH = 8 * 1024;

/** Keeps the leases of the newest runs, up to LEASES_LENGTH. */
function limitLeases(runs: readonly PastRun[]): PastRun[] {
  let length = 0;
  return runs.map((run) => {
    const { leases, ...rest } = run;
    length += leases === undefined ? 0 : JSON.stringify(leases).length;
    return length > LEASES_LENGTH ? rest : run;
  });
}

/** Keeps only the newest tail and the newest tail of a failure: tails are the largest part of the value in etcd. */
function limitTails(runs: readonly PastRun[]): PastRun[] {
  const withTail = runs.filter(({ tail }) => tail !== undefined);
  const kept = new Set([withTail[0], withTail.find(({ exit }) => exit !== 0)]);
  return runs.map((run) => (run.tail === undefined || kept.has(run) ? run : removeTail(run)));
}

function removeTail({ tail: _, ...rest }: PastRun): PastRun {
  return rest;
}

/** Parses a lock's history, newest run first. Returns an empty list if the text is not a valid history, or too long. */
export function parsePastRuns(text = ""): PastRun[] {
  const { runs } = parseObject(text.length > LONGEST_VALUE ? "" : text);
  return Array.isArray(runs) ? runs.filter(isPastRun).slice(0, HISTORY_LENGTH) : [];
}

export function isPastRun(value: unknown): value is PastRun {
  if (!isJsonObject(value)) return false;
  const { run, host, command, token, shared = false, label = "", reason = "", tail = "" } = value;
  const { leases = {} } = value;
  const { pid, enqueuedAt, grantedAt, endedAt, waited, held, exit } = value;
  const isText = (field: unknown) => typeof field === "string";
  return (
    typeof shared === "boolean" &&
    isUnits(leases) &&
    [run, host, command, token, label, reason, tail].every(isText) &&
    [pid, enqueuedAt, grantedAt, endedAt, waited, held, exit].every(Number.isFinite)
  );
}
