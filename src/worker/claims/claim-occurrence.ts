import { NEVER, type WallTime } from "../../core/base/clock.ts";
import { generateRunId } from "../../core/base/ids.ts";
import { retryUnavailable } from "../../core/etcd/store.ts";
import { guardAbsent, guardRevision } from "../../core/protocol/guards.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import { guardSchema } from "../../core/protocol/schema.ts";
import { parseRevision } from "../../core/protocol/ticket.ts";
import {
  type Compare,
  findFirstKey,
  type KeyValue,
  listKeyValues,
  type Op,
  type OpResult,
  type Txn,
  type TxnResponse,
} from "../../core/protocol/txn.ts";
import type { VanishedTickets } from "../../core/run/vanished-tickets.ts";
import { listCalendarNames } from "../../schedule/calendar/day-rule.ts";
import type { Definition } from "../../schedule/definition.ts";
import type { Boot } from "../../schedule/state/boot.ts";
import { noteEnd } from "../../schedule/state/chain.ts";
import { parseCheckpoint } from "../../schedule/state/checkpoint.ts";
import { type DueState, formatDue, type HandedEnd, type OpenOccurrence } from "../../schedule/state/due.ts";
import { type Candidate, canOverlap } from "../../schedule/state/next-candidate.ts";
import {
  addOutcomes,
  formatOutcomes,
  isFailing,
  limitAge,
  type OccurrenceOutcome,
  type OutcomeHistory,
  parseOutcomes,
} from "../../schedule/state/outcome.ts";
import { formatRunning, parseRunning, type RunningRecord } from "../../schedule/state/running-record.ts";
import {
  needsCalendars,
  type OccurrenceStart,
  startOccurrence,
} from "../../schedule/state/start-occurrence.ts";
import { createTiming, NEVER_DUE, type Timing } from "../../schedule/timing.ts";
import { readWithRetries } from "../../site/observe/ports.ts";
import type { CachedSchedule } from "../cache/cached-schedule.ts";
import type { ScheduleCache } from "../cache/schedule-cache.ts";
import type { WorkerRegistration } from "../registration/worker-registration.ts";
import type { SchedulePorts } from "../worker-ports.ts";
import type { ConditionGate } from "./condition-gate.ts";
import { prepareHandOver } from "./successors.ts";

/** The value of a key and its `mod_revision`; `mod` is 0n if the key does not exist. */
export interface VersionedValue<T> {
  value: T;
  mod: bigint;
}

/** A claimed occurrence. Its running key belongs to this worker. */
export interface ClaimedOccurrence {
  id: string;
  /** The host whose state it is, if the schedule runs on every host. */
  host: string | undefined;
  /** See `buildStateName`. */
  name: string;
  definition: Definition;
  open: OpenOccurrence;
  running: RunningRecord;
  key: string;
  /** `create_revision` of the running key: the fencing token. */
  token: bigint;
  due: VersionedValue<DueState>;
  outcomes: VersionedValue<OutcomeHistory>;
  checkpoint: {
    key: string;
    /** What an earlier start has saved. */
    last: string | undefined;
    /** Whether the key may exist, with a checkpoint of this occurrence. */
    mayExist: boolean;
  };
  /** Returns the timing of the schedule as it is now: what comes after an end depends on it. */
  getTiming(): Timing;
  /** Returns the session for the outcomes of a schedule that is removed; undefined if they are not kept. @throws StoreError */
  chooseResultSession(): Promise<bigint | undefined>;
}

/** Outcomes of occurrences that a claim did not start, and whether the result before them was a failure. */
export interface UnstartedOutcomes {
  outcomes: readonly OccurrenceOutcome[];
  wasFailing: boolean;
}

export type OccurrenceClaimResult =
  | ({ kind: "claimed"; claimed: ClaimedOccurrence } & UnstartedOutcomes)
  | ({ kind: "skipped"; isDead: boolean } & UnstartedOutcomes)
  | MissedClaim
  /** Conditions do not hold on this host. They are checked again at `until`. */
  | { kind: "unmet"; until: WallTime };

