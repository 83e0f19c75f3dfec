import * as v from "valibot";
import { type Clock, mergeSignals, NO_LONGER_NEEDED } from "../core/base/clock.ts";
import { generateRunId } from "../core/base/ids.ts";
import { memoizeWeakly } from "../core/base/memoize.ts";
import { pickDefined } from "../core/base/pick-defined.ts";
import { quoteText } from "../core/base/text.ts";
import { type ExpirySession, ExpirySessions } from "../core/etcd/session/expiry-sessions.ts";
import { StoreError } from "../core/etcd/store.ts";
import { validateName } from "../core/protocol/names.ts";
import { parseRevision } from "../core/protocol/ticket.ts";
import type { KeyValue } from "../core/protocol/txn.ts";
import {
  checkDefinition,
  type Definition,
  getScheduleType,
  isJob,
  isPaused,
} from "../schedule/definition.ts";
import { JOB_CONFLICT_RULES, JOB_RETRIES, JOB_STATES, type JobState } from "../schedule/definition-values.ts";
import { buildQueueLease } from "../schedule/serial-queue.ts";
import { isFailure, type OccurrenceOutcome, type OutcomeHistory } from "../schedule/state/outcome.ts";
import { parseRunning } from "../schedule/state/running-record.ts";
import { followEtcd, KeySink } from "../site/observe/follow.ts";
import { readWithRetries } from "../site/observe/ports.ts";
import { addJobs, isGivenUp, type PlannedJob, prepareCancellation, splitJobs } from "../site/operate/jobs.ts";
import { formatOperator, type OperatorPorts, type Receipt } from "../site/operate/operator-action.ts";
import { applyMutation, type MutationResult } from "../site/operate/schedule-mutation.ts";
import { buildMoveMutation } from "../site/operate/schedule-mutations.ts";
import {
  parseStoredSchedule,
  readAllStoredSchedules,
  readKeptOutcomes,
  readStoredSchedules,
  type StoredSchedule,
} from "../site/operate/stored-schedules.ts";
import { ClosableWait, type LibraryConnection, translated } from "./connection.ts";
import {
  ClosedError,
  ConfigError,
  JobFailedError,
  NotFoundError,
  NotSupportedError,
  TooLargeError,
  UnreachableError,
  UsageError,
} from "./errors.ts";
import { DURATION, INSTANT, parseOptions, quoteOption, SIGNAL, TEXT, TEXTS } from "./options-schema.ts";
import { buildDefinition, type ConnectionSchedules, toRunOutcomes } from "./schedules.ts";
import { captureTrace } from "./tracing.ts";
import type {
  Job,
  JobDetails,
  JobFilter,
  JobMove,
  JobOptions,
  JobQueue,
  JobReceipt,
  NewJob,
  NewSchedule,
  WatchOptions,
} from "./types.ts";

/** How long the receipts of jobs stay, ms. It must be much longer than a call takes that has lost its answer. */
const RECEIPTS_KEPT = 840_000;

/** Runs a call with a receipt. @throws StoreError, what the call throws */
type ReceiptPool = <T extends { result: MutationResult }>(
  call: (receipt: Receipt) => Promise<T>,
) => Promise<T>;

/**
 * Creates the receipts of the jobs that this program adds: one for each call at the same time, whose session lives much longer than
 * the call. Jobs leave no audit record, the outcome tells what a job has done. But a call that lost its answer must find out that it
 * was applied, also if the job has been done and removed meanwhile; otherwise the repeated call would add the job again. A receipt is
 * used again only if it is known what the call has written.
 */
function createReceiptPool(ports: OperatorPorts): ReceiptPool {
  const { keys, random } = ports;
  const sessions = new ExpirySessions(ports);
  /** The receipts that no call uses, by their session. */
  const getFree = memoizeWeakly((_: ExpirySession): Receipt[] => []);
  return async (call) => {
    const session = sessions.choose(RECEIPTS_KEPT);
    const free = getFree(session);
    try {
      const receipt = free.pop() ?? {
        key: keys.receipt(generateRunId(random)),
        session: await session.id,
        modRevision: 0n,
      };
      const answer = await call(receipt);
      const { result } = answer;
      free.push(result.kind === "done" ? { ...receipt, modRevision: result.revision } : receipt);
      return answer;
    } catch (error) {
      if (error instanceof StoreError) sessions.drop(RECEIPTS_KEPT);
      throw error;
    }
  };
}

