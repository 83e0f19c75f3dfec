import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { isJsonObject } from "../core/base/parse-json.ts";
import { pickDefined } from "../core/base/pick-defined.ts";
import { quoteText } from "../core/base/text.ts";
import { validateName } from "../core/protocol/names.ts";
import { type Calendar, findDayFault, normalizeDays } from "../schedule/calendar/calendar.ts";
import { type Definition, getScheduleType, isPaused } from "../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../schedule/definition-values.ts";
import { isTexts, toJsonData } from "../schedule/json-fields.ts";
import { parsePlan } from "../schedule/plan.ts";
import type { OccurrenceOutcome } from "../schedule/state/outcome.ts";
import { applyInParts } from "../site/operate/apply-in-parts.ts";
import { formatCalendarChange } from "../site/operate/calendar-changes.ts";
import { buildImportMutation } from "../site/operate/import-schedules.ts";
import { formatOperator } from "../site/operate/operator-action.ts";
import {
  applyMutation,
  type MutationOptions,
  type ScheduleMutation,
} from "../site/operate/schedule-mutation.ts";
import {
  buildAddManyMutation,
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
  mapSchedules,
  type ScheduleAddition,
} from "../site/operate/schedule-mutations.ts";
import { applySite, isEmptyPlan, planSite } from "../site/operate/site.ts";
import {
  getShownDue,
  type PlannedChange,
  readAllStoredSchedules,
  readStoredSchedules,
  type StoredSchedule,
} from "../site/operate/stored-schedules.ts";
import { type LibraryConnection, translated } from "./connection.ts";
import { ConfigError, NotFoundError, UsageError } from "./errors.ts";
import {
  DURATION,
  FLAG,
  INSTANT,
  POSITIVE,
  parseArgument,
  parseOptions,
  quoteOption,
  TEXT,
  TEXTS,
} from "./options-schema.ts";
import { openTaskSource, type UnreadChanges } from "./polled-task-source.ts";
import { captureTrace } from "./tracing.ts";
import type {
  BackfillSpan,
  CalendarDays,
  CalendarStore,
  Instant,
  NewSchedule,
  RunOutcome,
  Schedule,
  ScheduleChanges,
  ScheduleFields,
  Schedules,
  SyncOptions,
  SyncResult,
  TaskSource,
} from "./types.ts";

const TRIGGER_OPTIONS = { ignoreCalendars: v.optional(FLAG) };
const PAUSE_OPTIONS = { until: v.optional(INSTANT), reason: v.optional(TEXT) };

/** The schedules of a connection, and what other parts of the library need that change schedules too. */
export interface ConnectionSchedules extends Schedules {
  /** Applies a change and records it, even if the call fails, because it may have been applied. @internal */
  applyAndRecord<T>(ids: readonly string[], apply: () => Promise<T>): Promise<T>;
}

