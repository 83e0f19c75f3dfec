import type { ParseResult } from "../../base/text.ts";
import { parseGroupMembers } from "../../fleet/groups.ts";
import type { WatchSink } from "../../observe/follow.ts";
import { type Drain, parseDrain } from "../../protocol/drain.ts";
import { FollowedKeys } from "../../protocol/followed-keys.ts";
import type { Keys } from "../../protocol/keys.ts";
import { checkSchema, isNewerSchema } from "../../protocol/schema.ts";
import type { KeyRange, KeyValue, WatchBatch } from "../../protocol/txn.ts";
import { type Calendar, parseCalendar } from "../../schedule/calendar/calendar.ts";
import { findCalendarFault, listCalendarNames } from "../../schedule/calendar/day-rule.ts";
import { parseWorker, type WorkerRecord } from "../../schedule/state/worker-record.ts";
import { createTiming, type Timing } from "../../schedule/timing.ts";
import {
  applyKey,
  type CachedSchedule,
  createCachedSchedule,
  isEmpty,
  removeScheduleKey,
} from "./cached-schedule.ts";

/** Receives changes of the cache after they are applied. */
export interface ScheduleCacheListener {
  /** A schedule or its running keys changed. */
  handleScheduleChange(entry: CachedSchedule): void;
  /** A worker has claimed an occurrence. */
  handleClaim(worker: string): void;
  /**
   * A worker record changed; `record` is undefined if it was deleted.
   * @param isNews false if the record comes from a full read and may be old
   */
  handleWorkerChange(id: string, record: WorkerRecord | undefined, isNews: boolean): void;
  /** Drains, groups or calendars changed. Any schedule may now be eligible on other hosts. */
  handleRulesChange(): void;
}

/**
 * Cache of all schedules with their state, of the workers, groups, calendars and drains, kept up to date by list and watch.
 * Excludes outcome histories.
 */
export class ScheduleCache extends FollowedKeys implements WatchSink {
  readonly ranges: readonly Required<KeyRange>[];
  readonly watchedRanges: readonly Required<KeyRange>[];
  readonly entries = new Map<string, CachedSchedule>();
  readonly workers = new Map<string, WorkerRecord>();
  readonly groups = new Map<string, readonly string[]>();
  readonly calendars = new Map<string, ParseResult<Calendar>>();
  readonly drains = new Map<string, Drain>();
  readonly #newerSchemas = new Set<string>();
  /** The schedules that the current batch of events has changed; undefined outside a batch. */
  #changed: Set<CachedSchedule> | undefined;
  readonly #keys: Keys;
  readonly #wall: () => number;
  readonly #listener: ScheduleCacheListener;

  /** @param wall  wall clock, ms since the epoch */
  constructor(keys: Keys, wall: () => number, listener: ScheduleCacheListener) {
    super();
    this.#keys = keys;
    this.#wall = wall;
    this.#listener = listener;
    this.ranges = listCachedRanges(keys);
    this.watchedRanges = listWatchedRanges(keys);
  }

  /** Returns the timing of a schedule; undefined if its definition or one of its calendars cannot be read. */
  getTiming(entry: CachedSchedule): Timing | undefined {
    if (entry.definition === undefined || entry.calendarFault !== undefined) return undefined;
    entry.timing ??= createTiming(entry.id, entry.definition, this.calendars);
    return entry.timing;
  }

  /**
   * Removes a running key that a transaction of this process has deleted. Progress may have been written into it.
   * @param token  its `create_revision`
   */
  deleteRunning(id: string, key: string, token: bigint): void {
    const isSame = this.entries.get(id)?.running.get(key)?.createRevision === token;
    const mod = this.revisions.get(key);
    if (isSame && mod !== undefined) this.applyDelete(key, mod);
  }

  /** Returns whether the next occurrence of a schedule must not start, because of its calendars. */
  isNextExcluded(entry: CachedSchedule): boolean {
    const next = entry.due?.next;
    if (next === undefined || entry.calendarFault !== undefined) return next !== undefined;
    return this.getTiming(entry)?.isExcluded(next) === true;
  }

