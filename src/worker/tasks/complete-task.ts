import type { Millis, MonotonicTime, WallTime } from "../../core/base/clock.ts";
import { pickDefined } from "../../core/base/pick-defined.ts";
import { buildTraceVariables } from "../../core/base/trace.ts";
import { retryUnavailable, StoreError } from "../../core/etcd/store.ts";
import { guardAbsent, guardNotNewer, guardRevision } from "../../core/protocol/guards.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import {
  type Compare,
  findFirstKey,
  type KeyValue,
  type Op,
  type Txn,
  type TxnResponse,
} from "../../core/protocol/txn.ts";
import { getScheduleType } from "../../schedule/definition.ts";
import { findDeviation, getExpectation } from "../../schedule/expectation.ts";
import {
  buildDeadLetter,
  completeOccurrence,
  type EndedOccurrence,
  findPostponementFault,
  forgetSession,
  isRemovedAfter,
  type OccurrenceCompletion,
} from "../../schedule/state/complete-occurrence.ts";
import {
  type DueState,
  formatDue,
  type HandedEnd,
  type OpenOccurrence,
  parseDue,
} from "../../schedule/state/due.ts";
import {
  addOutcomes,
  formatOutcomes,
  isFailing,
  limitAge,
  type OutcomeHistory,
} from "../../schedule/state/outcome.ts";
import type { ScheduleCache } from "../cache/schedule-cache.ts";
import {
  buildKeyValue,
  type ClaimedOccurrence,
  toVersionedOutcomes,
  type VersionedValue,
} from "../claims/claim-occurrence.ts";
import { NO_SUCCESSORS, prepareSuccessors, type SuccessorWrites } from "../claims/successors.ts";
import type { TaskResult } from "../handler.ts";
import { createTaskTrace } from "../task-trace.ts";
import type { SchedulePorts } from "../worker-ports.ts";
import { mergeOwnInput } from "./running-task.ts";

/** Result of completing a claimed occurrence. */
export type TaskCompletion =
  /**
   * The result is stored. `due`: the state of the schedule after it, or a later one that was read. `wasFailing`: whether
   * the result before was a failure.
   */
  | {
      kind: "settled";
      finish: OccurrenceCompletion;
      due: VersionedValue<DueState> | undefined;
      wasFailing: boolean;
    }
  /** The schedule was deleted meanwhile, or its state in etcd cannot be read. */
  | { kind: "deleted" }
  /** The running key no longer belongs to this worker: the session was lost, or the key was deleted. */
  | { kind: "preempted" };

/**
 * Completes an occurrence. One transaction, guarded by its running key and by the state of the schedule, deletes the
 * running key, writes the new state, adds the outcome to the history, and adds the runs of the schedules that follow. If an
 * operator has changed the state meanwhile, the new state is computed again from the changed one.
 * @param until how long calls to an unreachable etcd are retried
 * @throws StoreError
 */
