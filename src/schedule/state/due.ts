import * as v from "valibot";
import type { WallTime } from "../../core/base/clock.ts";
import { isCount } from "../../core/base/parse-json.ts";
import type { ParseResult } from "../../core/base/text.ts";
import { PAUSE_SCHEMA, type Pause } from "../definition.ts";
import { isMillis, isTexts, parseJsonFields } from "../json-fields.ts";
import { OCCURRENCE_RESULTS } from "./outcome.ts";

/** A whole number of ms: an instant since the epoch, or a duration. */
export const MILLIS = v.custom<number>(isMillis);
export const COUNT = v.custom<number>(isCount);

/** How an occurrence of a schedule ended that others follow. */
const PREDECESSOR_END = v.object({
  id: v.string(),
  scheduled: MILLIS,
  endedAt: MILLIS,
  result: v.picklist(OCCURRENCE_RESULTS),
  run: v.optional(v.string()),
  data: v.optional(v.unknown()),
  /** The place of the run in a trace, as variables: see `buildTraceVariables`. */
  trace: v.optional(v.record(v.string(), v.string())),
});
const PREDECESSOR_ENDS = v.array(PREDECESSOR_END);
export type PredecessorEnd = v.InferOutput<typeof PREDECESSOR_END>;

/** An end that is given to the schedules that follow, a part of them at a time. */
const HANDED_END = v.object({
  ...PREDECESSOR_END.entries,
  /** Whether the occurrence was given up. */
  isDead: v.boolean(),
  /** The followers up to this id have it; empty: none. */
  upTo: v.string(),
  /** Ids of schedules that have come to follow since: they do not get it. */
  except: v.exactOptional(v.array(v.string())),
});
const HANDED_ENDS = v.array(HANDED_END);
export type HandedEnd = v.InferOutput<typeof HANDED_END>;

/** Why an occurrence is open: it was due, an operator triggered it, the schedules before it in a chain ended, or a backfill started it. */
export const OPEN_KINDS = ["due", "trigger", "after", "backfill"] as const;

/** Who has canceled an occurrence that runs, when and why. Its worker ends it, and it does not start again. */
const CANCELLATION = v.object({ by: v.string(), at: MILLIS, why: v.exactOptional(v.string()) });
export type Cancellation = v.InferOutput<typeof CANCELLATION>;

/** An occurrence that was started or triggered, and has not finished. Instants in ms since the epoch. */
const OPEN_OCCURRENCE = v.object({
  /** Its scheduled time, or the instant of the trigger. Unique within a schedule. */
  scheduled: MILLIS,
  /** When it may be claimed, unless it is running. */
  runAt: MILLIS,
  /** Number of starts, without those that were given back. */
  attempt: COUNT,
  /** Number of failures. Starts that neither failed nor asked for another start were lost with their worker. */
  failures: COUNT,
  /** Number of starts that asked for another start later. */
  deferred: v.optional(COUNT),
  /** Number of starts since the last failure that asked for another start later. */
  postponed: v.optional(COUNT),
  /** When it was due, if its last start was given back before it began: its leases were not granted. */
  refusedSince: v.exactOptional(MILLIS),
  kind: v.picklist(OPEN_KINDS),
  /** When the backfill was requested that has started it. */
  backfill: v.optional(MILLIS),
  /** Data for the handler and variables of the command, in addition to those of the definition. */
  data: v.optional(v.unknown()),
  env: v.optional(v.record(v.string(), v.string())),
  /** The ends of the schedules before it. */
  after: v.optional(v.array(PREDECESSOR_END)),
  canceled: v.exactOptional(CANCELLATION),
  /**
   * The worker's session since its last start, until that start has ended. If the running key is missing, etcd has ended the
   * session, possibly before its time, and the task may still run.
   */
  session: v.optional(
    v.object({
      /** Id of the worker; undefined if an earlier version has started it. */
      worker: v.exactOptional(v.string()),
      run: v.string(),
      /** Time to live, s. */
      ttl: COUNT,
      /** The raft term in which it was granted, decimal; undefined if it is not certain. */
      term: v.optional(v.string()),
    }),
  ),
});
const OPEN_LIST = v.array(OPEN_OCCURRENCE);
export type OpenOccurrence = v.InferOutput<typeof OPEN_OCCURRENCE>;

/** A backfill that is under way. */
const BACKFILL = v.object({
  /** The next occurrence to start, and the last one. */
  next: MILLIS,
  until: MILLIS,
  /** When it was requested. */
  since: MILLIS,
  /** How many of its occurrences may run or wait for a retry at the same time. */
  parallel: COUNT,
  /** Number of occurrences that were started, and of all. */
  started: COUNT,
  total: COUNT,
});
export type Backfill = v.InferOutput<typeof BACKFILL>;

