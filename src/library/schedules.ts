import * as v from "valibot";
import { quoteText } from "../base/text.ts";
import { validateName } from "../protocol/names.ts";
import { type Definition, getScheduleType, isPaused } from "../schedule/definition.ts";
import type { FirstOccurrenceOptions } from "../schedule/state/due-transitions.ts";
import { formatOperator } from "../work/operate/ports.ts";
import {
  applyMutation,
  type MutationOptions,
  type MutationResult,
  type ScheduleMutation,
} from "../work/schedules/schedule-mutation.ts";
import {
  buildAddMutation,
  buildDeleteMutation,
  buildModifyMutation,
  buildPauseMutation,
  buildResumeMutation,
  buildTriggerMutation,
} from "../work/schedules/schedule-mutations.ts";
import { buildSetMutation } from "../work/schedules/set-schedule.ts";
import {
  readAllStoredSchedules,
  readStoredSchedules,
  type StoredSchedule,
} from "../work/schedules/stored-schedules.ts";
import type { LibraryConnection } from "./connection.ts";
import { NotFoundError, translated } from "./errors.ts";
import { INSTANT, parseOptions, pickDefined, TEXT } from "./options-schema.ts";
import { PolledTaskSource } from "./polled-task-source.ts";
import { ChangeTracker } from "./recent-changes.ts";
import { RecordSession } from "./record-session.ts";
import { applyChanges, buildDefinition } from "./schedule-definition.ts";
import type {
  Instant,
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
} from "./schedule-types.ts";
import { buildSyncMutation, toSyncResult } from "./sync-schedules.ts";

const PAUSE_OPTIONS = { until: v.optional(INSTANT), reason: v.optional(TEXT) };

/** @see Schedules */
export class SchedulesImpl implements Schedules {
  readonly #connection: LibraryConnection;
  readonly #changes = new ChangeTracker();
  readonly #recordSession: RecordSession;
  #source: Promise<PolledTaskSource> | undefined;

  constructor(connection: LibraryConnection) {
    this.#connection = connection;
    this.#recordSession = new RecordSession(connection.ports);
  }

  async add(id: string, schedule: NewSchedule): Promise<Schedule> {
    const { definition, first } = buildDefinition("add", schedule);
    return await this.#changeAndGet(id, () => buildAddMutation(id, definition, first));
  }

  /** Applies a mutation that adds a job. Its audit record expires. @internal */
  async addJob(
    id: string,
    schedule: NewSchedule,
    build: (definition: Definition, first: FirstOccurrenceOptions) => ScheduleMutation,
  ): Promise<void> {
    const { definition, first } = buildDefinition("jobs.add", schedule);
    await this.#applyAndRecord(id, () =>
      this.#recordSession.use((recordSession) =>
        applyMutation(this.#connection.ports, build(definition, first), { recordSession }),
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
    for (const { before } of changes) this.#changes.recordChange(before.id);
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
      this.#changes.recordChange(id);
    }
  }

  /** Converts a stored schedule. An unreadable definition gives empty fields. */
  #toSchedule({ id, definition, due }: StoredSchedule): Schedule {
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
      isPaused: definition !== undefined && isPaused(definition, this.#connection.ports.clock.getWallTime()),
      last: last && {
        scheduledTime: new Date(last.scheduled),
        endedAt: new Date(last.endedAt),
        result: last.result,
      },
      definition: { ...definition },
    };
  }
}
