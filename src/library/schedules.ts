import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { generateRunId, generateSessionId } from "../base/ids.ts";
import { isJsonObject } from "../base/parse-json.ts";
import { quoteText } from "../base/text.ts";
import { retryUnavailable } from "../etcd/retry.ts";
import { grantOnce } from "../etcd/session/grant.ts";
import { StoreError } from "../etcd/store.ts";
import { buildImportMutation } from "../operate/import-schedules.ts";
import type { Receipt } from "../operate/operator-action.ts";
import { formatOperator, type OperatorPorts } from "../operate/ports.ts";
import {
  applyMutation,
  type MutationOptions,
  type MutationResult,
  type ScheduleMutation,
} from "../operate/schedule-mutation.ts";
import {
  buildAddMutation,
  buildDeleteMutation,
  buildJobMutation,
  buildModifyMutation,
  buildPauseMutation,
  buildResumeMutation,
  buildSetMutation,
  buildTriggerMutation,
  checkFires,
} from "../operate/schedule-mutations.ts";
import {
  getShownDue,
  type PlannedChange,
  readAllStoredSchedules,
  readStoredSchedules,
  type StoredSchedule,
} from "../operate/stored-schedules.ts";
import { validateName } from "../protocol/names.ts";
import { type Definition, getScheduleType, isPaused } from "../schedule/definition.ts";
import { AlreadyExistsError } from "../schedule/errors.ts";
import { formatOncePlan } from "../schedule/plan.ts";
import type { FirstOccurrenceOptions } from "../schedule/state/due-transitions.ts";
import type { LibraryConnection } from "./connection.ts";
import { ConfigError, NotFoundError, translated, UsageError } from "./errors.ts";
import { DURATION, FLAG, INSTANT, parseOptions, pickDefined, quoteOption, TEXT } from "./options-schema.ts";
import { PolledTaskSource, type UnreadChanges } from "./polled-task-source.ts";
import { applyChanges, buildDefinition } from "./schedule-definition.ts";
import { captureTrace } from "./tracing.ts";
import type {
  Instant,
  JobOptions,
  JobQueue,
  JobReceipt,
  NewSchedule,
  PollOptions,
  PollWaitOptions,
  Schedule,
  ScheduleChanges,
  Schedules,
  SyncOptions,
  SyncResult,
  Task,
  TaskSource,
} from "./types.ts";

/** How long the receipts of jobs stay, s. It must be much longer than a call takes that has lost its answer. */
const TTL = 900;
/** How long one session is used for receipts, ms. */
const USED_FOR = 60_000;

/** What a session expires with, and until when it is used, by the clock, ms. */
interface ReceiptSession {
  id: Promise<bigint>;
  until: number;
}

/**
 * The receipts of the jobs that this program adds: one for each call at the same time. Jobs leave no audit record, the outcome
 * tells what a job has done. But a call that lost its answer must find out that it was applied, also if the job has been done
 * and removed meanwhile; otherwise the repeated call would add the job again.
 */
class ReceiptPool {
  readonly #ports: OperatorPorts;
  #session: ReceiptSession | undefined;
  /** Receipts of the current session that no call uses. */
  #free: Receipt[] = [];

  constructor(ports: OperatorPorts) {
    this.#ports = ports;
  }

  /**
   * Runs a call with a receipt whose session lives much longer than the call. A receipt is used again only if it is known what
   * the call has written.
   * @throws StoreError, what the call throws
   */
  async use(call: (receipt: Receipt) => Promise<MutationResult>): Promise<MutationResult> {
    const session = this.#chooseSession();
    let receipt: Receipt | undefined;
    try {
      receipt = this.#free.pop() ?? (await this.#createReceipt(session));
      const result = await call(receipt);
      const modRevision = result.kind === "done" ? result.revision : receipt.modRevision;
      this.#release(session, { ...receipt, modRevision });
      return result;
    } catch (error) {
      if (receipt !== undefined && error instanceof AlreadyExistsError) this.#release(session, receipt);
      // The session could not be granted, or has ended before its time.
      if (error instanceof StoreError && this.#session === session) this.#session = undefined;
      throw error;
    }
  }

  #release(session: ReceiptSession, receipt: Receipt): void {
    if (this.#session === session) this.#free.push(receipt);
  }

  #chooseSession(): ReceiptSession {
    const now = this.#ports.clock.now();
    if (this.#session === undefined || this.#session.until <= now) {
      this.#session = { id: this.#grant(), until: now + USED_FOR };
      this.#free = [];
    }
    return this.#session;
  }

