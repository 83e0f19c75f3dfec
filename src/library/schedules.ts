import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { isJsonObject } from "../base/parse-json.ts";
import { quoteText } from "../base/text.ts";
import { buildImportMutation } from "../operate/import-schedules.ts";
import { formatOperator } from "../operate/ports.ts";
import {
  applyMutation,
  type MutationOptions,
  type MutationResult,
  type ScheduleMutation,
} from "../operate/schedule-mutation.ts";
import {
  buildAddMutation,
  buildBackfillCancellation,
  buildBackfillMutation,
  buildBuryMutation,
  buildDeleteMutation,
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
import { getScheduleType, isPaused } from "../schedule/definition.ts";
import type { OccurrenceOutcome } from "../schedule/state/outcome.ts";
import type { LibraryConnection } from "./connection.ts";
import { ConfigError, NotFoundError, translated } from "./errors.ts";
import {
  FLAG,
  INSTANT,
  POSITIVE,
  parseArgument,
  parseOptions,
  pickDefined,
  quoteOption,
  TEXT,
} from "./options-schema.ts";
import { PolledTaskSource, type UnreadChanges } from "./polled-task-source.ts";
import { applyChanges, buildDefinition } from "./schedule-definition.ts";
import { captureTrace } from "./tracing.ts";
import type {
  BackfillSpan,
  Instant,
  NewSchedule,
  PollOptions,
  PollWaitOptions,
  RunOutcome,
  Schedule,
  ScheduleChanges,
  ScheduleHistory,
  Schedules,
  SyncOptions,
  SyncResult,
  Task,
  TaskSource,
} from "./types.ts";

const TRIGGER_OPTIONS = { ignoreCalendars: v.optional(FLAG) };
const PAUSE_OPTIONS = { until: v.optional(INSTANT), reason: v.optional(TEXT) };

/** @see Schedules */
export class SchedulesImpl implements Schedules {
  readonly #connection: LibraryConnection;
  readonly #changes = new Set<UnreadChanges>();
  #source: Promise<PolledTaskSource> | undefined;

  constructor(connection: LibraryConnection) {
    this.#connection = connection;
  }

  async add(id: string, schedule: NewSchedule): Promise<Schedule> {
    const { definition, first } = buildDefinition("add", schedule);
    return await this.#changeAndGet(id, () => buildAddMutation(id, definition, first));
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
    return this.#toSchedule(await this.#read(id));
  }

  /** @throws NotFoundError */
  async #read(id: string): Promise<StoredSchedule> {
    validateName("schedule", id);
    const { schedules } = await this.#callOpen(() => readStoredSchedules(this.#connection.ports, [id]));
    const stored = schedules.get(id);
    if (stored === undefined || stored.definitionMod === 0n)
      throw new NotFoundError(`there is no schedule ${quoteText(id)}`);
    return stored;
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

  async trigger(id: string, options: { ignoreCalendars?: boolean } = {}): Promise<void> {
    const { ignoreCalendars: ignoresCalendars } = parseOptions("trigger", options, TRIGGER_OPTIONS);
    const trace = await captureTrace();
    await this.#change(id, () => buildTriggerMutation([id], { ignoresCalendars, trace }));
  }

  async history(id: string): Promise<ScheduleHistory> {
    const { outcomes, hosts = [] } = await this.#read(id);
    const all = [outcomes, ...hosts.map((part) => part.outcomes)];
    return {
      runs: toRunOutcomes(all.flatMap(({ runs }) => runs)),
      dead: toRunOutcomes(all.flatMap(({ dead }) => dead)),
    };
  }

  async retryDead(id: string, times?: readonly Instant[]): Promise<void> {
    await this.#change(id, () => buildTriggerMutation([id], { dead: parseTimes(times) }));
  }

  async buryDead(id: string, times?: readonly Instant[]): Promise<void> {
    await this.#change(id, () => buildBuryMutation([id], parseTimes(times)));
  }

  async backfill(id: string, span: BackfillSpan): Promise<void> {
    const options = parseOptions("backfill", span, BACKFILL);
    await this.#change(id, () => buildBackfillMutation(id, options));
  }

  async cancelBackfill(id: string): Promise<void> {
    await this.#change(id, () => buildBackfillCancellation([id]));
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
    return this.applyAndRecord([id], () => applyMutation(this.#connection.ports, build(), options));
  }

  /** Applies a change and records it, even if the call fails, because it may have been applied. @internal */
  async applyAndRecord<T>(ids: readonly string[], apply: () => Promise<T>): Promise<T> {
    try {
      return await this.#callOpen(async () => {
        for (const id of ids) validateName("schedule", id);
        return await apply();
      });
    } finally {
      for (const id of ids) this.#recordChange(id);
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

const BACKFILL = {
  from: INSTANT,
  to: INSTANT,
  parallel: v.optional(POSITIVE, 1),
} satisfies Record<keyof BackfillSpan, v.GenericSchema>;

const INSTANTS = v.array(INSTANT, quoteOption("is not a list of instants"));

/** @returns the scheduled times of dead letters, ms; all if none are given */
function parseTimes(times: readonly Instant[] | undefined): readonly (number | "all")[] {
  return times === undefined ? ["all"] : parseArgument("times", times, INSTANTS);
}

/** Converts outcomes, newest first. */
function toRunOutcomes(outcomes: readonly OccurrenceOutcome[]): RunOutcome[] {
  const sorted = outcomes.toSorted((a, b) => b.endedAt - a.endedAt);
  return sorted.map(({ scheduled, startedAt, endedAt, ...rest }) => ({
    ...rest,
    scheduledTime: new Date(scheduled),
    startedAt: startedAt === undefined ? undefined : new Date(startedAt),
    endedAt: new Date(endedAt),
  }));
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
