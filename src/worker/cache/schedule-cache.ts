import type { WallTime } from "../../core/base/clock.ts";
import type { ParseResult } from "../../core/base/text.ts";
import { parseGroupMembers } from "../../core/fleet/groups.ts";
import { type Drain, parseDrain } from "../../core/protocol/drain.ts";
import { FollowedKeys } from "../../core/protocol/followed-keys.ts";
import { guardNotNewer } from "../../core/protocol/guards.ts";
import type { Keys, ParsedKey } from "../../core/protocol/keys.ts";
import { checkSchema, isNewerSchema } from "../../core/protocol/schema.ts";
import type { Compare, KeyRange, KeyValue, WatchBatch } from "../../core/protocol/txn.ts";
import { type Calendar, parseCalendar } from "../../schedule/calendar/calendar.ts";
import { findCalendarFault, listCalendarNames } from "../../schedule/calendar/day-rule.ts";
import { buildStateName, findStarter, type OpenOccurrence } from "../../schedule/state/due.ts";
import { claimsTheSame, parseWorker, type WorkerRecord } from "../../schedule/state/running-record.ts";
import { createTiming, type Timing } from "../../schedule/timing.ts";
import type { WatchedRange, WatchSink } from "../../site/observe/follow.ts";
import { applyKey, CachedSchedule, isEmpty, removeScheduleKey } from "./cached-schedule.ts";

const NO_TIMES: ReadonlySet<WallTime> = new Set();

/** Receives changes of the cache after they are applied. */
export interface ScheduleCacheListener {
  /** A schedule or its running keys changed. @param isDefinition  whether its definition did */
  handleScheduleChange(entry: CachedSchedule, isDefinition: boolean): void;
  /** A worker has started an occurrence, or the state of one that it runs has changed. */
  handleClaim?(worker: string): void;
  /** Another set of workers claims, or they can run other schedules. Their records change more often: each states a time. */
  handleWorkersChange?(): void;
  /**
   * A worker record changed; `record` is undefined if it was deleted.
   * @param isNews false if the record comes from a full read and may be old
   */
  handleWorkerChange?(id: string, record: WorkerRecord | undefined, isNews: boolean): void;
  /** Drains, groups or calendars changed. Any schedule may now be eligible on other hosts. */
  handleRulesChange?(): void;
}

/**
 * Cache of all schedules with their state, of the workers, groups, calendars and drains, kept up to date by list and watch.
 * Excludes outcome histories.
 */
export class ScheduleCache extends FollowedKeys implements WatchSink {
  readonly ranges: readonly Required<KeyRange>[];
  readonly watchedRanges: readonly WatchedRange[];
  /** By `buildStateName`. */
  readonly entries = new Map<string, CachedSchedule>();
  readonly workers = new Map<string, WorkerRecord>();
  readonly groups = new Map<string, readonly string[]>();
  readonly calendars = new Map<string, ParseResult<Calendar>>();
  readonly drains = new Map<string, Drain>();
  /** By watched range: the revision of the last event, or of the read. Events of two ranges arrive in any order. */
  #rangeRevisions: readonly bigint[] = [];
  /** For each read of running keys that is under way: the keys that were deleted meanwhile, and when. */
  readonly #runningReads = new Set<Map<string, bigint>>();
  readonly #newerSchemas = new Set<string>();
  /** The schedules that the current batch of events has changed, and whether their definitions; undefined outside a batch. */
  #changed: Map<CachedSchedule, boolean> | undefined;
  readonly #keys: Keys;
  readonly #wall: () => number;
  readonly #listener: ScheduleCacheListener;
  readonly #host: string | undefined;

  /**
   * @param wall  wall clock, ms since the epoch
   * @param host  this host, to cache its state of schedules that run on every host; undefined: they are not cached
   */
  constructor(keys: Keys, wall: () => number, listener: ScheduleCacheListener, host?: string) {
    super();
    this.#host = host;
    this.#keys = keys;
    this.#wall = wall;
    this.#listener = listener;
    this.ranges = listCachedRanges(keys);
    this.watchedRanges = listWatchedRanges(keys);
  }

