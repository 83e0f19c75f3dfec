import type { HookName } from "../../schedule/definition.ts";
import type { WorkerEvent } from "../schedule/events.ts";

/** What a hook is told, as JSON. Instants in ms since the epoch where the name does not say `Time`. */
export interface HookWord {
  version: 1;
  event: HookName;
  schedule: string;
  type: string;
  /** The worker's. */
  host: string;
  scheduled: number;
  /** ISO 8601. */
  scheduledTime: string;
  run?: string;
  attempt?: number;
  /** ms. */
  late?: number;
  startedAt?: number;
  endedAt?: number;
  result?: string;
  code?: number;
  reason?: string;
  tail?: string;
  /** Of a failure: its next start; whether it was given up. */
  again?: number;
  isDead?: boolean;
  /** Of what was missed: how many, and the last of them. */
  count?: number;
  until?: number;
}

/** From when on a start is late, ms, where nobody says. */
export const LATE_AFTER = 60_000;

/**
 * What hooks are told of an event, in this order; nothing of most.
 * @param lateAfter  ms
 */
export function wordsOf(event: WorkerEvent, host: string, lateAfter: number): HookWord[] {
  if (event.kind === "started") {
    const { scheduled, late, run, attempt } = event;
    const started = { ...about(event, host, scheduled), run, attempt, late };
    const word = (name: HookName): HookWord => ({ ...started, event: name });
    return late >= lateAfter ? [word("start"), word("late")] : [word("start")];
  }
  if (event.kind === "skipped") return [{ ...outcomeOf(event, host), event: "missed" }];
  if (event.kind !== "ended") return [];
  const { outcome, again, isDead } = event;
  const name =
    outcome.result === "ok" ? "success" : isDead || FAILURES.has(outcome.result) ? "failure" : undefined;
  if (name === undefined) return [];
  return [{ ...outcomeOf(event, host), event: name, isDead, ...(again !== undefined && { again }) }];
}

/** A handler that asks for another start, and one that gives way to the next occurrence, have not failed. */
const FAILURES: ReadonlySet<string> = new Set(["failed", "timeout", "lost"]);

function about({ id, type }: { id: string; type: string }, host: string, scheduled: number) {
  const scheduledTime = new Date(scheduled).toISOString();
  return { version: 1 as const, schedule: id, type, host, scheduled, scheduledTime };
}

function outcomeOf(event: Extract<WorkerEvent, { kind: "ended" | "skipped" }>, host: string) {
  const { scheduled, worker: _, host: __, token: ___, ...outcome } = event.outcome;
  return { ...about(event, host, scheduled), ...outcome };
}

/** Paths of healthchecks.io and of those that do as it does. */
const PATHS: Readonly<Record<HookName, string>> = {
  start: "/start",
  success: "",
  failure: "/fail",
  late: "/log",
  missed: "/fail",
};

/** The URL of a hook: `{event}` in it stands for the path of the event, as healthchecks.io has them. */
export function hookUrl(text: string, event: HookName): URL | undefined {
  const url = URL.parse(text.replaceAll("{event}", PATHS[event]));
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}