/** Another worker was faster, or a key changed; or an earlier start may still run, until this instant. */
interface MissedClaim {
  kind: "missed";
  until?: WallTime;
  /** Whether the cache had an older state of the schedule than etcd. The watch will deliver what is missing. */
  isOutdated?: boolean;
}

export interface ClaimContext {
  ports: SchedulePorts;
  registration: WorkerRegistration;
  cache: ScheduleCache;
  /** The starts whose running keys have vanished. */
  vanished: VanishedTickets;
  conditions: ConditionGate;
  host: string;
  pid: number;
  /** Reads the boot of this host; undefined if it has none to tell. */
  readBoot?: (() => Boot) | undefined;
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
  if (candidate.end !== undefined) return await handOver(context, entry, candidate.end);
  const { ports, cache } = context;
  const verdict = context.conditions.judge(entry, candidate, ports.clock.getWallTime());
  if (verdict.kind === "wait") return { kind: "unmet", until: verdict.until };
  const claim = prepareClaim(context, entry, candidate, verdict.kind === "skip" ? verdict.why : undefined);
  if (claim === undefined) return { kind: "missed" };
  const missed = await checkEarlierStarts(context, entry, candidate);
  if (missed !== undefined) return missed;
  const { id, host } = claim.about;
  const outcomes = claim.start.outcomes.length === 0 ? undefined : await readOutcomes(ports, id, host);
  const answer = await commitInSession(context, buildClaimTxn(context, claim, outcomes));
  if (answer.succeeded) cache.applyPut(buildKeyValue(ports.keys.due(id, host), claim.due, answer.revision));
  const result = parseClaimAnswer(claim, answer, outcomes !== undefined && isFailing(outcomes.value));
  if (result.kind === "claimed") {
    const { key, token } = result.claimed;
    const session = context.registration.session.id;
    cache.applyPut({ ...buildKeyValue(key, claim.running?.value ?? "", token), session });
  } else if (result.kind === "missed" && !hasChanged(claim.basis, answer.results.slice(1)))
    await readRunning(context, entry); // the state does not say what refused it
  return result;
}

/** Commits a transaction. Retries until the session is lost, or the worker leaves. */
function commitInSession(
  { ports, registration }: Pick<ClaimContext, "ports" | "registration">,
  txn: Txn,
): Promise<TxnResponse> {
  const call = (signal: AbortSignal) => ports.store.commitTxn(txn, signal);
  return retryUnavailable(ports, NEVER, call, registration.signal);
}

/** Gives an end to further schedules that follow. */
async function handOver(
  context: ClaimContext,
  { id, due, dueMod }: CachedSchedule,
  end: HandedEnd,
): Promise<OccurrenceClaimResult> {
  if (due === undefined) return { kind: "missed" };
  const { ports, registration, cache } = context;
  const step = await prepareHandOver(ports, { id, due, dueMod }, end, registration.session.signal);
  const { succeeded, revision } = await commitInSession(context, step.txn);
  if (!succeeded) return { kind: "missed" };
  cache.applyPut(buildKeyValue(ports.keys.due(id), step.due, revision));
  return { kind: "skipped", outcomes: [], wasFailing: false, isDead: false };
}

/**
 * Checks whether a start of the schedule may still run whose running key is missing. Its worker's session has ended, and
 * etcd may have revoked it before its time: see `VanishedTickets`. The cache can have the state of a start without its running
 * key, so etcd is asked. If the key is there, the watch will deliver it.
 * @returns undefined if there is none
 */
