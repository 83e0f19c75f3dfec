import type { WallTime } from "../../core/base/clock.ts";
import type { KeyValue } from "../../core/protocol/txn.ts";
import { type Definition, parseDefinition, runsOnEveryHost } from "../../schedule/definition.ts";
import { buildStateName, type DueState, parseDue } from "../../schedule/state/due.ts";
import { parseRunning, type RunningRecord } from "../../schedule/state/running-record.ts";
import { needsCalendars } from "../../schedule/state/start-occurrence.ts";
import type { Timing } from "../../schedule/timing.ts";

/** Shared by all schedules that do not run: a map of its own for each would be a sixth of a worker's memory. */
const NO_RUNNINGS: CachedSchedule["running"] = new Map();

/**
 * A schedule in the worker's cache; if it runs on every host, also the part of this host, in an entry of its own. Its state is
 * parsed when it is needed: most changes are claims and ends of other workers, of which only the last one matters. It always has
 * all fields: V8 stores an object to which fields are added, or from which they are deleted, in more memory.
 */
export class CachedSchedule {
  readonly id: string;
  /** See `buildStateName`. */
  readonly name: string;
  /** The host of this worker in the entry for it, which has its state; undefined in that of the schedule. */
  readonly host: string | undefined;
  /** Undefined in an entry for a host of a schedule that does not run on every host, and the other way round. */
  definition: Definition | undefined = undefined;
  definitionMod = 0n;
  /** Why the schedule cannot fire: the definition in etcd is malformed. */
  fault: string | undefined = undefined;
  /** Why its next occurrence cannot fire: a calendar is missing or cannot be read. */
  calendarFault: string | undefined = undefined;
  dueMod = 0n;
  /** The last `dueMod` with which a claim came too late. */
  missedMod = 0n;
  /** Until when it keeps its place in its serial queue: this worker claims it then. 0 for no place. */
  heldUntil: WallTime = 0;
  /**
   * Running keys that this worker has read or written, by key. The watch shows their end, but not those of other workers: their
   * occurrences are in the state. A key whose value cannot be read also blocks the next occurrence.
   */
  running: ReadonlyMap<string, RunningKey> = NO_RUNNINGS;
  /**
   * Start of the claim delay, wall clock of this host, ms: the state has changed, a running key or its worker has gone, or the
   * schedule was first read.
   */
  freeSince: WallTime;
  timing: Timing | undefined = undefined;
  /**
   * From when on the schedule runs on this host; undefined: from its first occurrence, because it was added,
   * or came to run on every host, while the worker watched; Infinity: from the next plan on, because the worker could not run
   * it before. It matters until the host has a state.
   */
  since: WallTime | undefined;
  /** Random number in [0, 1), for the claim delay of a worker that is not first in rank. */
  delayFactor: number | undefined = undefined;
  /** The workers that come before this one, as `WorkerEligibility` has computed them last, and when. */
  before: readonly string[] = [];
  beforeAt = 0;
  /** The state, or its text until it is needed. */
  #due: DueState | string | undefined = undefined;

  constructor({ id, host, since }: Pick<CachedSchedule, "id" | "host" | "since">, freeSince: WallTime) {
    this.id = id;
    this.name = buildStateName(id, host);
    this.host = host;
    this.since = since;
    this.freeSince = freeSince;
  }

  /** Undefined if there is none, or it cannot be read. */
  get due(): DueState | undefined {
    if (typeof this.#due === "string") {
      const parsed = parseDue(this.#due);
      this.#due = "value" in parsed ? parsed.value : undefined;
    }
    return this.#due;
  }

  set due(due: DueState | string | undefined) {
    this.#due = due;
  }

  /** Returns whether a worker has started an occurrence that has not ended. */
  isStartedBy(worker: string): boolean {
    if (typeof this.#due === "string") return this.#due.includes(worker) && hasStarted(this.due, worker);
    return hasStarted(this.#due, worker);
  }
}

function hasStarted(due: DueState | undefined, worker: string): boolean {
  return due?.open.some(({ session }) => session?.worker === worker) === true;
}

/** A running key. Its record is parsed when it is needed. */
class RunningKey {
  readonly createRevision: bigint;
  /** Otherwise it never expires, and no worker has it. */
  readonly hasSession: boolean;
  #running: RunningRecord | string | undefined;

  constructor({ createRevision, session, value }: KeyValue) {
    this.createRevision = createRevision;
    this.hasSession = session !== 0n;
    this.#running = value;
  }

  /** Undefined if it cannot be read. */
  get running(): RunningRecord | undefined {
    if (typeof this.#running === "string") {
      const parsed = parseRunning(this.#running);
      this.#running = "value" in parsed ? parsed.value : undefined;
    }
    return this.#running;
  }
}

/** @param now  wall clock, ms; undefined if the key was there before */
export function applyKey(
  entry: CachedSchedule,
  kind: "schedule" | "due" | "running",
  kv: KeyValue,
  now?: WallTime,
): void {
  if (kind === "schedule") setDefinition(entry, kv);
  else if (kind === "due") {
    entry.due = kv.value;
    entry.dueMod = kv.modRevision;
    entry.freeSince = now ?? entry.freeSince;
  } else entry.running = new Map(entry.running).set(kv.key, new RunningKey(kv));
}

function setDefinition(entry: CachedSchedule, { value, modRevision }: KeyValue): void {
  const parsed = parseDefinition(value);
  entry.definitionMod = modRevision;
  entry.timing = undefined;
  entry.beforeAt = 0;
  entry.fault = "fault" in parsed ? parsed.fault : undefined;
  entry.definition = "value" in parsed && isForEntry(parsed.value, entry) ? parsed.value : undefined;
}

function isForEntry(definition: Definition, { host }: CachedSchedule): boolean {
  return runsOnEveryHost(definition) === (host !== undefined);
}

function clearDefinition(entry: CachedSchedule): void {
  entry.definition = undefined;
  entry.timing = undefined;
  entry.fault = undefined;
  entry.definitionMod = 0n;
  entry.beforeAt = 0;
}

/** Removes one of the schedule's keys. */
export function removeScheduleKey(entry: CachedSchedule, kind: string, key: string, now: WallTime): void {
  if (kind === "schedule") clearDefinition(entry);
  else if (kind === "due") {
    entry.due = undefined;
    entry.dueMod = 0n;
    entry.since = Infinity; // it begins again, and not where it began at first
  } else if (entry.running.has(key)) {
    const left = [...entry.running].filter(([other]) => other !== key);
    entry.running = left.length === 0 ? NO_RUNNINGS : new Map(left);
    entry.freeSince = now;
  }
}

/** Returns the state without the occurrences that must not start, because a calendar of the schedule is missing. */
export function getStartableDue({ due, calendarFault }: CachedSchedule): DueState | undefined {
  if (due === undefined || calendarFault === undefined) return due;
  const { next: _, open, ...rest } = due;
  return { ...rest, open: open.filter((one) => !needsCalendars(one)) };
}

/** Returns whether no key of the schedule is left; for a host: whether it does not run there, and has no state there. */
export function isEmpty({ definitionMod, definition, host, dueMod, running }: CachedSchedule): boolean {
  const isUndefined = host === undefined ? definitionMod === 0n : definition === undefined;
  return isUndefined && dueMod === 0n && running.size === 0;
}