  /** Returns the timing of a schedule; undefined if its definition or one of its calendars cannot be read. */
  getTiming(entry: CachedSchedule): Timing | undefined {
    if (entry.definition === undefined || entry.calendarFault !== undefined) return undefined;
    entry.timing ??= createTiming(entry.name, entry.definition, this.calendars);
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

  /** Builds guards that refuse if a key of these ranges is newer than what the cache has of its watched range. */
  guardRules(...ranges: readonly Required<KeyRange>[]): Compare[] {
    return ranges.flatMap((range) => {
      const known = this.#rangeRevisions[this.#findWatchedRange(range.key)];
      return guardNotNewer(known ?? this.revision, range);
    });
  }

  #findWatchedRange(key: string): number {
    return this.watchedRanges.findIndex((range) => key >= range.key && key < range.rangeEnd);
  }

  /** Returns the scheduled times of the occurrences of a schedule that run, as far as this worker knows. */
  listRunning(entry: CachedSchedule): ReadonlySet<WallTime> {
    const started = this.listStarted(entry);
    if (entry.running.size + started.length === 0) return NO_TIMES;
    const known = [...entry.running].map(
      ([key, one]) => this.#parseScheduled(key) ?? one.running?.scheduled ?? -1,
    );
    return new Set([...known, ...started.map(({ scheduled }) => scheduled)]);
  }

  /** Lists the occurrences that workers have started, and that have not ended: each goes with its worker at the latest. */
  listStarted({ due }: CachedSchedule): readonly OpenOccurrence[] {
    if (due === undefined || due.open.length === 0) return [];
    return due.open.filter(
      ({ session }) => session?.worker !== undefined && this.workers.has(session.worker),
    );
  }