async function checkEarlierStarts(
  context: ClaimContext,
  { id, host, definition, due, running }: CachedSchedule,
  { open }: Candidate,
): Promise<MissedClaim | undefined> {
  const started = canOverlap(definition) ? (open === undefined ? [] : [open]) : (due?.open ?? []);
  const known = new Set([...running.values()].map((one) => one.running?.run));
  const missing = started.flatMap(({ session }) =>
    session === undefined || known.has(session.run)
      ? []
      : [{ key: session.run, vanished: { ttl: session.ttl, term: parseRevision(session.term) } }],
  );
  if (missing.length === 0) return undefined;
  const { raftTerm, kvs } = await readRunning(context, { id, host });
  const present = new Set(kvs.flatMap(({ value }) => parseRun(value)));
  if (missing.some(({ key }) => present.has(key))) return { kind: "missed", isOutdated: true };
  const ends = [...context.vanished.update(missing, raftTerm).values()].filter((end) => end !== undefined);
  return ends.length === 0 ? undefined : { kind: "missed", until: Math.max(...ends) };
}

/** What reads running keys. */
export type RunningReader = Pick<ClaimContext, "ports" | "registration" | "cache">;

/**
 * Reads the running keys that keep a schedule from its next start into the cache: the watch does not show their start.
 * @throws StoreError; SessionLost
 */
export function readRunning(
  context: RunningReader,
  { id, host }: Pick<CachedSchedule, "id" | "host">,
): Promise<Pick<TxnResponse, "raftTerm"> & { kvs: readonly KeyValue[] }> {
  const { keys } = context.ports;
  const ranges = [{ key: keys.running(id) }, keys.getOccurrenceRange(id, host)];
  const success = ranges.map((range): Op => ({ op: "range", ...range }));
  return context.cache.addRunning(async () => {
    const { raftTerm, results } = await commitInSession(context, { compare: [], success, failure: [] });
    return { raftTerm, kvs: results.flatMap(listKeyValues) };
  });
}

function parseRun(value: string): string[] {
  const running = parseRunning(value);
  return "value" in running ? [running.value.run] : [];
}

/** A decided claim. */
interface PreparedClaim {
  /** What the occurrence has however it starts. `mayExist`: an earlier start may have saved a checkpoint. */
  about: Pick<
    ClaimedOccurrence,
    "id" | "host" | "name" | "definition" | "checkpoint" | "getTiming" | "chooseResultSession"
  >;
  start: OccurrenceStart;
  /** The state to write. */
  due: string;
  /** The record to write, as an object and as text, and its key; undefined if nothing starts. */
  running: { key: string; record: RunningRecord; value: string } | undefined;
  /** Guards on the definition and the state, and on everything else that the decision depends on. */
  basis: Compare[];
  guards: Compare[];
}

/** Decides a claim from the cache, and builds its guards at the same time: the cache changes during later reads. */
function prepareClaim(
  context: ClaimContext,
  entry: CachedSchedule,
  candidate: Candidate,
  unmet: string | undefined,
): PreparedClaim | undefined {
  const { cache, ports } = context;
  const { keys } = ports;
  const now = ports.clock.getWallTime();
  const { id, host, name, definition, definitionMod, due, dueMod } = entry;
  // What was started or triggered before needs no calendar.
  const { open } = candidate;
  const isFree = open !== undefined && !needsCalendars(open);
  const getTiming = () => cache.getTiming(entry) ?? createTimingWithoutCalendars(entry);
  const timing = isFree ? getTiming() : cache.getTiming(entry);
  if (definition === undefined || due === undefined || timing === undefined) return undefined;
  const decided = noteGivenUp(
    id,
    addHost(startOccurrence(definition, timing, due, candidate, now, unmet), host),
  );
  const record = decided.occurrence && buildRunning(context, decided.occurrence, now);
  const start = record === undefined ? decided : addSession(decided, record.run, context.registration);
  const key = buildRunningKey(keys, entry, record?.scheduled);
  const rules = [
    keys.drains(),
    ...(definition.group === undefined ? [] : [keys.groups()]),
    ...(listCalendarNames(definition).length === 0 ? [] : [keys.calendars()]),
  ];
  const basis = [guardRevision(keys.schedule(id), definitionMod), guardRevision(keys.due(id, host), dueMod)];
  const guards = [guardSchema(keys), ...buildRunningGuards(keys, entry, key), ...cache.guardRules(...rules)];
  const running = record && { key, record, value: formatRunning(record) };
  const checkpoint = {
    key: keys.checkpoint(id, host, record?.scheduled ?? 0),
    last: undefined,
    mayExist: record !== undefined && open !== undefined,
  };
  const { keepResult } = definition;
  const chooseResultSession = async () =>
    keepResult ? await context.registration.expiry.choose(keepResult).id : undefined;
  const about = { id, host, name, definition, checkpoint, getTiming, chooseResultSession };
  return { about, start, due: formatDue(start.due), running, basis, guards };
}