export async function completeTask(
  ports: SchedulePorts,
  claimed: ClaimedOccurrence,
  ended: EndedOccurrence,
  until: MonotonicTime,
): Promise<TaskCompletion> {
  const { definition, running, token } = claimed;
  const limits = limitAge(definition, ports.settings.retention?.age);
  let { due, outcomes } = claimed;
  let mayRemove = true;
  const unit = ports.random.generateFraction();
  for (;;) {
    const completed = completeOccurrence(definition, due.value, ended, unit, claimed.getTiming());
    const end = buildEnd(claimed, ended, completed);
    const dead = completed.isDead ? buildDeadLetter(claimed.open, ended.outcome) : undefined;
    const addOutcome = (before: OutcomeHistory) => addOutcomes(before, [ended.outcome], limits, dead);
    const history = addOutcome(outcomes.value);
    const successors =
      end === undefined
        ? { ...NO_SUCCESSORS, due: completed.due }
        : await retryUnavailable(ports, until, (call) => prepareSuccessors(ports, completed.due, end, call));
    const result = { ...completed, due: successors.due };
    const isRemoved: boolean = mayRemove && isRemovedAfter(definition, result);
    const resultSession = isRemoved ? await claimed.chooseResultSession() : undefined;
    const step = { result, history, successors, isRemoved, resultSession };
    const txn = buildCompletionTxn(ports, { ...claimed, due, outcomes }, step);
    const answer = await commitCompletion(ports, txn, { isRemoved, until });
    if (answer === undefined) {
      ports.log.warn("this worker's role may not remove schedules, so it stays", { schedule: claimed.id });
      mayRemove = false;
      continue;
    }
    const seen = parseCompletionAnswer(answer);
    // A refused call may follow an earlier copy of itself that was applied, and whose answer was lost.
    if (answer.succeeded || hasCompleted(seen, running.run)) {
      const known = answer.succeeded ? findMissedOutcomes(answer) : seen.outcomes;
      await writeMissedOutcomes(ports, claimed, known, addOutcome, until);
      const own = isRemoved ? undefined : { value: result.due, mod: answer.revision };
      const wasFailing = isFailing((known ?? outcomes).value, running.run);
      return { kind: "settled", finish: result, due: answer.succeeded ? own : seen.due, wasFailing };
    }
    // An earlier copy of this call may have removed the schedule.
    if (isRemoved && seen.token === undefined && seen.dueMod === 0n) return { kind: "deleted" };
    if (seen.token !== token) {
      if (seen.token === undefined && seen.due !== undefined)
        await removeMark(ports, claimed, seen.due, until);
      return { kind: "preempted" };
    }
    mayRemove &&= seen.dueMod !== due.mod; // otherwise its definition has changed
    if (seen.due !== undefined) ({ due, outcomes } = { due: seen.due, outcomes: seen.outcomes });
    else if (await deleteRunningKey(ports, claimed, seen.dueMod, until)) return { kind: "deleted" };
  }
}

/** @returns undefined if it would remove the schedule, and the worker may not delete definitions */
async function commitCompletion(
  ports: SchedulePorts,
  txn: Txn,
  { isRemoved, until }: { isRemoved: boolean; until: MonotonicTime },
): Promise<TxnResponse | undefined> {
  try {
    return await commitUntil(ports, txn, until);
  } catch (error) {
    if (isRemoved && error instanceof StoreError && error.kind === "permission") return undefined;
    throw error;
  }
}

/** Builds the end of an occurrence for the schedules that follow; undefined if none follows, or the occurrence has not ended. */
function buildEnd(
  { id, open, running, definition }: ClaimedOccurrence,
  { outcome: { endedAt, result } }: EndedOccurrence,
  { due, isOver, isDead }: OccurrenceCompletion,
): HandedEnd | undefined {
  if (!isOver || due.successors === undefined) return undefined;
  const { scheduled, run } = running;
  const trace = buildTraceVariables(
    createTaskTrace({ run, definition: mergeOwnInput({ definition, open }) }),
  );
  const data = open.data !== undefined && { data: open.data };
  return { id, scheduled, run, endedAt, result, ...data, trace, isDead, upTo: "" };
}

interface CompletionStep {
  result: OccurrenceCompletion;
  history: OutcomeHistory;
  successors: SuccessorWrites;
  isRemoved: boolean;
  resultSession: bigint | undefined;
}