  async #createReceipt({ id }: ReceiptSession): Promise<Receipt> {
    const { keys, random } = this.#ports;
    return { key: keys.receipt(generateRunId(random)), session: await id, modRevision: 0n };
  }

  async #grant(): Promise<bigint> {
    const { store, clock, random, settings } = this.#ports;
    const id = generateSessionId(random);
    const until = clock.now() + settings.connectTimeout;
    await retryUnavailable(this.#ports, until, (signal) => grantOnce(store, id, TTL, signal));
    return id;
  }
}

const PAUSE_OPTIONS = { until: v.optional(INSTANT), reason: v.optional(TEXT) };

/** @see Schedules */
export class SchedulesImpl implements Schedules {
  readonly #connection: LibraryConnection;
  readonly #changes = new Set<UnreadChanges>();
  readonly #receipts: ReceiptPool;
  #source: Promise<PolledTaskSource> | undefined;

  constructor(connection: LibraryConnection) {
    this.#connection = connection;
    this.#receipts = new ReceiptPool(connection.ports);
  }

  async add(id: string, schedule: NewSchedule): Promise<Schedule> {
    const { definition, first } = buildDefinition("add", schedule);
    return await this.#changeAndGet(id, () => buildAddMutation(id, definition, first));
  }

  /** Applies a mutation that adds a job. It leaves no audit record. @internal */
  async addJob(
    id: string,
    schedule: NewSchedule,
    build: (definition: Definition, first: FirstOccurrenceOptions) => ScheduleMutation,
  ): Promise<void> {
    const { definition, first } = buildDefinition("jobs.add", schedule);
    await this.#applyAndRecord(id, () =>
      this.#receipts.use((receipt) =>
        applyMutation(this.#connection.ports, build(definition, first), { receipt }),
      ),
    );
  }

  async set(id: string, schedule: NewSchedule): Promise<Schedule> {
    const { definition, first } = buildDefinition("set", schedule);
    return await this.#changeAndGet(id, () => buildSetMutation(id, definition, first));
  }

  async sync(declared: Readonly<Record<string, NewSchedule>>, options: SyncOptions): Promise<SyncResult> {
    const mutation = buildSyncMutation(declared, options);
    const result = await this.#callOpen(() => applyMutation(this.#connection.ports, mutation));
    const changes = result.kind === "done" ? result.changes : [];
    for (const { before } of changes) this.#recordChange(before.id);
    return toSyncResult(changes);
  }

  async get(id: string): Promise<Schedule> {
    validateName("schedule", id);
    const { schedules } = await this.#callOpen(() => readStoredSchedules(this.#connection.ports, [id]));
    const stored = schedules.get(id);
    if (stored === undefined || stored.definitionMod === 0n)
      throw new NotFoundError(`there is no schedule ${quoteText(id)}`);
    return this.#toSchedule(stored);
  }

  async list(): Promise<Schedule[]> {
    const { schedules } = await this.#callOpen(() => readAllStoredSchedules(this.#connection.ports));
    const byId = [...schedules.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return byId.map((stored) => this.#toSchedule(stored));
  }

  async modify(id: string, changes: ScheduleChanges): Promise<Schedule> {
    return await this.#changeAndGet(id, () =>
      buildModifyMutation([id], (before) => applyChanges(before, changes)),
    );
  }

  async delete(id: string): Promise<void> {
    await this.#change(id, () => buildDeleteMutation([id]));
  }

  async pause(id: string, options: { until?: Instant; reason?: string } = {}): Promise<void> {
    const { until, reason } = parseOptions("pause", options, PAUSE_OPTIONS);
    const pause = { by: formatOperator(this.#connection.ports.operator), until, why: reason };
    await this.#change(id, () => buildPauseMutation([id], pause), { reason });
  }

  async resume(id: string): Promise<void> {
    await this.#change(id, () => buildResumeMutation([id]));
  }

  async trigger(id: string): Promise<void> {
    await this.#change(id, () => buildTriggerMutation([id]));
  }

  open(options: PollOptions = {}): Promise<TaskSource> {
    return PolledTaskSource.open(this.#connection, options, this.#changes);
  }

  async poll<D>(options?: PollWaitOptions): Promise<Task<D> | undefined> {
    this.#source ??= PolledTaskSource.open(this.#connection, {}, this.#changes);
    try {
      return await (await this.#source).poll<D>(options);
    } catch (error) {
      this.#connection.checkOpen();
      const source = await this.#source.catch(() => undefined);
      if (source === undefined) this.#source = undefined; // the next call tries again
      throw error;
    }
  }

  #recordChange(id: string): void {
    for (const unread of this.#changes) unread.record(id);
  }

  #callOpen<T>(call: () => Promise<T>): Promise<T> {
    this.#connection.checkOpen();
    return translated(call);
  }

  /**
   * Applies a change. @returns the schedule as it was written. A later read may not find it: a worker may have run and removed it
   * already
   */
  async #changeAndGet(id: string, build: () => ScheduleMutation): Promise<Schedule> {
    const result = await this.#change(id, build);
    const change = result.kind === "done" && result.changes.find(({ before }) => before.id === id);
    if (!change) return await this.get(id); // nothing changed
    const { definition = change.before.definition, due = change.before.due } = change;
    return this.#toSchedule({ ...change.before, ...pickDefined({ definition, due }) });
  }

  #change(id: string, build: () => ScheduleMutation, options?: MutationOptions): Promise<MutationResult> {
    return this.#applyAndRecord(id, () => applyMutation(this.#connection.ports, build(), options));
  }

  /** Applies a change and records it, even if the call fails, because it may have been applied. */
  async #applyAndRecord(id: string, apply: () => Promise<MutationResult>): Promise<MutationResult> {
    try {
      return await this.#callOpen(async () => {
        validateName("schedule", id);
        return await apply();
      });
    } finally {
      this.#recordChange(id);
    }
  }

  /** Converts a stored schedule. An unreadable definition gives empty fields. */
  #toSchedule(stored: StoredSchedule): Schedule {
    const { id, definition } = stored;
    const due = getShownDue(stored);
    const { cron, timezone, delay = 0, data } = definition ?? { cron: "", timezone: "" };
    const last = due?.last;
    return {
      id,
      type: getScheduleType(id, definition ?? {}),
      cron,
      timezone,
      delay,
      data,
      nextTime: due?.next === undefined ? undefined : new Date(due.next),
      nextRunTime: due?.next === undefined ? undefined : new Date(due.runAt),
      isPaused:
        definition !== undefined && isPaused(definition, due, this.#connection.ports.clock.getWallTime()),
      last: last && {
        scheduledTime: new Date(last.scheduled),
        endedAt: new Date(last.endedAt),
        result: last.result,
      },
      definition: { ...definition },
    };
  }
}