/** Occurrences that were skipped since the last start. */
const SKIPPED = v.object({
  /** When the first one was due. */
  since: MILLIS,
  count: COUNT,
  /** Why the last one was, if not because it was too late. */
  reason: v.exactOptional(v.string()),
});
export type SkippedOccurrences = v.InferOutput<typeof SKIPPED>;

/** Result of the last occurrence that ended. */
const LAST_RESULT = v.object({
  scheduled: MILLIS,
  startedAt: MILLIS,
  endedAt: MILLIS,
  /** Delay between the due time and the start, ms. */
  late: MILLIS,
  result: v.picklist(OCCURRENCE_RESULTS),
  run: v.string(),
});
export type LastOccurrence = v.InferOutput<typeof LAST_RESULT>;

/** Which boots count for a schedule of `@reboot`, and for which it has run on a host. */
const BOOT_STATE = v.object({
  /** Earlier boots do not count. */
  since: MILLIS,
  /** The last boots of the host, newest first. */
  ids: v.array(v.string()),
});

/** State of a schedule, under `due/<id>`. */
export interface DueState {
  /** Next occurrence that was not started, according to the cron expression; undefined if there is none. */
  next?: WallTime;
  /** When the next occurrence may be claimed. */
  runAt: WallTime;
  open: readonly OpenOccurrence[];
  last?: LastOccurrence;
  /** When the last occurrence that succeeded ended. */
  succeededAt?: WallTime;
  /** For listings and checks, which do not read the outcome history: what was due and did not run. */
  skipped?: SkippedOccurrences;
  backfill?: Backfill;
  /** Ids of the schedules that follow this one. They are written with the definitions that name this one. */
  successors?: readonly string[];
  /** Ends that some of these have not received yet, the oldest first. */
  handed?: readonly HandedEnd[];
  /** Ends of the schedules before this one since its last run, until each of them has ended. */
  arrived?: readonly PredecessorEnd[];
  /** Number of stored dead letters, for listings, which do not read the outcome history. Absent if there are none. */
  dead?: number;
  /** Number of occurrences in a row that were given up. Counted only with `pauseAfterFailures`. */
  failed?: number;
  /** Only with `@reboot`. */
  boots?: v.InferOutput<typeof BOOT_STATE>;
  /** The pause that the schedule has set itself. Workers may not write definitions. */
  pause?: Pause;
}

/** Returns the name of the state of a schedule, or of its state on a host. No id contains the character between them. */
export function buildStateName(id: string, host: string | undefined): string {
  return host === undefined ? id : `${id}\0${host}`;
}

/** Returns the value to store in etcd, for `parseDue`. */
export function formatDue(due: DueState): string {
  return JSON.stringify({ v: 1, ...due, open: due.open.length === 0 ? undefined : due.open });
}

/**
 * Finds a worker that runs an occurrence in a state, without parsing it: a worker asks this of each change by another one.
 * @returns undefined if none runs, or if an earlier version has started it
 */
export function findStarter(text: string): string | undefined {
  return /"session":\{"worker":"([^"]+)"/.exec(text)?.[1];
}

/** Shared by all schedules without an open occurrence. */
const NO_OCCURRENCES: readonly OpenOccurrence[] = [];

export function parseDue(text: string): ParseResult<DueState> {
  const fields = parseJsonFields(text);
  if (fields === undefined || !isMillis(fields.runAt)) return { fault: "it is not the state of a schedule" };
  const {
    next,
    runAt,
    open = NO_OCCURRENCES,
    last,
    succeededAt,
    dead,
    successors,
    arrived,
    backfill,
  } = fields;
  const { failed, boots, pause, handed, skipped } = fields;
  if (next !== undefined && !isMillis(next)) return { fault: "its next time is not an instant" };
  if (!isLike(OPEN_LIST, open)) return { fault: "its open occurrences cannot be read" };
  return {
    value: {
      ...(next === undefined ? { runAt, open } : { next, runAt, open }),
      ...(isLike(LAST_RESULT, last) && { last }),
      ...(isMillis(succeededAt) && { succeededAt }),
      ...(isLike(SKIPPED, skipped) && { skipped }),
      ...(isLike(BACKFILL, backfill) && { backfill }),
      ...(isTexts(successors) && successors.length > 0 && { successors }),
      ...(isLike(HANDED_ENDS, handed) && handed.length > 0 && { handed }),
      ...(isLike(PREDECESSOR_ENDS, arrived) && arrived.length > 0 && { arrived }),
      ...(isCount(dead) && dead > 0 && { dead }),
      ...(isCount(failed) && failed > 0 && { failed }),
      ...(isLike(BOOT_STATE, boots) && { boots }),
      ...(isLike(PAUSE_SCHEMA, pause) && { pause: pause as Pause }),
    },
  };
}

/** Returns whether a field is there, as it is defined. Most are absent, and valibot takes longer to say so of each. */
function isLike<T extends v.GenericSchema>(schema: T, field: unknown): field is v.InferInput<T> {
  return field !== undefined && v.is(schema, field);
}