/** Builds the completion, which can remove the schedule, unless its definition was changed since the claim. */
function buildCompletionTxn(
  { keys }: SchedulePorts,
  claimed: ClaimedOccurrence,
  { result, history, successors, isRemoved, resultSession }: CompletionStep,
): Txn {
  const { id, host, key, token, checkpoint } = claimed;
  const [due, outcomes] = [keys.due(id, host), keys.outcomes(id, host)];
  const type = getScheduleType(id, claimed.definition);
  const isForgotten = checkpoint.mayExist && result.isOver && !result.isDead;
  const deleted = [key, ...(isForgotten ? [checkpoint.key] : [])];
  const listDeletions = (...more: string[]) =>
    [...deleted, ...more].map((one): Op => ({ op: "delete", key: one }));
  const removing =
    resultSession === undefined
      ? listDeletions(keys.schedule(id), due, outcomes)
      : [
          ...listDeletions(keys.schedule(id), due),
          {
            op: "put",
            key: outcomes,
            value: formatOutcomes({ ...history, type }),
            session: resultSession,
          } as const,
        ];
  const ending: Op[] = [
    { op: "put", key: due, value: formatDue(result.due) },
    ...listDeletions(),
    ...successors.writes,
    { op: "txn", txn: buildOutcomesTxn(outcomes, history, claimed.outcomes.mod) },
  ];
  return {
    compare: [
      ...guardOwn(keys, claimed, claimed.due.mod),
      ...(isRemoved ? guardNotNewer(token, { key: keys.schedule(id) }) : successors.compare),
    ],
    success: isRemoved ? removing : ending,
    failure: [key, due, outcomes].map((one) => ({ op: "range", key: one })),
  };
}

/** Guards the running key of this worker, and the state of the schedule. */
function guardOwn(keys: Keys, { id, host, key, token }: ClaimedOccurrence, dueMod: bigint): Compare[] {
  return [{ key, target: "create", is: "equal", value: token }, guardRevision(keys.due(id, host), dueMod)];
}

/** Commits a transaction. Retries until `until` while etcd is unreachable. */
function commitUntil(ports: SchedulePorts, txn: Txn, until: MonotonicTime): Promise<TxnResponse> {
  return retryUnavailable(ports, until, (signal) => ports.store.commitTxn(txn, signal));
}

/**
 * Builds the nested transaction for the outcome history. It is nested so that a conflict in the history never delays
 * the completion.
 */
function buildOutcomesTxn(key: string, history: OutcomeHistory, mod: bigint): Txn {
  return {
    compare: [guardRevision(key, mod)],
    success: [{ op: "put", key, value: formatOutcomes(history) }],
    failure: [{ op: "range", key }],
  };
}

/**
 * Lets other workers start an occurrence again at once: the running key has vanished, and the task has ended. Otherwise they wait
 * until this worker has gone, and the time to live has passed.
 */
async function removeMark(
  ports: SchedulePorts,
  { id, host, key, running }: ClaimedOccurrence,
  due: VersionedValue<DueState>,
  until: MonotonicTime,
): Promise<void> {
  const stateKey = ports.keys.due(id, host);
  const isOwn = ({ session }: OpenOccurrence) => session?.run === running.run;
  for (let seen: typeof due | undefined = due; seen?.value.open.some(isOwn); ) {
    const { value, mod }: typeof due = seen;
    const open = value.open.map((one) => (isOwn(one) ? forgetSession(one) : one));
    const txn: Txn = {
      compare: [...guardAbsent([key]), guardRevision(stateKey, mod)],
      success: [{ op: "put", key: stateKey, value: formatDue({ ...value, open }) }],
      failure: [{ op: "range", key: stateKey }],
    };
    const answer = await commitUntil(ports, txn, until);
    const changed = answer.succeeded ? undefined : toVersionedDue(findFirstKey(answer.results[0]));
    seen = changed?.mod === mod ? undefined : changed; // unchanged: the key is that of another start
  }
}

function toVersionedDue(kv: KeyValue | undefined): VersionedValue<DueState> | undefined {
  const parsed = kv && parseDue(kv.value);
  return parsed === undefined || "fault" in parsed
    ? undefined
    : { value: parsed.value, mod: kv?.modRevision ?? 0n };
}

function hasCompleted({ due, outcomes }: ReturnType<typeof parseCompletionAnswer>, run: string): boolean {
  return due?.value.last?.run === run || hasOutcome(outcomes.value, run);
}

