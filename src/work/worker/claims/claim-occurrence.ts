import { generateRunId } from "../../../base/ids.ts";
import { retryUnavailable } from "../../../etcd/retry.ts";
import { guardAbsent, guardNotNewer, guardRevision } from "../../../protocol/guards.ts";
import {
  type Compare,
  findFirstKey,
  type KeyValue,
  type Op,
  type Txn,
  type TxnResponse,
} from "../../../protocol/txn.ts";
import type { Definition } from "../../../schedule/definition.ts";
import { type DueState, formatDue, type OpenOccurrence } from "../../../schedule/state/due.ts";
import { type Candidate, canOverlap } from "../../../schedule/state/next-candidate.ts";
import {
  addOutcomes,
  formatOutcomes,
  type OccurrenceOutcome,
  type OutcomeHistory,
  parseOutcomes,
} from "../../../schedule/state/outcome.ts";
import { formatRunning, type RunningRecord } from "../../../schedule/state/running-record.ts";
import { type OccurrenceStart, startOccurrence } from "../../../schedule/state/start-occurrence.ts";
import { readWithRetries } from "../../observe/ports.ts";
import type { CachedSchedule } from "../cache/cached-schedule.ts";
import type { ScheduleCache } from "../cache/schedule-cache.ts";
import type { WorkerRegistration } from "../registration/worker-registration.ts";
import type { SchedulePorts } from "../worker-ports.ts";

/** The value of a key and its `mod_revision`; `mod` is 0n if the key does not exist. */
export interface VersionedValue<T> {
  value: T;
  mod: bigint;
}

/** A claimed occurrence. Its running key belongs to this worker. */
export interface ClaimedOccurrence {
  id: string;
  definition: Definition;
  open: OpenOccurrence;
  running: RunningRecord;
  key: string;
  /** `create_revision` of the running key: the fencing token. */
  token: bigint;
  due: VersionedValue<DueState>;
  outcomes: VersionedValue<OutcomeHistory>;
}

/** Result of a claim attempt. `missed`: another worker was faster, or a key changed. */
export type OccurrenceClaimResult =
  | { kind: "claimed"; claimed: ClaimedOccurrence; outcomes: readonly OccurrenceOutcome[] }
  | { kind: "skipped"; outcomes: readonly OccurrenceOutcome[]; isDead: boolean }
  | { kind: "missed" };

export interface ClaimContext {
  ports: SchedulePorts;
  registration: WorkerRegistration;
  cache: ScheduleCache;
  host: string;
  pid: number;
}

/**
 * Claims the next occurrence of a schedule. One transaction writes the running key with the worker's session and the
 * next state of the schedule; its guards cover every key that the decision depends on. Retries while the session lives:
 * a claim without an answer may have been applied, and its running key lives as long as the session.
 * @throws StoreError when etcd refuses; SessionLost
 */
export async function claimOccurrence(
  context: ClaimContext,
  entry: CachedSchedule,
  candidate: Candidate,
): Promise<OccurrenceClaimResult> {
  const { ports, registration, cache } = context;
  const now = ports.clock.getWallTime();
  const { definition, due } = entry;
  const timing = cache.getTiming(entry);
  if (definition === undefined || due === undefined || timing === undefined) return { kind: "missed" };
  const start = startOccurrence(definition, timing, due, candidate, now);
  const outcomes = start.outcomes.length === 0 ? undefined : await readOutcomes(ports, entry.id);
  const running = start.occurrence && buildRunning(context, start.occurrence, now);
  const txn = buildClaimTxn(context, entry, start, running, outcomes);
  const call = (signal: AbortSignal) => ports.store.commitTxn(txn, signal);
  const answer = await retryUnavailable(ports, Number.POSITIVE_INFINITY, call, registration.session.signal);
  if (answer.succeeded)
    cache.applyPut(buildKeyValue(ports.keys.due(entry.id), formatDue(start.due), answer.revision));
  const result = parseClaimAnswer({ ports, entry, start, running }, answer);
  if (result.kind === "claimed")
    cache.applyPut(
      buildKeyValue(result.claimed.key, formatRunning(result.claimed.running), result.claimed.token),
    );
  return result;
}

function buildRunning(
  { registration, host, pid, ports }: ClaimContext,
  open: OpenOccurrence,
  now: number,
): RunningRecord {
  return {
    ...{ worker: registration.id, host, pid, run: generateRunId(ports.random) },
    ...{ scheduled: open.scheduled, attempt: open.attempt, since: now, late: Math.max(0, now - open.runAt) },
  };
}

