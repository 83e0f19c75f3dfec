import type { WallTime } from "../../core/base/clock.ts";
import { UsageError } from "../../core/base/errors.ts";
import { quoteText } from "../../core/base/text.ts";
import { ExpirySessions } from "../../core/etcd/session/expiry-sessions.ts";
import { type Definition, isJob } from "../../schedule/definition.ts";
import type { JobConflictRule } from "../../schedule/definition-values.ts";
import { formatOncePlan } from "../../schedule/plan.ts";
import type { DueState } from "../../schedule/state/due.ts";
import { computeFirstDue, findFreeTime } from "../../schedule/state/due-transitions.ts";
import {
  MAX_BYTES,
  MAX_CHANGES,
  MAX_DIRECT_OPS,
  type OperatorPorts,
  type Receipt,
} from "./operator-action.ts";
import { applyMutation, type MutationResult, type ScheduleMutation } from "./schedule-mutation.ts";
import { buildCancelMutation, checkFires } from "./schedule-mutations.ts";
import {
  createMissingSchedule,
  type PlannedChange,
  readStoredSchedules,
  type StoredSchedule,
} from "./stored-schedules.ts";

/** A job to add: a schedule that is due once and is removed when it has succeeded. */
export interface PlannedJob {
  readonly id: string;
  /** Whether the id is random, so that no other job can have it. */
  readonly isUnique: boolean;
  /** Without `cron`, which follows from `start`. */
  readonly definition: Omit<Definition, "cron">;
  /** When it is due, ms since the epoch. */
  readonly start: WallTime;
  readonly ifExists: JobConflictRule;
}

/** What a call did to a job. */
interface JobDecision {
  /** Undefined if the job that exists stays as it is. */
  readonly change?: PlannedChange;
  readonly isDead: boolean;
  /** Revision of the definition that stays; undefined if it is written. */
  readonly kept?: bigint;
}

/**
 * Adds jobs in one transaction: all or none.
 * @param jobs  with checked fields, with different ids, few enough for one transaction (`splitJobs`)
 * @throws the errors of `applyMutation`; UsageError if a schedule that is not a job would be replaced
 */
export async function addJobs(
  ports: OperatorPorts,
  jobs: readonly PlannedJob[],
  receipt: Receipt,
): Promise<{ result: MutationResult; decisions: readonly JobDecision[] }> {
  let decisions: readonly JobDecision[] = [];
  const result = await applyMutation(
    ports,
    {
      target: "jobs",
      ids: jobs.map(({ id }) => id),
      expectsNone: true,
      decide: ({ schedules }, now) => {
        decisions = jobs.map((job) =>
          decideJob(job, schedules.get(job.id) ?? createMissingSchedule(job.id), now),
        );
        return decisions.flatMap(({ change }) => change ?? []);
      },
      formatOutcome: () => "added",
    },
    { receipt },
  );
  return { result, decisions };
}

/** @throws UsageError */
function decideJob(job: PlannedJob, before: StoredSchedule, now: WallTime): JobDecision {
  if (before.definitionMod === 0n) return { change: planJob(job, before, now), isDead: false };
  const isDead = isGivenUp(before);
  const isReplaced = job.ifExists === "replaceDead" ? isDead : job.ifExists !== "keep";
  if (!isReplaced) return { isDead, kept: before.definitionMod };
  if (!isJob(before.definition))
    throw new UsageError(
      `schedule ${quoteText(job.id)} is not a job, so it is not replaced; use another type or key`,
    );
  return { change: planJob(job, before, now), isDead: false };
}

/**
 * Plans a job in place of what is there. A run that is under way goes on, and the new job runs after it. What waits for a
 * retry is replaced.
 */
function planJob(
  { id, isUnique, definition, start, ifExists }: PlannedJob,
  before: StoredSchedule,
  now: WallTime,
): PlannedChange {
  const { due: { dead: _, ...due } = { runAt: 0, open: [] } as DueState, outcomes } = before;
  const open = due.open.filter(({ session }) => session !== undefined);
  const isMoved = ifExists !== "update" || due.next === undefined;
  const at = findFreeTime({ open }, isMoved ? start : (due.next ?? start));
  const pause = before.definition?.pause;
  const after = { ...definition, cron: formatOncePlan(at), ...(pause !== undefined && { pause }) };
  const first = computeFirstDue(id, after, now, { start: at });
  return {
    before,
    definition: after,
    due: { ...due, ...checkFires(id, after, first, now), open },
    ...(isUnique && { isUnique }),
    ...(outcomes.dead.length > 0 && { outcomes: { ...outcomes, dead: [] } }),
  };
}

/**
 * Cancels jobs, as `buildCancelMutation` does. The outcome of one that keeps its result stays as long as the result would.
 * @throws StoreError
 */
export async function prepareCancellation(
  ports: OperatorPorts,
  ids: readonly string[],
  who: { by: string; why?: string | undefined },
): Promise<ScheduleMutation> {
  const { schedules } = await readStoredSchedules(ports, ids);
  const expiry = new ExpirySessions(ports);
  const resultSessions = new Map<string, bigint>();
  for (const [id, { definition, due }] of schedules) {
    const isRemoved = isJob(definition) && due?.open.every(({ session }) => session === undefined);
    if (isRemoved && definition.keepResult !== undefined)
      resultSessions.set(id, await expiry.choose(definition.keepResult).id);
  }
  return buildCancelMutation(ids, { ...who, resultSessions });
}

/** Returns whether nothing of a job is left to run. It is removed when it succeeds, so it has failed for good. */
export function isGivenUp({ definition, due }: StoredSchedule): boolean {
  return (
    definition?.removeAfter !== undefined &&
    due !== undefined &&
    due.next === undefined &&
    due.open.length === 0
  );
}

/** Keys of a job: those that are written, and guarded if it is replaced. */
const KEYS_PER_JOB = 3;
/** The most that the prefix and the state of a new job need, bytes. Its id is in two keys, in which a byte may become three. */
const STATE_BYTES = 600;

/**
 * Splits jobs into as few transactions as etcd accepts, in order. Each job with a key needs guards, a random id needs none. A
 * job whose id is there twice comes in a later transaction, so that it finds the first one.
 */
export function splitJobs(jobs: readonly PlannedJob[]): PlannedJob[][] {
  const chunks: PlannedJob[][] = [];
  let ids = new Set<string>();
  let guards = 0;
  let bytes = 0;
  for (const job of jobs) {
    const needed = job.isUnique ? 0 : job.ifExists === "keep" ? 1 : KEYS_PER_JOB;
    const size = Buffer.byteLength(JSON.stringify(job.definition)) + 6 * job.id.length + STATE_BYTES;
    const isFull =
      guards + needed > MAX_DIRECT_OPS ||
      bytes + size > MAX_BYTES ||
      (ids.size + 1) * KEYS_PER_JOB > MAX_CHANGES ||
      ids.has(job.id);
    if (isFull || chunks.length === 0) {
      chunks.push([]);
      [ids, guards, bytes] = [new Set(), 0, 0];
    }
    chunks.at(-1)?.push(job);
    ids.add(job.id);
    guards += needed;
    bytes += size;
  }
  return chunks;
}
