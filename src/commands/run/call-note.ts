import { parseJson } from "../../base/parse-json.ts";
import type { StartedAttempt } from "../../work/run/request.ts";

/** The variable with which a launcher passes the note of its call to the program that it becomes without an agent. */
export const CALL_VARIABLE = "SIGNALBOX_CALL";

/** The variable in which a launcher says why no agent serves its call. Unset where there is no agent. */
export const FALLBACK_VARIABLE = "SIGNALBOX_FALLBACK";

/** What a launcher keeps about its call, so that another process can continue it. */
export interface CallNote {
  /** Id of the call. */
  id: string;
  /** Number of attempts made. */
  number: number;
  /** The last attempt. */
  run: string;
  /** Id of its session, hexadecimal. */
  session: string;
  /** Time to live of the session, in whole seconds. */
  ttl: number;
  /** Wall clock, ms since the epoch. */
  enqueuedAt: number;
}

const VERSION = 1;

/** Renders a note. Later versions must be able to read it: they take over runs of this one. */
export function renderCallNote(id: string, attempt: StartedAttempt): string {
  const { run, session, ttl, number = 1, enqueuedAt } = attempt;
  return JSON.stringify({ v: VERSION, id, number, run, session: session.toString(16), ttl, enqueuedAt });
}

/** Parses a note. Returns undefined if there is none, or none that this version understands. */
export function parseCallNote(text: string | undefined): CallNote | undefined {
  const value = text === undefined || text === "" ? undefined : parseJson(text);
  return isCallNote(value) ? value : undefined;
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;

function isCallNote(value: unknown): value is CallNote {
  if (typeof value !== "object" || value === null) return false;
  const { v, id, number, run, session, ttl, enqueuedAt } = value as Record<string, unknown>;
  return (
    v === VERSION &&
    typeof id === "string" &&
    /^[0-9a-z]{12,32}$/.test(id) &&
    isCount(number) &&
    typeof run === "string" &&
    /^[0-9a-z]{12,32}$/.test(run) &&
    typeof session === "string" &&
    /^[1-9a-f][0-9a-f]{0,15}$/.test(session) &&
    isCount(ttl) &&
    Number.isFinite(enqueuedAt)
  );
}
