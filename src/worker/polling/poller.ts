import { type Clock, type Millis, raceAbort, type WallTime } from "../../core/base/clock.ts";
import { pickDefined } from "../../core/base/pick-defined.ts";
import type { MacroLookup } from "../../core/fleet/arithmetic.ts";
import { VanishedTickets } from "../../core/run/vanished-tickets.ts";
import type { Definition } from "../../schedule/definition.ts";
import type { HookPermission } from "../../schedule/definition-values.ts";
import type { Candidate } from "../../schedule/state/next-candidate.ts";
import { followEtcd } from "../../site/observe/follow.ts";
import { readScheduleKeys } from "../../site/operate/stored-schedules.ts";
import type { CachedSchedule } from "../cache/cached-schedule.ts";
import { ScheduleCache } from "../cache/schedule-cache.ts";
import { findClaimCandidate } from "../claims/claim-candidate.ts";
import { type ClaimContext, claimOccurrence } from "../claims/claim-occurrence.ts";
import { ConditionGate } from "../claims/condition-gate.ts";
import type { WorkerListener } from "../events.ts";
import { buildWorkerRecord } from "../registration/worker-heartbeat.ts";
import { WorkerRegistration } from "../registration/worker-registration.ts";
import { applyCompletion } from "../tasks/complete-task.ts";
import { createStrayRelease } from "../tasks/stray-claims.ts";
import { reportUnstarted } from "../tasks/task-pool.ts";
import { InterruptibleSleep, TimerQueue } from "../timer-queue.ts";
import type { SchedulePorts } from "../worker-ports.ts";
import { PolledTask } from "./polled-task.ts";

/** Lets several callers wait until something changes. A change between a caller's look and its wait is not missed. */
class ChangeSignal {
  readonly #clock: Clock;
  readonly #sleeps = new Set<InterruptibleSleep>();
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of changes so far. */
  get count(): number {
    return this.#count;
  }