function parseCompletionAnswer({ results: [running, due, outcomes] }: TxnResponse): {
  token: bigint | undefined;
  due: ClaimedOccurrence["due"] | undefined;
  /** 0n if the key does not exist. */
  dueMod: bigint;
  outcomes: VersionedValue<OutcomeHistory>;
} {
  const state = findFirstKey(due);
  return {
    token: findFirstKey(running)?.createRevision,
    due: toVersionedDue(state),
    dueMod: state?.modRevision ?? 0n,
    outcomes: toVersionedOutcomes(findFirstKey(outcomes)),
  };
}

/** Returns the stored outcome history if the transaction was applied without writing the history. */
function findMissedOutcomes({ results }: TxnResponse): VersionedValue<OutcomeHistory> | undefined {
  const nested = results.at(-1);
  if (nested?.op !== "txn" || nested.succeeded) return undefined;
  return toVersionedOutcomes(findFirstKey(nested.results[0]));
}

/** Adds an outcome that the completion did not write to the history. Keeps what others wrote meanwhile. */
async function writeMissedOutcomes(
  ports: SchedulePorts,
  { id, host, running }: ClaimedOccurrence,
  known: VersionedValue<OutcomeHistory> | undefined,
  addOutcome: (before: OutcomeHistory) => OutcomeHistory,
  until: MonotonicTime,
): Promise<void> {
  for (let seen = known; seen !== undefined && !hasOutcome(seen.value, running.run); ) {
    const txn = buildOutcomesTxn(ports.keys.outcomes(id, host), addOutcome(seen.value), seen.mod);
    const answer = await commitUntil(ports, txn, until);
    seen = answer.succeeded ? undefined : toVersionedOutcomes(findFirstKey(answer.results[0]));
  }
}

function hasOutcome({ runs }: OutcomeHistory, run: string): boolean {
  return runs.some((one) => one.run === run);
}

/**
 * Deletes the running key of an occurrence whose schedule has no readable state; its outcome is not stored.
 * @returns false if the state has changed meanwhile
 */
async function deleteRunningKey(
  ports: SchedulePorts,
  claimed: ClaimedOccurrence,
  dueMod: bigint,
  until: MonotonicTime,
): Promise<boolean> {
  const txn: Txn = {
    compare: guardOwn(ports.keys, claimed, dueMod),
    success: [{ op: "delete", key: claimed.key }],
    failure: [],
  };
  return (await commitUntil(ports, txn, until)).succeeded;
}

/** Applies a completion of this process to the cache, before the watch delivers it. */
export function applyCompletion(
  cache: ScheduleCache,
  keys: Keys,
  { id, host, key, token }: ClaimedOccurrence,
  completion: TaskCompletion,
): void {
  if (completion.kind === "settled" && completion.due !== undefined)
    cache.applyPut(buildKeyValue(keys.due(id, host), formatDue(completion.due.value), completion.due.mod));
  cache.deleteRunning(id, key, token);
}

/**
 * Ends a start with its outcome. `retry` is a failure if the occurrence has asked for it too often.
 * @param taskResult result of the handler
 * @param times  `took`: by the monotonic clock, which nobody sets
 */
export function endOccurrence(
  { definition, running, token, open }: ClaimedOccurrence,
  taskResult: TaskResult,
  { endedAt, took }: { endedAt: WallTime; took: Millis },
): EndedOccurrence {
  const { scheduled, run, worker, host, attempt, since, late } = running;
  const { wait, code, errorCode, tail, value, leases, waited } = taskResult;
  const fault = taskResult.result === "retry" ? findPostponementFault(open) : undefined;
  const result = fault === undefined ? taskResult.result : "failed";
  const deviation = findDeviation(getExpectation(definition), result, took);
  const reason = [taskResult.reason, fault].filter((text) => text !== undefined).join("; ") || undefined;
  const outcome = {
    scheduled,
    run,
    worker,
    host,
    attempt,
    startedAt: since,
    endedAt,
    late,
    token: String(token),
    result,
    ...pickDefined({ deviation, reason, code, errorCode, tail, value, leases, waited }),
  };
  return { outcome, wait };
}
