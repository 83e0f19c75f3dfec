import { quoted } from "../base/text.ts";
import { checkedName } from "../protocol/names.ts";
import { isPaused, typeOf } from "../schedule/definition.ts";
import {
  addSchedule,
  deleteSchedule,
  modifySchedule,
  pauseSchedule,
  resumeSchedule,
  triggerSchedule,
} from "../work/schedule/acts.ts";
import { readAllSeen, readSeen, type Seen } from "../work/schedule/seen.ts";
import type { Connection } from "./connection.ts";
import { changed, definitionOf } from "./definition-of.ts";
import { NotFoundError, translated } from "./errors.ts";
import { Source } from "./polling.ts";
import type {
  Instant,
  NewSchedule,
  PollOptions,
  Schedule,
  ScheduleChanges,
  Schedules,
  Task,
  TaskSource,
} from "./schedule-types.ts";
import { defined, instantOf } from "./values.ts";

/** @see Schedules */
export class SchedulesHere implements Schedules {
  readonly #connection: Connection;
  #source: Promise<Source> | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async add(id: string, schedule: NewSchedule): Promise<Schedule> {
    const { definition, first } = definitionOf(schedule);
    await this.#act(() => addSchedule(this.#connection.ports, id, definition, first));
    return await this.get(id);
  }

  async get(id: string): Promise<Schedule> {
    checkedName("schedule", id);
    const { schedules } = await this.#act(() => readSeen(this.#connection.ports, [id]));
    const seen = schedules.get(id);
    if (seen === undefined || seen.definitionMod === 0n)
      throw new NotFoundError(`there is no schedule ${quoted(id)}`);
    return this.#scheduleOf(seen);
  }

  async list(): Promise<Schedule[]> {
    const { schedules } = await this.#act(() => readAllSeen(this.#connection.ports));
    const byId = [...schedules.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return byId.map((seen) => this.#scheduleOf(seen));
  }

  async modify(id: string, changes: ScheduleChanges): Promise<Schedule> {
    await this.#act(() =>
      modifySchedule(this.#connection.ports, checkedName("schedule", id), (before) =>
        changed(before, changes),
      ),
    );
    return await this.get(id);
  }

  async delete(id: string): Promise<void> {
    await this.#act(() => deleteSchedule(this.#connection.ports, checkedName("schedule", id)));
  }

  async pause(id: string, { until, reason }: { until?: Instant; reason?: string } = {}): Promise<void> {
    const how = defined({ reason, until: until === undefined ? undefined : instantOf("until", until) });
    await this.#act(() => pauseSchedule(this.#connection.ports, checkedName("schedule", id), how));
  }

  async resume(id: string): Promise<void> {
    await this.#act(() => resumeSchedule(this.#connection.ports, checkedName("schedule", id)));
  }

  async trigger(id: string): Promise<void> {
    await this.#act(() => triggerSchedule(this.#connection.ports, checkedName("schedule", id)));
  }

  open(options: PollOptions = {}): Promise<TaskSource> {
    return Source.open(this.#connection, options);
  }

  async poll(): Promise<Task | undefined> {
    this.#source ??= Source.open(this.#connection, {});
    try {
      return await (await this.#source).poll();
    } catch (error) {
      this.#connection.mustBeOpen();
      const source = await this.#source.catch(() => undefined);
      if (source === undefined) this.#source = undefined; // the next call tries again
      throw error;
    }
  }

  #act<T>(call: () => Promise<T>): Promise<T> {
    this.#connection.mustBeOpen();
    return translated(call);
  }

  /** What cannot be read is shown without what it should say. */
  #scheduleOf({ id, definition, due }: Seen): Schedule {
    const { cron, timezone, delay = 0, data } = definition ?? { cron: "", timezone: "" };
    const last = due?.last;
    return {
      ...{ id, type: typeOf(id, definition ?? {}), cron, timezone, delay, data },
      nextTime: due?.next === undefined ? undefined : new Date(due.next),
      nextRunTime: due?.next === undefined ? undefined : new Date(due.runAt),
      isPaused: definition !== undefined && isPaused(definition, this.#connection.ports.clock.wall()),
      last: last && {
        ...{ scheduledTime: new Date(last.scheduled), endedAt: new Date(last.endedAt), result: last.result },
      },
      definition: { ...definition },
    };
  }
}
