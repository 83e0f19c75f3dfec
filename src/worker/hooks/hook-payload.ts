import { formatIso, type Millis, type WallTime } from "../../core/base/clock.ts";
import type { HookName } from "../../schedule/definition-values.ts";
import { isFailure } from "../../schedule/state/outcome.ts";
import type { WorkerEvent } from "../events.ts";

/** The JSON that a hook receives. Instants are in ms since the epoch, unless the name contains `Time`. */
export interface HookPayload {
  version: 1;
  event: HookName;
  /** Missing for a run that has no schedule, as the three that follow. */
  schedule?: string;
  type?: string;
  scheduled?: WallTime;
  /** ISO 8601. */
  scheduledTime?: string;
  /** For a run that has no schedule: its locks, and the name of its program. */
  locks?: readonly string[];
  command?: string;
  /** The host of the worker, or of the run. */
  host: string;
  run?: string;
  attempt?: number;
  /** In ms. */
  late?: Millis;
  startedAt?: WallTime;
  endedAt?: WallTime;
  result?: string;
  code?: number;
  reason?: string;
  tail?: string;
  /** For a failure: when it starts again, and whether it was given up. */
  again?: WallTime;
  isDead?: boolean;
  /** For an overrun: how long a run should take at most, ms. For ended runs: whether one took too long, or too short. */
  bound?: number;
  deviation?: string;
  /** For missed occurrences: how many, and the last one. */
  count?: number;
  until?: WallTime;
}

/** The payload for an event of a schedule. */
export interface SchedulePayload extends HookPayload {
  schedule: string;
}

/** Default for how late a start must be to count as late, ms. */
export const LATE_AFTER = 60_000;

/**
 * Builds the payloads of the hooks to call for an event, in order; empty for most events.
 * @param lateAfter  ms
 */
export function buildHookPayloads(event: WorkerEvent, host: string, lateAfter: Millis): SchedulePayload[] {
  if (event.kind === "started") {
    const { scheduled, late, run, attempt } = event;
    const started = { ...buildCommonFields(event, host, scheduled), run, attempt, late };
    const buildPayload = (name: HookName): SchedulePayload => ({ ...started, event: name });
    return late >= lateAfter ? [buildPayload("start"), buildPayload("late")] : [buildPayload("start")];
  }
  if (event.kind === "overrun") {
    const { scheduled, run, attempt, startedAt, bound } = event;
    const common = buildCommonFields(event, host, scheduled);
    return [{ ...common, run, attempt, startedAt, bound, event: "overrun" }];
  }
  if (event.kind === "skipped") return [{ ...buildOutcomeFields(event, host), event: "missed" }];
  if (event.kind !== "ended") return [];
  const { again, isDead } = event;
  const ended = { ...buildOutcomeFields(event, host), isDead, ...(again !== undefined && { again }) };
  return listEndHooks(event).map((name) => ({ ...ended, event: name }));
}

function listEndHooks({ outcome, isDead, wasFailing }: Extract<WorkerEvent, { kind: "ended" }>): HookName[] {
  if (outcome.result === "ok") {
    const short: HookName[] = outcome.deviation === "too-short" ? ["too-short"] : [];
    return wasFailing ? ["success", "recovered", ...short] : ["success", ...short];
  }
  if (!isDead && !isFailure(outcome.result)) return [];
  const failed: HookName[] = wasFailing ? ["failure"] : ["failure", "failed-first"];
  return isDead ? [...failed, "dead"] : failed;
}

function buildCommonFields({ id, type }: { id: string; type: string }, host: string, scheduled: WallTime) {
  const scheduledTime = formatIso(scheduled);
  return { version: 1 as const, schedule: id, type, host, scheduled, scheduledTime };
}

function buildOutcomeFields(event: Extract<WorkerEvent, { kind: "ended" | "skipped" }>, host: string) {
  const { scheduled, worker: _, host: __, token: ___, ...outcome } = event.outcome;
  return { ...buildCommonFields(event, host, scheduled), ...outcome };
}

/** Paths of healthchecks.io and compatible services. */
const PATHS: Readonly<Record<HookName, string>> = {
  start: "/start",
  success: "",
  failure: "/fail",
  "failed-first": "/fail",
  recovered: "",
  dead: "/fail",
  late: "/log",
  missed: "/fail",
  overrun: "/fail",
  "too-short": "/fail",
};

/** Replaces `{event}` in a URL by the path of the event, in the format of healthchecks.io. */
export function insertEventPath(text: string, event: HookName): string {
  return text.replaceAll("{event}", PATHS[event]);
}

/** Adds the path of the event to the URL of a check: of a failure, its exit code if there is one. */
export function addEventPath(check: URL, { event, code = 0 }: HookPayload): URL {
  const url = new URL(check);
  const path = PATHS[event];
  url.pathname = url.pathname.replace(/\/$/, "") + (path === "/fail" && code > 0 ? `/${code}` : path);
  return url;
}