const SYNC_OPTIONS = {
  source: v.pipe(TEXT, v.minLength(1, quoteOption("is empty; name the program that declares the schedules"))),
  prune: v.optional(FLAG, true),
} satisfies Record<keyof SyncOptions, v.GenericSchema>;

/** Builds the mutation of `Schedules.sync`. @throws ConfigError, CronError, NotSupportedError, UsageError */
function buildSyncMutation(
  declared: Readonly<Record<string, NewSchedule>>,
  options: SyncOptions,
): ScheduleMutation {
  const { source, prune } = parseOptions("sync", options, SYNC_OPTIONS);
  if (!isJsonObject(declared))
    throw new ConfigError("sync: the schedules must be an object with the fields of each schedule by its id");
  const built = Object.entries(declared).map(([id, schedule]) => {
    const { definition, first } = buildDefinition(`schedule ${quoteText(id)}`, schedule);
    return { id, definition: { ...definition, source }, first };
  });
  const mutation = buildImportMutation({
    target: `schedules of ${quoteText(source)}`,
    source,
    prunes: prune,
    definitions: new Map(built.map(({ id, definition }) => [id, definition])),
    firsts: new Map(built.map(({ id, first }) => [id, first])),
    remedy: "Use another id, or the source that it belongs to",
  });
  return {
    ...mutation,
    decide: (stored, now) => mutation.decide(stored, now).filter((change) => isWanted(change, now)),
  };
}