  /** @throws ConfigError when a program of this version may not write any more */
  checkSchema(): void {
    checkSchema(this.#keys, this.#newerSchemas);
  }

  /** Reports each schedule once, when all events are applied: a claim and an end are two events each. */
  override apply(batch: WatchBatch): void {
    const changed = new Set<CachedSchedule>();
    this.#changed = changed;
    try {
      super.apply(batch);
    } finally {
      this.#changed = undefined;
      for (const entry of changed) this.#listener.handleScheduleChange(entry);
    }
  }

  #reportChange(entry: CachedSchedule): void {
    if (this.#changed === undefined) this.#listener.handleScheduleChange(entry);
    else this.#changed.add(entry);
  }

  protected override storeKey(kv: KeyValue): void {
    const parsed = this.#keys.parse(kv.key);
    switch (parsed.kind) {
      case "schedule":
      case "due":
      case "running": {
        const entry = this.#getOrCreateEntry(parsed.name);
        applyKey(entry, parsed.kind, kv);
        if (parsed.kind === "schedule") this.#checkCalendars(entry);
        // A later write of the key is only progress of the task.
        const isClaim = parsed.kind === "running" && kv.modRevision === kv.createRevision;
        if (isClaim && !this.isReading) this.#reportClaim(entry, kv.key);
        return this.#reportChange(entry);
      }
      case "worker":
        return this.#putWorker(parsed.name, kv);
      case "schema":
        if (isNewerSchema(this.#keys, kv.key)) this.#newerSchemas.add(kv.key);
        return;
      case "group": {
        const members = parseGroupMembers(kv.value);
        this.groups.set(parsed.name, "value" in members ? members.value : []);
        return this.#listener.handleRulesChange();
      }
      case "calendar":
        this.calendars.set(parsed.name, parseCalendar(kv.value));
        return this.#handleCalendarChange(parsed.name);
      case "drain": {
        const drain = parseDrain(this.#keys, kv);
        if (drain !== undefined) this.drains.set(kv.key, drain);
        return this.#listener.handleRulesChange();
      }
    }
  }

  #handleCalendarChange(name: string): void {
    for (const entry of this.entries.values())
      if (entry.definition !== undefined && listCalendarNames(entry.definition).includes(name)) {
        entry.timing = undefined;
        this.#checkCalendars(entry);
      }
    this.#listener.handleRulesChange();
  }

  #checkCalendars(entry: CachedSchedule): void {
    entry.calendarFault = entry.definition && findCalendarFault(entry.definition, this.calendars);
  }

  #getOrCreateEntry(id: string): CachedSchedule {
    const there = this.entries.get(id);
    if (there !== undefined) return there;
    const entry = createCachedSchedule(id, this.#wall());
    this.entries.set(id, entry);
    return entry;
  }

  #reportClaim({ running }: CachedSchedule, key: string): void {
    const worker = running.get(key)?.running?.worker;
    if (worker !== undefined) this.#listener.handleClaim(worker);
  }

  #putWorker(id: string, { value }: KeyValue): void {
    const parsed = parseWorker(value);
    if ("fault" in parsed) return this.#deleteWorker(id);
    this.workers.set(id, parsed.value);
    this.#listener.handleWorkerChange(id, parsed.value, !this.isReading);
  }

  #deleteWorker(id: string): void {
    if (this.workers.delete(id)) this.#listener.handleWorkerChange(id, undefined, true);
  }

  protected override removeKey(key: string): void {
    const parsed = this.#keys.parse(key);
    if (parsed.kind === "worker") return this.#deleteWorker(parsed.name);
    if (parsed.kind === "schema") return void this.#newerSchemas.delete(key);
    if (parsed.kind === "calendar" && this.calendars.delete(parsed.name))
      return this.#handleCalendarChange(parsed.name);
    if (parsed.kind === "group" ? this.groups.delete(parsed.name) : this.drains.delete(key))
      return this.#listener.handleRulesChange();
    const entry = "name" in parsed ? this.entries.get(parsed.name) : undefined;
    if (entry === undefined) return;
    removeScheduleKey(entry, parsed.kind, key, this.#wall());
    if (parsed.kind === "schedule") this.#checkCalendars(entry);
    if (isEmpty(entry)) this.entries.delete(entry.id);
    this.#reportChange(entry);
  }
}

/** Lists what a worker caches. Excludes outcomes, the largest values. */
function listCachedRanges(keys: Keys): Required<KeyRange>[] {
  return [
    keys.calendars(),
    keys.groups(),
    keys.schemas(),
    keys.drains(),
    keys.dues(),
    keys.runnings(),
    keys.schedules(),
    keys.workers(),
  ];
}

/**
 * Lists what a worker watches. Neighbouring ranges are merged, because the watch keeps the order only within one range,
 * and each range costs etcd a watcher.
 */
function listWatchedRanges(keys: Keys): Required<KeyRange>[] {
  return [
    { key: keys.calendars().key, rangeEnd: keys.schemas().rangeEnd },
    { key: keys.drains().key, rangeEnd: keys.dues().rangeEnd },
    { key: keys.runnings().key, rangeEnd: keys.workers().rangeEnd },
  ];
}