function createTimingWithoutCalendars({ name, definition }: CachedSchedule): Timing {
  if (definition === undefined) return NEVER_DUE;
  const { except: _, only: __, ...rest } = definition;
  return createTiming(name, rest);
}

/** Adds the host to the outcomes of what did not start there: listings show the outcomes of all hosts together. */
function addHost(start: OccurrenceStart, host: string | undefined): OccurrenceStart {
  if (host === undefined) return start;
  const { dead } = start;
  return {
    ...start,
    outcomes: start.outcomes.map((one) => ({ ...one, host })),
    ...(dead !== undefined && { dead: { ...dead, host } }),
  };
}

/** Adds the session to the occurrence that starts: other workers see by it that it runs, and the running key is on it. */
function addSession(
  start: OccurrenceStart,
  run: string,
  { id: worker, session: { ttl, grantTerm } }: WorkerRegistration,
): OccurrenceStart {
  const { occurrence, due } = start;
  if (occurrence === undefined) return start;
  const session: OpenOccurrence["session"] = { worker, run, ttl: Math.ceil(ttl / 1000) };
  if (grantTerm !== undefined) session.term = String(grantTerm);
  const marked = { ...occurrence, session };
  const open = due.open.map((one) => (one === occurrence ? marked : one));
  return { ...start, occurrence: marked, due: { ...due, open } };
}

/** Notes the end of an occurrence that the claim gives up, for the schedules that follow: the next step hands it on. */
function noteGivenUp(id: string, start: OccurrenceStart): OccurrenceStart {
  if (start.dead === undefined) return start;
  const { scheduled, endedAt, result, data } = start.dead;
  const end = { id, scheduled, endedAt, result, ...(data !== undefined && { data }), isDead: true };
  return { ...start, due: noteEnd(start.due, { ...end, upTo: "" }) };
}

function buildRunning(
  { registration, host, pid, ports }: ClaimContext,
  open: OpenOccurrence,
  now: WallTime,
): RunningRecord {
  return {
    worker: registration.id,
    host,
    pid,
    run: generateRunId(ports.random),
    scheduled: open.scheduled,
    attempt: open.attempt,
    since: now,
    late: Math.max(0, now - open.runAt),
  };
}

/** With `overlap: allow`, and on every host, each occurrence has its own key. */
function buildRunningKey(keys: Keys, { id, host, definition }: CachedSchedule, scheduled?: WallTime): string {
  if (host !== undefined) return keys.runningOnHost(id, host, scheduled ?? 0);
  return keys.running(id, canOverlap(definition) ? scheduled : undefined);
}

/**
 * Builds the guards against running occurrences. With `overlap: allow`, only this occurrence must not run; otherwise no
 * occurrence may run, or none on the host.
 */
function buildRunningGuards(keys: Keys, { id, host, definition }: CachedSchedule, key: string): Compare[] {
  const own = guardAbsent([...new Set([keys.running(id), key])]);
  if (canOverlap(definition)) return own;
  return [...own, { ...keys.getOccurrenceRange(id, host), target: "create", is: "equal", value: 0n }];
}

