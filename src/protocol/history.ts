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
  if (text === undefined) return [];
  try {
    const value = JSON.parse(text);
    return Array.isArray(value?.runs) ? value.runs.filter(isPastRun).slice(0, HISTORY_LENGTH) : [];
  } catch {
    return [];
  }
}

function isPastRun(value: unknown): value is PastRun {
  if (typeof value !== "object" || value === null) return false;
  const past = value as Record<string, unknown>;
  const texts = [past.run, past.host, past.command, past.token];
  const numbers = [
    past.pid,
    past.enqueuedAt,
    past.grantedAt,
    past.endedAt,
    past.waited,
    past.held,
    past.exit,
  ];
  const optional = [past.label, past.reason].filter((text) => text !== undefined);
  return [...texts, ...optional].every((text) => typeof text === "string") && numbers.every(Number.isFinite);
}