/**
 * Whether a change is to be applied. A schedule that removes itself, and whose last time has passed, has run and is gone.
 * @throws UsageError if a schedule would never fire
 */
function isWanted({ before, definition, due }: PlannedChange, now: number): boolean {
  if (
    definition === undefined ||
    due === undefined ||
    isDeepStrictEqual(before.definition?.cron, definition.cron)
  )
    return true;
  if (before.definitionMod === 0n && definition.removeAfter !== undefined && due.next === undefined)
    return false;
  checkFires(before.id, definition, due, now);
  return true;
}

/** Converts the changes that were applied. */
function toSyncResult(changes: readonly PlannedChange[]): SyncResult {
  const listIds = (isWanted: (change: PlannedChange) => boolean) =>
    changes
      .filter(isWanted)
      .map(({ before }) => before.id)
      .sort();
  const isAdded = ({ before, isDeleted }: PlannedChange) => before.definitionMod === 0n && !isDeleted;
  return {
    added: listIds(isAdded),
    changed: listIds((change) => !isAdded(change) && !change.isDeleted),
    deleted: listIds(({ isDeleted }) => isDeleted === true),
  };
}

/** The options that are fields of the schedule are checked with it. */
const OPTIONS = {
  key: v.optional(TEXT),
  replaceDead: v.optional(FLAG, false),
  at: v.optional(INSTANT),
  delay: v.optional(DURATION),
  ...v.entriesFromList(
    ["priority", "retries", "backoff", "timeout", "deadline", "group", "leases", "tags"],
    v.optional(v.unknown()),
  ),
} satisfies Record<keyof JobOptions, v.GenericSchema>;

/** @see JobQueue */
export class JobQueueImpl implements JobQueue {
  readonly #connection: LibraryConnection;
  readonly #schedules: SchedulesImpl;

  constructor(connection: LibraryConnection, schedules: SchedulesImpl) {
    this.#connection = connection;
    this.#schedules = schedules;
  }

  async add(type: string, data?: unknown, options: JobOptions = {}): Promise<JobReceipt> {
    const { key, at, delay, replaceDead, ...fields } = parseOptions("jobs.add", options, OPTIONS);
    if (at !== undefined && delay !== undefined)
      throw new UsageError("at and delay exclude each other; leave one of them out");
    validateName("job type", type);
    const { clock, random } = this.#connection.ports;
    const id = `${type}.${key ?? generateRunId(random)}`;
    const start = at ?? clock.getWallTime() + (delay ?? 0);
    const env = await captureTrace();
    const schedule = {
      ...(fields as Omit<JobOptions, "key" | "at" | "delay" | "replaceDead">),
      type,
      cron: formatOncePlan(start),
      start,
      removeAfter: "success" as const,
      ...(env !== undefined && { env }),
      ...(data !== undefined && { data }),
    };
    let isDead = false;
    const handleDead = () => {
      isDead = true;
    };
    try {
      await this.#schedules.addJob(id, schedule, (definition, first) =>
        buildJobMutation(id, definition, first, { replaces: replaceDead, handleDead }),
      );
      return { id, isNew: true, isDead: false };
    } catch (error) {
      if (key !== undefined && error instanceof AlreadyExistsError) return { id, isNew: false, isDead };
      throw error;
    }
  }
}