function buildClaimTxn(
  { ports: { keys }, registration, cache }: ClaimContext,
  entry: CachedSchedule,
  { due, outcomes: added, dead }: OccurrenceStart,
  running: RunningRecord | undefined,
  before: VersionedValue<OutcomeHistory> | undefined,
): Txn {
  const { id, definition, definitionMod, dueMod } = entry;
  const key = running && getRunningKey(keys, id, definition, running.scheduled);
  const outcomesValue = before && formatOutcomes(addOutcomes(before.value, added, dead));
  const puts: Op[] = [
    { op: "put", key: keys.due(id), value: formatDue(due) },
    ...(key && running
      ? [{ op: "put", key, value: formatRunning(running), session: registration.session.id } as const]
      : []),
    ...(outcomesValue === undefined
      ? []
      : [{ op: "put", key: keys.outcomes(id), value: outcomesValue } as const]),
  ];
  const reads: Op = { op: "range", key: keys.outcomes(id) };
  const unchanged = [guardRevision(keys.schedule(id), definitionMod), guardRevision(keys.due(id), dueMod)];
  const rules = [keys.drains(), ...(definition?.group === undefined ? [] : [keys.groups()])];
  return {
    compare: [
      ...unchanged,
      ...buildRunningGuards(keys, id, definition, running),
      ...guardNotNewer(cache.revision, ...rules),
      ...(before === undefined ? [] : [guardRevision(keys.outcomes(id), before.mod)]),
    ],
    success: [...puts, reads],
    failure: [{ op: "range", key: key ?? keys.running(id) }, reads],
  };
}

type ScheduleKeys = SchedulePorts["keys"];

/** Returns the running key. With `overlap: allow`, each occurrence has its own key. */
function getRunningKey(
  keys: ScheduleKeys,
  id: string,
  definition: Definition | undefined,
  scheduled: number,
): string {
  return keys.running(id, canOverlap(definition) ? scheduled : undefined);
}

/**
 * Builds the guards against running occurrences. With `overlap: allow`, only this occurrence must not run; otherwise no
 * occurrence may run.
 */
function buildRunningGuards(
  keys: ScheduleKeys,
  id: string,
  definition: Definition | undefined,
  running: RunningRecord | undefined,
): Compare[] {
  if (canOverlap(definition))
    return guardAbsent([keys.running(id), ...(running ? [keys.running(id, running.scheduled)] : [])]);
  return [
    ...guardAbsent([keys.running(id)]),
    { ...keys.getOccurrenceRange(id), target: "create", is: "equal", value: 0n },
  ];
}

interface PreparedClaim {
  ports: SchedulePorts;
  entry: CachedSchedule;
  start: OccurrenceStart;
  running: RunningRecord | undefined;
}

/**
 * Reads the answer to a claim. A claim may be refused because an earlier copy of it was applied; the answer then
 * contains its own running key.
 */
function parseClaimAnswer(
  { ports: { keys }, entry, start, running }: PreparedClaim,
  answer: TxnResponse,
): OccurrenceClaimResult {
  const { id, definition } = entry;
  const key = running && getRunningKey(keys, id, definition, running.scheduled);
  const [found] = answer.results;
  const own =
    !answer.succeeded && found?.op === "range"
      ? found.kvs.find(({ value }) => isOwn(value, running))
      : undefined;
  if (!answer.succeeded && own === undefined) return { kind: "missed" };
  if (
    key === undefined ||
    running === undefined ||
    start.occurrence === undefined ||
    definition === undefined
  )
    return { kind: "skipped", outcomes: start.outcomes, isDead: start.dead !== undefined };
  const token = own?.createRevision ?? answer.revision;
  const claimed = {
    id,
    definition,
    open: start.occurrence,
    running,
    key,
    token,
    due: { value: start.due, mod: token },
    outcomes: toVersionedOutcomes(findFirstKey(answer.results.at(-1))),
  };
  return { kind: "claimed", claimed, outcomes: start.outcomes };
}

function isOwn(value: string, running: RunningRecord | undefined): boolean {
  return running !== undefined && value === formatRunning(running);
}

/** Parses the outcome history of a schedule from its key. */
export function toVersionedOutcomes(kv: KeyValue | undefined): VersionedValue<OutcomeHistory> {
  return { value: parseOutcomes(kv?.value), mod: kv?.modRevision ?? 0n };
}

async function readOutcomes(ports: SchedulePorts, id: string): Promise<VersionedValue<OutcomeHistory>> {
  const { kvs } = await readWithRetries(ports, { key: ports.keys.outcomes(id) });
  return toVersionedOutcomes(kvs[0]);
}

/** Builds the key-value that a transaction of this process wrote, for the cache. */
export function buildKeyValue(key: string, value: string, revision: bigint): KeyValue {
  return { key, value, createRevision: revision, modRevision: revision, session: 0n };
}