  /** Reads the scheduled time from a running key. With overlapping occurrences this works even if the value cannot be read. */
  #parseScheduled(key: string): WallTime | undefined {
    const parsed = this.#keys.parse(key);
    return parsed.kind === "running" ? parsed.scheduled : undefined;
  }

  /**
   * Adds running keys that are read now, because the watch does not show their start. What it shows of their end meanwhile is newer.
   * @returns what `read` returns
   */
  async addRunning<T extends { kvs: readonly KeyValue[] }>(read: () => Promise<T>): Promise<T> {
    const deleted = new Map<string, bigint>();
    this.#runningReads.add(deleted);
    try {
      const answer = await read();
      if (this.#runningReads.has(deleted))
        for (const kv of answer.kvs) if ((deleted.get(kv.key) ?? 0n) < kv.modRevision) this.applyPut(kv);
      return answer;
    } finally {
      this.#runningReads.delete(deleted);
    }
  }

  /** A full read includes what is read meanwhile. */
  override begin(): void {
    super.begin();
    this.#runningReads.clear();
  }

  override finish(revision: bigint): void {
    super.finish(revision);
    this.#rangeRevisions = this.watchedRanges.map(() => revision);
  }

  /** Reports each schedule once, when all events are applied: a claim and an end are two events each. */
  override apply(batch: WatchBatch): void {
    const changed = new Map<CachedSchedule, boolean>();
    this.#changed = changed;
    try {
      super.apply(batch);
      this.#rangeRevisions = this.#computeRangeRevisions(batch);
    } finally {
      this.#changed = undefined;
      for (const change of changed) this.#listener.handleScheduleChange(...change);
    }
  }

  #computeRangeRevisions({ events }: WatchBatch): bigint[] {
    const revisions = [...this.#rangeRevisions];
    for (const event of events) {
      const isPut = event.type === "put";
      if (!isPut) for (const deleted of this.#runningReads) deleted.set(event.key, event.revision);
      const index = this.#findWatchedRange(isPut ? event.kv.key : event.key);
      const revision = isPut ? event.kv.modRevision : event.revision;
      if (revision > (revisions[index] ?? 0n)) revisions[index] = revision;
    }
    return revisions;
  }

  #reportChange(entry: CachedSchedule, isDefinition: boolean): void {
    if (this.#changed === undefined) this.#listener.handleScheduleChange(entry, isDefinition);
    else this.#changed.set(entry, isDefinition || this.#changed.get(entry) === true);
  }

  protected override storeKey(kv: KeyValue): void {
    const parsed = this.#keys.parse(kv.key);
    switch (parsed.kind) {
      case "schedule":
      case "due":
      case "running": {
        const touched = this.#listTouched(parsed);
        const wasSingle = touched[0]?.definition !== undefined;
        for (const entry of touched) {
          applyKey(entry, parsed.kind, kv, this.isReading ? undefined : this.#wall());
          if (parsed.kind === "schedule") this.#checkCalendars(entry);
        }
        if (parsed.kind === "schedule") this.#addHostEntry(touched, kv, wasSingle);
        if (parsed.kind === "due" && !this.isReading) this.#reportStarter(kv);
        for (const entry of touched) this.#finishChange(entry, parsed.kind === "schedule");
        return;
      }
      case "worker":
        return this.#putWorker(parsed.name, kv);
      case "schema":
        if (isNewerSchema(this.#keys, kv.key)) this.#newerSchemas.add(kv.key);
        return;
      case "group": {
        const members = parseGroupMembers(kv.value);
        this.groups.set(parsed.name, "value" in members ? members.value : []);
        return this.#listener.handleRulesChange?.();
      }
      case "calendar":
        this.calendars.set(parsed.name, parseCalendar(kv.value));
        return this.#handleCalendarChange(parsed.name);
      case "drain": {
        const drain = parseDrain(this.#keys, kv);
        if (drain !== undefined) this.drains.set(kv.key, drain);
        return this.#listener.handleRulesChange?.();
      }
    }
  }

  #handleCalendarChange(name: string): void {
    for (const entry of this.entries.values())
      if (entry.definition !== undefined && listCalendarNames(entry.definition).includes(name)) {
        entry.timing = undefined;
        this.#checkCalendars(entry);
      }
    this.#listener.handleRulesChange?.();
  }

  #checkCalendars(entry: CachedSchedule): void {
    entry.calendarFault = entry.definition && findCalendarFault(entry.definition, this.calendars);
  }

  /** Returns the entries that a key belongs to. That of a schedule has the running keys of all hosts. */
  #listTouched(parsed: StateKey): CachedSchedule[] {
    const { kind, name } = parsed;
    const host = kind === "schedule" ? undefined : parsed.host;
    if (kind === "due" && host !== undefined) {
      // Its state is there, so it does not matter from when on the schedule runs on this host.
      return host === this.#host
        ? [this.#findHostEntry(name) ?? this.#createHostEntry(name, host, Infinity)]
        : [];
    }
    const base = this.#getOrCreateEntry(name);
    const own = kind === "due" ? undefined : this.#findHostEntry(name);
    const isTouched = own !== undefined && (kind === "schedule" || this.#isForHost(host));
    return isTouched ? [base, own] : [base];
  }

  /**
   * Adds the entry for this host of a schedule that runs on every host, once its definition is there.
   * @param wasSingle  whether it ran on one host before: its state then says what is due
   */
  #addHostEntry(touched: CachedSchedule[], kv: KeyValue, wasSingle: boolean): void {
    const [base, own] = touched;
    const isOnEveryHost = base?.definition === undefined && base?.fault === undefined;
    if (base === undefined || own !== undefined || this.#host === undefined || !isOnEveryHost) return;
    const since = wasSingle || this.#isAddedMeanwhile(kv) ? undefined : this.#wall();
    const added = this.#createHostEntry(base.id, this.#host, since);
    applyKey(added, "schedule", kv);
    this.#checkCalendars(added);
    touched.push(added);
  }

  /** Returns whether a key was created while this worker watched; also if the watch was interrupted meanwhile. */
  #isAddedMeanwhile({ createRevision, modRevision }: KeyValue): boolean {
    if (!this.isReading) return createRevision === modRevision;
    return this.revision > 0n && createRevision > this.revision;
  }

  #findHostEntry(id: string): CachedSchedule | undefined {
    return this.#host === undefined ? undefined : this.entries.get(buildStateName(id, this.#host));
  }

  /** Whether a run keeps the schedule from starting on this host: it is on this host, or from when it had one state. */
  #isForHost(host: string | undefined): boolean {
    return host === undefined || host === this.#host;
  }

  #createHostEntry(id: string, host: string, since: number | undefined): CachedSchedule {
    const entry = new CachedSchedule({ id, host, since }, this.#wall());
    for (const [key, running] of this.entries.get(id)?.running ?? []) {
      const parsed = this.#keys.parse(key);
      if (parsed.kind === "running" && this.#isForHost(parsed.host))
        entry.running = new Map(entry.running).set(key, running);
    }
    this.entries.set(entry.name, entry);
    return entry;
  }

  #getOrCreateEntry(id: string): CachedSchedule {
    const there = this.entries.get(id);
    if (there !== undefined) return there;
    const entry = new CachedSchedule({ id, host: undefined, since: undefined }, this.#wall());
    this.entries.set(id, entry);
    return entry;
  }

  #finishChange(entry: CachedSchedule, isDefinition: boolean): void {
    if (isEmpty(entry)) this.entries.delete(entry.name);
    this.#reportChange(entry, isDefinition);
  }

  #reportStarter({ value }: KeyValue): void {
    const worker = findStarter(value);
    if (worker !== undefined) this.#listener.handleClaim?.(worker);
  }

  #putWorker(id: string, { value }: KeyValue): void {
    const parsed = parseWorker(value);
    if ("fault" in parsed) return this.#deleteWorker(id);
    const before = this.workers.get(id);
    this.workers.set(id, parsed.value);
    if (before === undefined || !claimsTheSame(before, parsed.value)) this.#listener.handleWorkersChange?.();
    this.#listener.handleWorkerChange?.(id, parsed.value, !this.isReading);
  }

  #deleteWorker(id: string): void {
    if (!this.workers.delete(id)) return;
    this.#listener.handleWorkersChange?.();
    this.#listener.handleWorkerChange?.(id, undefined, true);
    for (const entry of this.entries.values())
      if (entry.isStartedBy(id)) {
        entry.freeSince = this.#wall();
        this.#reportChange(entry, false);
      }
  }

  protected override removeKey(key: string): void {
    const parsed = this.#keys.parse(key);
    if (parsed.kind === "worker") return this.#deleteWorker(parsed.name);
    if (parsed.kind === "schema") return void this.#newerSchemas.delete(key);
    if (parsed.kind === "calendar" && this.calendars.delete(parsed.name))
      return this.#handleCalendarChange(parsed.name);
    if (parsed.kind === "group" ? this.groups.delete(parsed.name) : this.drains.delete(key))
      return this.#listener.handleRulesChange?.();
    if (!("name" in parsed)) return;
    const host = "host" in parsed ? parsed.host : undefined;
    for (const entry of [this.entries.get(parsed.name), this.#findHostEntry(parsed.name)]) {
      if (entry === undefined || (parsed.kind === "due" && entry.host !== host)) continue;
      removeScheduleKey(entry, parsed.kind, key, this.#wall());
      if (parsed.kind === "schedule") this.#checkCalendars(entry);
      this.#finishChange(entry, parsed.kind === "schedule");
    }
  }
}

/** A key of a schedule that workers cache. */
type StateKey = Extract<ParsedKey, { kind: "schedule" | "due" | "running" }>;

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
 * and each range costs etcd a watcher. Of running keys, it watches the end: a state shows the start.
 */
function listWatchedRanges(keys: Keys): WatchedRange[] {
  return [
    { key: keys.calendars().key, rangeEnd: keys.schemas().rangeEnd },
    { key: keys.drains().key, rangeEnd: keys.dues().rangeEnd },
    { ...keys.runnings(), only: "deletes" },
    { key: keys.schedules().key, rangeEnd: keys.workers().rangeEnd },
  ];
}