/** @see Schedules */
export function createSchedules(connection: LibraryConnection): ConnectionSchedules {
  const { ports } = connection;
  const unread = new Set<UnreadChanges>();
  let source: Promise<TaskSource> | undefined;

  const recordChange = (id: string) => {
    for (const changes of unread) changes.record(id);
  };

  const callOpen = <T>(call: () => Promise<T>) => {
    connection.checkOpen();
    return translated(call);
  };

  const applyAndRecord = async <T>(ids: readonly string[], apply: () => Promise<T>) => {
    try {
      return await callOpen(async () => {
        for (const id of ids) validateName("schedule", id);
        return await apply();
      });
    } finally {
      for (const id of ids) recordChange(id);
    }
  };

  const change = (id: string, build: () => ScheduleMutation, options?: MutationOptions) =>
    applyAndRecord([id], () => applyMutation(ports, build(), options));

  /** @throws NotFoundError */
  const read = async (id: string) => {
    validateName("schedule", id);
    const { schedules } = await callOpen(() => readStoredSchedules(ports, [id]));
    const stored = schedules.get(id);
    if (stored === undefined || stored.definitionMod === 0n)
      throw new NotFoundError(`there is no schedule ${quoteText(id)}`);
    return stored;
  };

  const get = async (id: string) => toSchedule(await read(id), ports.clock.getWallTime());

  /**
   * Applies a change. @returns the schedule as it was written. A later read may not find it: a worker may have run and removed it
   * already
   */
  const changeAndGet = async (id: string, build: () => ScheduleMutation) => {
    const result = await change(id, build);
    const changed = result.kind === "done" && result.changes.find(({ before }) => before.id === id);
    if (!changed) return await get(id); // nothing changed
    return toChangedSchedule(changed, ports.clock.getWallTime());
  };

  return {
    applyAndRecord,
    get,

    async add(id, schedule) {
      const { definition, first } = buildDefinition("add", schedule);
      return await changeAndGet(id, () => buildAddMutation(id, definition, first));
    },

    async addMany(added) {
      const additions = mapSchedules(toScheduleMap("addMany", added), (schedule) =>
        buildDefinition("addMany", schedule),
      );
      const ids = [...additions.keys()];
      const result = await applyAndRecord(ids, () => applyInParts(ports, buildAddManyMutation(additions)));
      const changes = result.kind === "done" ? result.changes : [];
      const byId = new Map(changes.map((one) => [one.before.id, one]));
      return ids.flatMap((id) => {
        const change = byId.get(id);
        return change ? toChangedSchedule(change, ports.clock.getWallTime()) : [];
      });
    },

    async set(id, schedule) {
      const { definition, first } = buildDefinition("set", schedule);
      return await changeAndGet(id, () => buildSetMutation(id, definition, first));
    },

    async sync(declared, options) {
      const mutation = buildSyncMutation(declared, options);
      const result = await callOpen(() => applyInParts(ports, mutation));
      const changes = result.kind === "done" ? result.changes : [];
      for (const { before } of changes) recordChange(before.id);
      return toSyncResult(changes);
    },

    async list() {
      const { schedules } = await callOpen(() => readAllStoredSchedules(ports));
      const byId = [...schedules.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
      return byId.map((stored) => toSchedule(stored, ports.clock.getWallTime()));
    },

    async modify(id, changes) {
      return await changeAndGet(id, () =>
        buildModifyMutation([id], (before) => applyChanges(before, changes)),
      );
    },

    async delete(id) {
      await change(id, () => buildDeleteMutation([id]));
    },

    async pause(id, options = {}) {
      const { until, reason } = parseOptions("pause", options, PAUSE_OPTIONS);
      const pause = { by: formatOperator(ports.operator), until, why: reason };
      await change(id, () => buildPauseMutation([id], pause), { reason });
    },

    async resume(id) {
      await change(id, () => buildResumeMutation([id]));
    },

    async trigger(id, options = {}) {
      const { ignoreCalendars: ignoresCalendars } = parseOptions("trigger", options, TRIGGER_OPTIONS);
      const trace = await captureTrace();
      await change(id, () => buildTriggerMutation([id], { ignoresCalendars, trace }));
    },

    async history(id) {
      const { outcomes, hosts = [] } = await read(id);
      const all = [outcomes, ...hosts.map((part) => part.outcomes)];
      return {
        runs: toRunOutcomes(all.flatMap(({ runs }) => runs)),
        dead: toRunOutcomes(all.flatMap(({ dead }) => dead)),
      };
    },

    async retryDead(id, times) {
      await change(id, () => buildTriggerMutation([id], { dead: parseTimes(times) }));
    },

    async buryDead(id, times) {
      await change(id, () => buildBuryMutation([id], parseTimes(times)));
    },

    async backfill(id, span) {
      const options = parseOptions("backfill", span, BACKFILL);
      await change(id, () => buildBackfillMutation(id, options));
    },

    async cancelBackfill(id) {
      await change(id, () => buildBackfillCancellation([id]));
    },

    open: (options = {}) => openTaskSource(connection, options, unread),

    async poll(options) {
      source ??= openTaskSource(connection, {}, unread);
      try {
        return await (await source).poll(options);
      } catch (error) {
        connection.checkOpen();
        if ((await source.catch(() => undefined)) === undefined) source = undefined; // the next call tries again
        throw error;
      }
    },
  };
}

/** Converts a schedule as it was written. @param now  wall clock, ms */
function toChangedSchedule({ before, ...after }: PlannedChange, now: number): Schedule {
  const { definition = before.definition, due = before.due } = after;
  return toSchedule({ ...before, ...pickDefined({ definition, due }) }, now);
}

/** Converts a stored schedule. An unreadable definition gives empty fields. @param now  wall clock, ms */
function toSchedule(stored: StoredSchedule, now: number): Schedule {
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
    isPaused: definition !== undefined && isPaused(definition, due, now),
    last: last && {
      scheduledTime: new Date(last.scheduled),
      endedAt: new Date(last.endedAt),
      result: last.result,
    },
    definition: { ...definition },
  };
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
export function toRunOutcomes(outcomes: readonly OccurrenceOutcome[]): RunOutcome[] {
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
  const built = mapSchedules(toScheduleMap("sync", declared), (schedule, id) =>
    buildDefinition(`schedule ${quoteText(id)}`, schedule),
  );
  const mutation = buildImportMutation({
    target: `schedules of ${quoteText(source)}`,
    source,
    prunes: prune,
    definitions: new Map(Array.from(built, ([id, { definition }]) => [id, { ...definition, source }])),
    firsts: new Map(Array.from(built, ([id, { first }]) => [id, first])),
    remedy: "Use another id, or the source that it belongs to",
  });
  return {
    ...mutation,
    decide: (stored, now) => mutation.decide(stored, now).filter((change) => isWanted(change, now)),
  };
}

/** @param call  for the message @throws ConfigError */
function toScheduleMap(call: string, schedules: Readonly<Record<string, NewSchedule>>) {
  if (isJsonObject(schedules)) return new Map(Object.entries(schedules));
  throw new ConfigError(
    `${call}: the schedules must be an object with the fields of each schedule by its id`,
  );
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

const CALENDAR_FIELDS = { days: TEXTS, note: v.optional(TEXT) } satisfies Record<
  keyof CalendarDays,
  v.GenericSchema
>;

/** @see CalendarStore */
export function createCalendarStore(
  connection: LibraryConnection,
  schedules: ConnectionSchedules,
): CalendarStore {
  const { ports } = connection;

  const read = () => {
    connection.checkOpen();
    return translated(() => readAllStoredSchedules(ports));
  };

  const change = async (name: string, after: Calendar | undefined) => {
    const document = { calendars: new Map([[validateName("calendar", name), after]]) };
    const plan = async () => {
      const stored = await read();
      if (after === undefined && !stored.calendars.has(name)) throw createMissingError(name);
      const site = { ...stored, groups: new Map(), resources: new Map() };
      return planSite(site, document, { prunes: false, isSingle: true }, ports.clock.getWallTime());
    };
    for (;;) {
      const shown = await plan();
      if (isEmptyPlan(shown)) return;
      const update = {
        action: "calendar" as const,
        target: `calendar ${name}`,
        reason: undefined,
        shown,
        replan: plan,
        formatOutcome: ({ calendars }: typeof shown) => calendars.map(formatCalendarChange).join("; "),
      };
      const ids = shown.schedules.map(({ before }) => before.id);
      const { kind } = await schedules.applyAndRecord(ids, () => applySite(ports, update));
      if (kind === "done") return;
    }
  };

  return {
    list: async () => [...(await read()).calendars.keys()].sort(),

    async get(name) {
      const stored = (await read()).calendars.get(validateName("calendar", name));
      if (stored === undefined) throw createMissingError(name);
      if ("fault" in stored)
        throw new UsageError(`calendar ${quoteText(name)} cannot be read: ${stored.fault}`);
      const { days, note } = stored.value;
      return { days, ...pickDefined({ note }) };
    },

    async set(name, calendar) {
      const { days, note } = parseOptions("calendars.set", calendar, CALENDAR_FIELDS);
      const normal = normalizeDays(days);
      const fault = findDayFault(normal);
      if (fault !== undefined) throw new UsageError(fault);
      await change(name, { days: normal, ...pickDefined({ note }) });
    },

    delete: (name) => change(name, undefined),
  };
}

function createMissingError(name: string): NotFoundError {
  return new NotFoundError(`there is no calendar ${quoteText(name)}`);
}

/** Fields of a schedule as programs write them; null removes one. The output is their stored form. */
const FIELDS = {
  cron: v.pipe(v.optional(v.unknown()), v.transform(checkCron)),
  ...v.entriesFromList(
    ["delay", "jitter", "deadline", "timeout", "backoff", "keepFor", "keepResult"],
    v.nullish(DURATION),
  ),
  end: v.nullish(INSTANT),
  data: v.nullish(v.pipe(v.unknown(), v.transform(copyData))),
  // The schedule operations check these.
  ...v.entriesFromList(
    [
      "type",
      "timezone",
      "expect",
      "retries",
      "pauseAfterFailures",
      "keep",
      "catchup",
      "overlap",
      "group",
      "place",
      "if",
      "leases",
      "command",
      "env",
      "folder",
      "input",
      "runAs",
      "secrets",
      "secretFiles",
      "container",
      "hooks",
      "note",
      "after",
      "on",
      "tags",
      "priority",
      "removeAfter",
      "except",
      "only",
      "ifExcluded",
    ],
    v.optional(v.unknown()),
  ),
} satisfies Record<keyof ScheduleFields, v.GenericSchema>;
const NEW_SCHEDULE = { ...FIELDS, start: v.optional(INSTANT), at: v.optional(INSTANT) };

/**
 * Converts a new schedule to its stored definition and its first occurrence.
 * @param call  the function that was called, for messages
 * @throws ConfigError, CronError, NotSupportedError
 */
export function buildDefinition(call: string, schedule: NewSchedule): ScheduleAddition {
  const { start, at, ...fields } = pickDefined(parseOptions(call, schedule, NEW_SCHEDULE));
  const definition = { timezone: SCHEDULE_DEFAULTS.timezone, ...fields } as Definition;
  return { definition, first: pickDefined({ start, at }) };
}

/** Applies changes to a definition. @throws ConfigError, CronError, NotSupportedError */
function applyChanges(before: Definition | undefined, changes: ScheduleChanges): Definition {
  const merged = { ...before, ...pickDefined(parseOptions("modify", changes, FIELDS)) };
  const kept = Object.entries(merged).filter(([, value]) => value !== null);
  return { timezone: SCHEDULE_DEFAULTS.timezone, ...Object.fromEntries(kept) } as Definition;
}

/** @throws CronError, which names the part of the expression; the schedule operations refuse other types */
function checkCron(cron: unknown): unknown {
  if (typeof cron === "string" || isTexts(cron)) parsePlan(cron);
  return cron;
}

/** @throws NotSupportedError */
function copyData(data: unknown): unknown {
  return toJsonData("data", data);
}