/** An addition without an answer after this time, ms, no longer holds up the jobs that wait. */
const SLOW_ADDITION_MS = 100;
/** Largest number of jobs that are added together. More gain nothing. */
const MOST_TOGETHER = 500;

/** A job whose caller waits. */
interface WaitingJob {
  job: PlannedJob;
  added: PromiseWithResolvers<JobReceipt>;
}

/**
 * Adds jobs that come at the same time in one transaction: the first one at once, those that come before its answer together. Only for
 * jobs with random ids: none of them can be refused for what is stored, and fail the others.
 */
class JobCombiner {
  readonly #clock: Clock;
  readonly #addTogether: (jobs: readonly PlannedJob[]) => Promise<JobReceipt[]>;
  #waiting: WaitingJob[] = [];
  #isSending = false;

  /** @param addTogether  adds jobs in one transaction */
  constructor(clock: Clock, addTogether: (jobs: readonly PlannedJob[]) => Promise<JobReceipt[]>) {
    this.#clock = clock;
    this.#addTogether = addTogether;
  }

  async add(job: PlannedJob): Promise<JobReceipt> {
    const added = Promise.withResolvers<JobReceipt>();
    this.#waiting.push({ job, added });
    if (!this.#isSending) void this.#sendWaiting();
    return await added.promise;
  }

  async #sendWaiting(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const [some = []] = splitJobs(this.#waiting.slice(0, MOST_TOGETHER).map(({ job }) => job));
      const isOver = new AbortController();
      const slow = this.#clock.sleep(SLOW_ADDITION_MS, isOver.signal).catch(() => {}); // rejected: it has ended
      await Promise.race([this.#send(this.#waiting.splice(0, some.length)), slow]);
      isOver.abort(NO_LONGER_NEEDED);
    }
    this.#isSending = false;
  }

  /** Never rejects. */
  async #send(batch: readonly WaitingJob[]): Promise<void> {
    try {
      const receipts = await this.#addTogether(batch.map(({ job }) => job));
      for (const [at, { added }] of batch.entries()) added.resolve(receipts[at] as JobReceipt);
    } catch (error) {
      // An etcd that refuses them together may accept each: by its limits.
      const isRefused = !(error instanceof UnreachableError || error instanceof ClosedError);
      if (batch.length > 1 && isRefused) await Promise.all(batch.map((one) => this.#send([one])));
      else for (const { added } of batch) added.reject(error);
    }
  }
}

/** The options that are fields of the schedule are checked with it. */
const JOB_OPTIONS = {
  key: v.optional(TEXT),
  ifExists: v.optional(
    v.picklist(JOB_CONFLICT_RULES, quoteOption(`is none of ${JOB_CONFLICT_RULES.join(", ")}`)),
    "keep",
  ),
  at: v.optional(INSTANT),
  delay: v.optional(DURATION),
  queue: v.optional(TEXT),
  leases: v.optional(TEXTS),
  keepResult: v.optional(DURATION),
  ...v.entriesFromList(
    ["priority", "retries", "backoff", "timeout", "deadline", "group", "tags", "hooks"],
    v.optional(v.unknown()),
  ),
} satisfies Record<keyof JobOptions, v.GenericSchema>;

const JOB_FILTER = {
  type: v.optional(TEXT),
  state: v.optional(v.picklist(JOB_STATES, quoteOption(`is none of ${JOB_STATES.join(", ")}`))),
} satisfies Record<keyof JobFilter, v.GenericSchema>;

const CANCEL_OPTIONS = { reason: v.optional(TEXT) };
const MOVE_OPTIONS = {
  at: v.optional(INSTANT),
  delay: v.optional(DURATION),
} satisfies Record<keyof JobMove, v.GenericSchema>;

/** @see JobQueue */
export function createJobQueue(connection: LibraryConnection, schedules: ConnectionSchedules): JobQueue {
  const { ports } = connection;
  const useReceipt = createReceiptPool(ports);

  /** @throws UsageError */
  const computeStart = ({ at, delay }: v.InferOutput<v.ObjectSchema<typeof MOVE_OPTIONS, undefined>>) => {
    if (at !== undefined && delay !== undefined)
      throw new UsageError("at and delay exclude each other; leave one of them out");
    return at ?? ports.clock.getWallTime() + (delay ?? 0);
  };

  /** @param call  for messages @param env  variables of the trace @throws UsageError, ConfigError, NotSupportedError */
  const plan = (call: string, { type, data, ...options }: NewJob, env: Definition["env"]): PlannedJob => {
    const { key, at, delay, ifExists, queue, leases, ...fields } = parseOptions(call, options, JOB_OPTIONS);
    if (key === undefined && options.ifExists !== undefined)
      throw new UsageError("ifExists has an effect only with a key; add a key, or leave it out");
    validateName("job type", type);
    const start = computeStart({ at, delay });
    const held = queue === undefined ? leases : [...(leases ?? []), buildQueueLease(queue)];
    const { definition } = buildDefinition(call, {
      retries: JOB_RETRIES,
      ...(pickDefined(fields) as Partial<NewSchedule>),
      type,
      cron: "@manual",
      removeAfter: "success",
      ...(held && { leases: held }),
      ...(env && { env }),
      ...(data !== undefined && { data }),
    });
    const id = `${type}.${key ?? generateRunId(ports.random)}`;
    validateName("schedule", id);
    checkDefinition(definition);
    return { id, isUnique: key === undefined, definition, start, ifExists };
  };

  const addTogether = async (jobs: readonly PlannedJob[]): Promise<JobReceipt[]> => {
    const ids = jobs.map(({ id }) => id);
    const { result, decisions } = await schedules.applyAndRecord(ids, () =>
      useReceipt((receipt) => addJobs(ports, jobs, receipt)),
    );
    return decisions.map(({ kept, isDead }, at) => {
      const id = ids[at] ?? "";
      const since = kept ?? result.revision;
      return {
        id,
        isNew: kept === undefined,
        isDead,
        done: <R>(options?: WatchOptions) => waitForJob<R>(connection, id, since, options),
      };
    });
  };

  const combiner = new JobCombiner(ports.clock, addTogether);

  const list = async (filter: JobFilter = {}) => {
    const { type, state } = parseOptions("jobs.list", filter, JOB_FILTER);
    connection.checkOpen();
    const jobs = await translated(async () => {
      const [{ schedules }, { kvs }] = await Promise.all([
        readAllStoredSchedules(ports),
        readWithRetries(ports, ports.keys.runnings()),
      ]);
      const running = new Map(kvs.map((kv) => [kv.key, kv]));
      const now = ports.clock.getWallTime();
      const current = [...schedules.values()].flatMap(
        (one) => toJob(one, running.get(ports.keys.running(one.id)), now) ?? [],
      );
      const isEnded = state === undefined || state === "succeeded" || state === "canceled";
      const kept = isEnded ? await readKeptOutcomes(ports, (id) => schedules.has(id)) : [];
      return [...current, ...[...kept].flatMap(([id, history]) => toEndedJob(id, history) ?? [])];
    });
    return jobs
      .filter((job) => (type ?? job.type) === job.type && (state ?? job.state) === job.state)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  };

  return {
    async add(type: string, data?: unknown, options: JobOptions = {}) {
      const job = plan("jobs.add", { type, data, ...options }, await captureTrace());
      if (job.isUnique) return await combiner.add(job);
      const [receipt] = await addTogether([job]);
      return receipt as JobReceipt;
    },

    async addMany(jobs) {
      if (!Array.isArray(jobs) || jobs.some((job) => Object(job) !== job))
        throw new ConfigError("jobs.addMany: the jobs must be a list of objects");
      const env = await captureTrace();
      const planned = jobs.map((job, at) => plan(`job ${at} of jobs.addMany`, job, env));
      const receipts: JobReceipt[] = [];
      for (const some of splitJobs(planned)) receipts.push(...(await addTogether(some)));
      return receipts;
    },

    done: <R>(id: string, options?: WatchOptions) => waitForJob<R>(connection, id, 0n, options),

    async get(id) {
      validateName("schedule", id);
      connection.checkOpen();
      return await translated(async () => {
        const [{ schedules }, { kvs }] = await Promise.all([
          readStoredSchedules(ports, [id]),
          readWithRetries(ports, { key: ports.keys.running(id) }),
        ]);
        const stored = schedules.get(id);
        const job = stored && toJobDetails(stored, kvs[0], ports.clock.getWallTime());
        if (job === undefined)
          throw new NotFoundError(
            `there is no job ${quoteText(id)}; it has ended longer ago than its keepResult, or was never added`,
          );
        return job;
      });
    },

    async cancel(id, options = {}) {
      const { reason: why } = parseOptions("jobs.cancel", options, CANCEL_OPTIONS);
      const who = { by: formatOperator(ports.operator), why };
      const { kind } = await schedules.applyAndRecord([id], async () =>
        applyMutation(ports, await prepareCancellation(ports, [id], who), { reason: why }),
      );
      return kind === "done";
    },

    async move(id, options = {}) {
      const start = computeStart(parseOptions("jobs.move", options, MOVE_OPTIONS));
      await schedules.applyAndRecord([id], () => applyMutation(ports, buildMoveMutation([id], start)));
    },

    list,

    async count(filter) {
      const jobs = await list(filter);
      const counts = JOB_STATES.map((state) => [state, jobs.filter((job) => job.state === state).length]);
      return Object.fromEntries(counts) as Record<JobState, number>;
    },
  };
}

/**
 * Converts a stored schedule.
 * @returns undefined if it is not a job
 * @param running  its running key
 * @param now  wall clock, ms
 */
function toJob(stored: StoredSchedule, running: KeyValue | undefined, now: number): Job | undefined {
  const { id, definition, due } = stored;
  if (!isJob(definition)) return undefined;
  const [open] = due?.open ?? [];
  const state = findState(stored, now);
  const runAt = (open ?? due)?.runAt;
  const hasTime = runAt !== undefined && state !== "running" && state !== "dead";
  return {
    id,
    type: getScheduleType(id, definition),
    data: definition.data,
    state,
    runTime: hasTime ? new Date(runAt) : undefined,
    failures: open?.failures ?? 0,
    progress: readProgress(running),
  };
}

function readProgress(running: KeyValue | undefined): string | undefined {
  const parsed = running && parseRunning(running.value);
  return parsed !== undefined && "value" in parsed ? parsed.value.progress : undefined;
}

/** Converts what is kept of a job that was removed. @returns undefined if it is not the end of a job */
function toEndedJob(id: string, history: OutcomeHistory): Job | undefined {
  const [last, ...before] = listAttempts(history);
  if (last?.result !== "ok" && last?.result !== "canceled") return undefined;
  return {
    id,
    type: history.type ?? getScheduleType(id, {}),
    data: undefined,
    state: last.result === "ok" ? "succeeded" : "canceled",
    runTime: undefined,
    failures: before.filter(({ result }) => isFailure(result)).length,
    progress: undefined,
  };
}

function toJobDetails(
  stored: StoredSchedule,
  running: KeyValue | undefined,
  now: number,
): JobDetails | undefined {
  const { id, definitionMod, outcomes } = stored;
  const isRemoved = definitionMod === 0n;
  const job = isRemoved ? toEndedJob(id, outcomes) : toJob(stored, running, now);
  return job && { ...job, attempts: toRunOutcomes(listAttempts(outcomes, isRemoved)) };
}

/**
 * Lists the outcomes of a job, newest first, without those of an earlier one with the same key.
 * @param isRemoved  whether the newest outcome is its end
 */
function listAttempts({ runs }: OutcomeHistory, isRemoved = true): readonly OccurrenceOutcome[] {
  const isEnd = ({ result }: OccurrenceOutcome, at: number) =>
    (result === "ok" || result === "canceled") && !(isRemoved && at === 0);
  const end = runs.findIndex(isEnd);
  return end < 0 ? runs : runs.slice(0, end);
}

function findState(stored: StoredSchedule, now: number): JobState {
  const { definition, due } = stored;
  const open = due?.open ?? [];
  if (open.some(({ session }) => session !== undefined)) return "running";
  if (definition !== undefined && isPaused(definition, due, now)) return "paused";
  if (open.some(({ failures, postponed = 0 }) => failures + postponed > 0)) return "retrying";
  if (isGivenUp(stored)) return "dead";
  return open.length === 0 && (due?.runAt ?? 0) > now ? "delayed" : "waiting";
}

/**
 * Waits until a job has succeeded.
 * @param since  revision of its definition: earlier runs do not count
 * @throws the errors of `JobReceipt.done`
 */
async function waitForJob<R>(
  connection: LibraryConnection,
  id: string,
  since: bigint,
  options: WatchOptions = {},
): Promise<R> {
  const { signal } = parseOptions("done", options, { signal: SIGNAL });
  validateName("schedule", id);
  const wait = new ClosableWait(connection, "the connection was closed while waiting");
  const outcome = await wait.run((closing) =>
    translated(() => followJob(connection, id, since, mergeSignals(closing, signal))),
  );
  return getResult(id, outcome) as R;
}

/** @returns the outcome of the run that has succeeded, or was the last one */
async function followJob(
  { ports }: LibraryConnection,
  id: string,
  since: bigint,
  signal: AbortSignal,
): Promise<OccurrenceOutcome> {
  const { keys } = ports;
  const own = [keys.schedule(id), keys.due(id), keys.outcomes(id)];
  const sink = new KeySink(...own.map((key) => ({ key, rangeEnd: `${key}\0` })));
  for await (const event of followEtcd(ports, sink, signal)) {
    if (event.kind === "away") continue;
    const job = parseStoredSchedule(id, ...own.map((key) => sink.stored.get(key)));
    const outcome = findEnd(job, since);
    if (outcome !== undefined) return outcome;
    if (!isOver(job)) continue;
    // The watches of the keys are not in step: what belongs to the end may still come.
    const { schedules } = await readStoredSchedules(ports, [id], signal);
    const read = schedules.get(id);
    const last = read && (findEnd(read, since) ?? findLast(read));
    if (last !== undefined) return last;
  }
  throw new Error("following never ends by itself");
}

/** Finds the success, the dead letter, or the cancellation of a run that was started after a revision. */
function findEnd({ outcomes, definitionMod }: StoredSchedule, since: bigint): OccurrenceOutcome | undefined {
  const isLater = ({ token }: OccurrenceOutcome) => (parseRevision(token) ?? 0n) > since;
  const succeeded = outcomes.runs.findLast((one) => one.result === "ok" && isLater(one));
  const canceled = outcomes.runs.find(
    (one) => one.result === "canceled" && (one.token === undefined ? definitionMod === 0n : isLater(one)),
  );
  return succeeded ?? outcomes.dead.find(isLater) ?? canceled;
}

/** Returns whether a job has no run any more, or none whose result is kept. */
function isOver(job: StoredSchedule): boolean {
  return job.definitionMod === 0n || isGivenUp(job) || job.definition?.keepResult === undefined;
}

/**
 * Returns the last outcome of a job that was given up without a run, for example because of its deadline.
 * @returns undefined if it has runs
 * @throws NotFoundError, UsageError
 */
function findLast(job: StoredSchedule) {
  const { id, definition, definitionMod, outcomes } = job;
  const last = outcomes.dead[0] ?? outcomes.runs[0];
  if (isGivenUp(job) && last !== undefined) return last;
  if (definitionMod === 0n || isGivenUp(job))
    throw new NotFoundError(
      `job ${quoteText(id)} has no run left, and no outcome: it was deleted or changed, or has ended longer ago than its keepResult`,
    );
  if (definition?.keepResult === undefined)
    throw new UsageError(
      `job ${quoteText(id)} keeps no result, so its end cannot be seen; add it with keepResult`,
    );
}

/** @throws JobFailedError, TooLargeError, NotSupportedError */
function getResult(id: string, outcome: OccurrenceOutcome): unknown {
  const { result, reason = result, errorCode, tail, value } = outcome;
  if (result !== "ok") {
    const cause = Object.assign(new Error(reason), errorCode !== undefined && { code: errorCode });
    if (tail !== undefined) cause.stack = tail;
    const end = result === "canceled" ? reason : `given up: ${reason}`;
    throw new JobFailedError(`job ${quoteText(id)} was ${end}`, result, { cause });
  }
  if (errorCode === undefined) return value;
  const message = `job ${quoteText(id)} is done, but its result is missing: ${reason}`;
  throw errorCode === "TOO_LARGE" ? new TooLargeError(message) : new NotSupportedError(message);
}