function buildClaimTxn(
  { ports: { keys, settings }, registration }: ClaimContext,
  claim: PreparedClaim,
  before: VersionedValue<OutcomeHistory> | undefined,
): Txn {
  const { about, start, due, running, basis, guards } = claim;
  const { id, host, definition, checkpoint } = about;
  const session = registration.session.id;
  const outcomes = keys.outcomes(id, host);
  const success: Op[] = [{ op: "put", key: keys.due(id, host), value: due }];
  if (running !== undefined) success.push({ op: "put", key: running.key, value: running.value, session });
  if (before !== undefined) {
    const limits = limitAge(definition, settings.retention?.age);
    const value = formatOutcomes(addOutcomes(before.value, start.outcomes, limits, start.dead));
    success.push({ op: "put", key: outcomes, value });
  }
  const read: Op[] = [{ op: "range", key: outcomes }];
  if (checkpoint.mayExist) read.unshift({ op: "range", key: checkpoint.key });
  return {
    compare: [...basis, ...guards, ...(before === undefined ? [] : [guardRevision(outcomes, before.mod)])],
    success: [...success, ...read],
    failure: [
      { op: "range", key: running?.key ?? keys.running(id) },
      ...basis.map(({ key }): Op => ({ op: "range", key })),
      ...read,
    ],
  };
}

/**
 * Reads the answer to a claim. A claim may be refused because an earlier copy of it was applied; the answer then
 * contains its own running key.
 */
function parseClaimAnswer(
  { about, start, running, basis }: PreparedClaim,
  answer: TxnResponse,
  wasFailing: boolean,
): OccurrenceClaimResult {
  const found = answer.succeeded ? undefined : findFirstKey(answer.results[0]);
  const isOwn = running !== undefined && found?.value === running.value;
  if (!answer.succeeded && !isOwn)
    return { kind: "missed", isOutdated: found !== undefined || hasChanged(basis, answer.results.slice(1)) };
  if (running === undefined || start.occurrence === undefined)
    return { kind: "skipped", outcomes: start.outcomes, wasFailing, isDead: start.dead !== undefined };
  const token = found?.createRevision ?? answer.revision;
  const { key, mayExist } = about.checkpoint;
  const kept = mayExist ? findFirstKey(answer.results.at(-2)) : undefined;
  const last = kept && parseCheckpoint(kept.value, start.occurrence.backfill);
  const claimed = {
    ...about,
    open: start.occurrence,
    running: running.record,
    key: running.key,
    token,
    due: { value: start.due, mod: token },
    outcomes: toVersionedOutcomes(findFirstKey(answer.results.at(-1))),
    checkpoint: { key, last, mayExist: last !== undefined },
  };
  return { kind: "claimed", claimed, outcomes: start.outcomes, wasFailing };
}

/** Parses the outcome history of a schedule from its key. */
export function toVersionedOutcomes(kv: KeyValue | undefined): VersionedValue<OutcomeHistory> {
  return { value: parseOutcomes(kv?.value), mod: kv?.modRevision ?? 0n };
}

/** @param results  of reads of the keys */
function hasChanged(basis: readonly Compare[], results: readonly OpResult[]): boolean {
  return basis.some(({ value }, at) => (findFirstKey(results[at])?.modRevision ?? 0n) !== value);
}

async function readOutcomes(
  ports: SchedulePorts,
  id: string,
  host: string | undefined,
): Promise<VersionedValue<OutcomeHistory>> {
  const { kvs } = await readWithRetries(ports, { key: ports.keys.outcomes(id, host) });
  return toVersionedOutcomes(kvs[0]);
}

/** Builds the key-value that a transaction of this process wrote, for the cache. */
export function buildKeyValue(key: string, value: string, revision: bigint): KeyValue {
  return { key, value, createRevision: revision, modRevision: revision, session: 0n };
}