  recordChange(): void {
    this.#count += 1;
    for (const sleep of this.#sleeps) sleep.wake();
  }

  /**
   * Waits until there is a change after the first `since`, `ms` have passed, or the signal is aborted. Never rejects.
   */
  async wait(since: number, ms: Millis, signal: AbortSignal): Promise<void> {
    if (this.#count !== since || ms <= 0) return;
    const sleep = new InterruptibleSleep(this.#clock);
    this.#sleeps.add(sleep);
    await sleep.sleep(ms, signal);
    this.#sleeps.delete(sleep);
  }
}

export interface PollerOptions {
  host: string;
  pid: number;
  version: string;
  /** TTL of the session, whole seconds. */
  ttl: number;
  /**
   * Longest time between two heartbeats before a task is given back. Default: no heartbeats are needed while the
   * session is renewed.
   */
  aliveTime?: Millis;
  /** Measures the host, for conditions of schedules: see `createConditionLookup`. */
  measure: MacroLookup;
  /** Returns whether the program can run a schedule. Default: every schedule. */
  canAccept?(definition: Definition): boolean;
  /** Which hooks of schedules the program calls, for the record. */
  hooks?: HookPermission;
  /** Receives the events of tasks, and of occurrences that do not start. It must not throw. */
  listener?: WorkerListener;
}

/** The wall clock may jump while a poll waits, so it is read again after this time, ms. */
const LONGEST_SLEEP = 10_000;

/** Claims tasks one at a time, for programs that run them themselves. */
export class Poller {
  readonly #ports: SchedulePorts;
  readonly #options: PollerOptions;
  readonly #registration: WorkerRegistration;
  readonly #cache: ScheduleCache;
  readonly #releaseStray: (entry: CachedSchedule) => void;
  readonly #context: ClaimContext;
  /** The schedule whose claim is under way. */
  #claiming: string | undefined;
  readonly #timers = new TimerQueue();
  readonly #changed: ChangeSignal;
  readonly #tasks = new Set<PolledTask>();
  readonly #over = new AbortController();
  readonly #read = Promise.withResolvers<void>();
  #following: Promise<void>;
  #followError: unknown;

  /**
   * Opens a session and waits for the first read of all schedules.
   * @throws StoreError; the signal's reason
   */
  static async open(ports: SchedulePorts, options: PollerOptions, signal: AbortSignal): Promise<Poller> {
    const handlers = { types: [], ...pickDefined({ hooks: options.hooks }), find: () => undefined };
    const facts = { ...options, tags: [], concurrency: 0, handlers };
    const buildRecord = () => buildWorkerRecord(ports, facts);
    const registration = await WorkerRegistration.join(ports, options.ttl, buildRecord, signal);
    const poller = new Poller(ports, options, registration);
    try {
      await raceAbort(Promise.race([poller.#read.promise, poller.#following]), signal);
      return poller;
    } catch (error) {
      await poller.close(); // otherwise it would renew its session as long as the program lives
      throw error;
    }
  }

  private constructor(ports: SchedulePorts, options: PollerOptions, registration: WorkerRegistration) {
    this.#ports = ports;
    this.#options = options;
    this.#registration = registration;
    this.#changed = new ChangeSignal(ports.clock);
    const listener = { handleScheduleChange: (entry: CachedSchedule) => this.#handleScheduleChange(entry) };
    const cache = new ScheduleCache(ports.keys, () => ports.clock.getWallTime(), listener);
    this.#cache = cache;
    const { host, pid } = options;
    const vanished = new VanishedTickets(ports.clock);
    const conditions = new ConditionGate(host, options.measure, ports);
    this.#context = { ports, registration, cache, vanished, conditions, host, pid };
    const isTask = (run: string) => [...this.#tasks].some(({ claimed }) => claimed.running.run === run);
    this.#releaseStray = createStrayRelease(this.#context, isTask);
    this.#following = this.#watch();
  }

  /** Whether the session is lost. Other workers may then claim its tasks; open another poller. */
  get isLost(): boolean {
    return this.#registration.session.signal.aborted;
  }

  /**
   * Claims the task that has been due longest.
   * @returns undefined if nothing is due
   * @throws StoreError; ConfigError when this program is too old to claim tasks
   */
  async poll(): Promise<PolledTask | undefined> {
    this.#throwFollowError();
    this.#cache.checkSchema();
    await this.expire();
    const now = this.#ports.clock.getWallTime();
    for (let id = this.#timers.take(now); id !== undefined; id = this.#timers.take(now)) {
      const task = await this.#take(id, now);
      if (task !== undefined) return task;
    }
    return undefined;
  }

  /** Number of changes that may have made a task due. Read it before the poll after which you wait. */
  get changeCount(): number {
    return this.#changed.count;
  }

  /**
   * Waits until a task may be due: its time comes, a schedule changes after the first `since` changes, a heartbeat is
   * missing, the session is lost, or the watch fails. Never rejects.
   * @param most  ms
   */
  async waitForChange(since: number, most: number, signal: AbortSignal): Promise<void> {
    const beats = [...this.#tasks].map(({ aliveUntil }) => aliveUntil);
    const next = Math.min(this.#timers.next ?? Infinity, ...beats);
    const left = Math.max(1, next - this.#ports.clock.getWallTime());
    const either = AbortSignal.any([signal, this.#registration.session.signal]);
    await this.#changed.wait(since, Math.min(most, left, LONGEST_SLEEP), either);
  }

  /**
   * Reads some schedules whose changes the watch may not have delivered yet.
   * @throws StoreError
   */
  async refresh(ids: readonly string[]): Promise<void> {
    const { signal } = this.#registration.session;
    for await (const kv of readScheduleKeys(this.#ports, ids, signal)) this.#cache.applyPut(kv);
  }

  /** Gives back tasks without a heartbeat in time. */
  async expire(): Promise<void> {
    const now = this.#ports.clock.getWallTime();
    const late = [...this.#tasks].filter((task) => task.aliveUntil <= now);
    for (const task of late) await task.release("no heartbeat came in time").catch(() => {});
  }

  /** Gives back unfinished tasks and ends the session. */
  async close(): Promise<void> {
    for (const task of [...this.#tasks]) await task.release("the program ends").catch(() => {});
    this.#over.abort(new Error("closed"));
    await this.#following.catch(() => {});
    await this.#registration.leave();
  }

  /** Watches etcd. If etcd refuses the watch for good, the next poll throws the error and restarts the watch. */
  #watch(): Promise<void> {
    const over = AbortSignal.any([this.#registration.session.signal, this.#over.signal]);
    const following = this.#follow(over);
    following.catch((error) => {
      if (over.aborted) return;
      this.#followError = error;
      this.#changed.recordChange();
    });
    return following;
  }

  #throwFollowError(): void {
    const error = this.#followError;
    if (error === undefined) return;
    this.#followError = undefined;
    this.#following = this.#watch();
    throw error;
  }

  async #take(id: string, now: WallTime): Promise<PolledTask | undefined> {
    const entry = this.#cache.entries.get(id);
    const candidate = entry && this.#findCandidate(entry, now);
    if (entry === undefined || candidate === undefined) return undefined;
    this.#claiming = id;
    try {
      return await this.#claim(entry, candidate, now);
    } catch (error) {
      this.#timers.set(id, now); // no change will set the timer again
      throw error;
    } finally {
      this.#claiming = undefined;
      this.#releaseStray(entry);
    }
  }

  async #claim(entry: CachedSchedule, candidate: Candidate, now: WallTime): Promise<PolledTask | undefined> {
    const { ports, registration, cache } = this.#context;
    const result = await claimOccurrence(this.#context, entry, candidate);
    const { listener = () => {} } = this.#options;
    if ("outcomes" in result) reportUnstarted(listener, entry, result);
    if (result.kind !== "claimed") {
      // Without an end, the watch delivers the change of the other worker.
      if (result.kind !== "skipped") this.#timers.set(entry.name, result.until ?? now + 1);
      return undefined;
    }
    const { claimed } = result;
    const task = new PolledTask(ports, claimed, registration, this.#options, (how) => {
      applyCompletion(cache, ports.keys, claimed, how);
      this.#tasks.delete(task);
    });
    this.#tasks.add(task);
    if (registration.session.horizon > ports.clock.now()) return task;
    await task.release("the session may have ended since the claim").catch(() => {}); // the session is over
    return undefined;
  }

  #handleScheduleChange(entry: CachedSchedule): void {
    for (const task of this.#tasks) if (task.claimed.name === entry.name) task.endIfCanceled(entry.due);
    this.#plan(entry);
  }

  #plan(entry: CachedSchedule): void {
    if (entry.id !== this.#claiming) this.#releaseStray(entry);
    this.#timers.set(entry.name, this.#findCandidate(entry, this.#ports.clock.getWallTime())?.runAt);
    this.#changed.recordChange();
  }

  #findCandidate(entry: CachedSchedule, now: WallTime): Candidate | undefined {
    const { definition } = entry;
    if (definition === undefined || this.#options.canAccept?.(definition) === false) return undefined;
    return findClaimCandidate(this.#context, entry, now);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const news of followEtcd(this.#ports, this.#cache, signal)) {
      if (news.kind === "read") this.#read.resolve();
    }
  }
}
