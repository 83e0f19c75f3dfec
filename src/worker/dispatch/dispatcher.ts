import type { Millis, WallTime } from "../../core/base/clock.ts";
import type { MacroLookup } from "../../core/fleet/arithmetic.ts";
import { getScheduleType, runsAtBoot } from "../../schedule/definition.ts";
import { findSerialQueue } from "../../schedule/serial-queue.ts";
import { isNewBoot } from "../../schedule/state/boot.ts";
import type { Candidate } from "../../schedule/state/next-candidate.ts";
import type { CachedSchedule } from "../cache/cached-schedule.ts";
import {
  CLAIM_STAGGER,
  type ClaimOrder,
  computeClaimTime,
  computePlacedClaimTime,
  computeTurn,
  findClaimCandidate,
  getOpenSince,
  LONGEST_DEFERENCE,
} from "../claims/claim-candidate.ts";
import type { ClaimContext, ClaimedOccurrence } from "../claims/claim-occurrence.ts";
import { createLoadMeter } from "../claims/load-meter.ts";
import type { WorkerListener } from "../events.ts";
import type { Handler, HandlerRegistry, TaskLost } from "../handler.ts";
import { createRateLimitedLog } from "../rate-limited-log.ts";
import { createStrayRelease } from "../tasks/stray-claims.ts";
import { TaskPool } from "../tasks/task-pool.ts";
import { InterruptibleSleep, TimerQueue } from "../timer-queue.ts";
import type { SchedulePorts } from "../worker-ports.ts";
import { DeferredSchedules } from "./deferred-schedules.ts";
import { type OccurrenceClaim, PendingClaims } from "./pending-claims.ts";
import { RUNNING_PLACE, SerialQueues } from "./serial-queues.ts";
import { WorkerEligibility } from "./worker-eligibility.ts";

/** Creates what logs why schedules do not fire: a calendar is missing or cannot be read. Each fault of a schedule once. */
function createFaultReporter({ log, clock }: SchedulePorts): (entry: CachedSchedule) => void {
  const warn = createRateLimitedLog(log, clock);
  const reported = new Map<string, string>();
  return ({ id, name, calendarFault: why }) => {
    if (reported.get(name) === why) return;
    if (why === undefined) return void reported.delete(name);
    reported.set(name, why);
    warn("a schedule does not fire", { schedule: id, why });
  };
}

export interface DispatchOptions {
  /** They change when the worker reloads its file. */
  handlers: HandlerRegistry;
  /** Maximum number of concurrent tasks. */
  concurrency: number;
  /** Time that a task has to end before the session may have expired. */
  terminationTimeout: Millis;
  /** Measures the host, for conditions and places of schedules: see `createConditionLookup`. */
  measure: MacroLookup;
  listener: WorkerListener;
}

/** Longest sleep, ms: wall clocks are set, and drains expire without an event. */
const LONGEST_SLEEP = 1_000;

/** How long a change of what other workers run first can wait: this one lets them go first for longer. */
const REFRESH_DELAY_MS: Millis = 500;

/** Delay per rank up to rank 2 after the end of a task, for the next one of its serial queue, ms. */
const QUEUE_STAGGER = 250;

/** A priority outweighs this lateness, ms: two centuries. */
const PRIORITY_STEP = 6.4e12;

/** Claims due occurrences, in the order in which they became due, up to the concurrency limit. */
export class Dispatcher {
  readonly #context: ClaimContext;
  readonly #options: DispatchOptions;
  readonly #taskPool: TaskPool;
  /** When to consider a schedule. */
  readonly #timers = new TimerQueue();
  readonly #deferred = new DeferredSchedules((before, openSince) =>
    computeTurn(openSince, this.#buildClaimOrder(before, this.#getWallTime())),
  );
  /**
   * Schedules to consider now, by their priority and the time at which they became due. What another worker did not take has waited for
   * longer than a backlog, and comes first.
   */
  readonly #ready = new TimerQueue();
  /** Names of the schedules whose changes wait, and since when. */
  readonly #outdated = new Set<string>();
  #outdatedSince: WallTime = 0;
  readonly #serialQueues = new SerialQueues();
  readonly #eligibility: WorkerEligibility;
  readonly #measureLoad: (taken: number) => number;
  readonly #pendingClaims: PendingClaims;
  readonly #releaseStray: (entry: CachedSchedule) => void;
  /** Types without a handler that were reported. */
  readonly #unknownTypes = new Set<string>();
  readonly #reportFault: (entry: CachedSchedule) => void;
  readonly #done = Promise.withResolvers<void>();
  readonly #sleep: InterruptibleSleep;
  #state: "reading" | "listening" | "open" | "closed" = "reading";
  readonly #canFire: () => boolean;
  #drain: string | undefined;
  #latest = -Infinity;
  /** When the watch has last shown a claim of a worker. */
  readonly #lastClaims = new Map<string, WallTime>();
  #stopReason: (() => TaskLost) | undefined;

  /** @param canFire  whether the clock can be trusted now */
  constructor(context: ClaimContext, options: DispatchOptions, canFire: () => boolean) {
    this.#context = context;
    this.#options = options;
    this.#canFire = canFire;
    const { ports, cache, registration, host } = context;
    this.#sleep = new InterruptibleSleep(ports.clock);
    this.#eligibility = new WorkerEligibility(cache, host, registration.id);
    this.#measureLoad = createLoadMeter(options.measure, ports.clock);
    this.#reportFault = createFaultReporter(ports);
    this.#taskPool = new TaskPool(context, options.listener, (name) => {
      this.#updateQueue(name);
      this.#handlePoolChange();
    });
    this.#releaseStray = createStrayRelease(context, (run) => this.#taskPool.has(run));
    this.#pendingClaims = new PendingClaims(context, options.listener, (...claimed) =>
      this.#start(...claimed),
    );
  }

  get running(): number {
    return this.#taskPool.size;
  }

  /** Resolves when the dispatcher is closed and no task runs. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** Starts claiming. */
  open(): void {
    if (this.#state === "closed") return;
    this.#state = "open";
    this.wake();
  }

  /** Stops claiming. Running tasks continue. */
  close(): void {
    this.#state = "closed";
    this.#handlePoolChange();
  }

  wake(): void {
    this.#sleep.wake();
  }

  /**
   * Call this after a full read of etcd.
   * @returns whether this is the first full read
   */
  handleFullRead(): boolean {
    const isFirst = this.#state === "reading";
    if (isFirst) this.#state = "listening";
    this.#eligibility.forget();
    this.#serialQueues.clear();
    this.#planAll();
    return isFirst;
  }

  /** Call this when a worker has claimed an occurrence. */
  handleClaim(worker: string): void {
    this.#lastClaims.set(worker, this.#getWallTime());
  }

  /** Call this when the set of workers changes. Ranks are computed when an occurrence is due. */
  handleWorkersChange(): void {
    this.#eligibility.forget();
    for (const worker of this.#lastClaims.keys())
      if (!this.#context.cache.workers.has(worker)) this.#lastClaims.delete(worker);
    this.#outdatedSince = 0;
  }

  /** Call this when groups, calendars, drains or handlers change: schedules skipped before may be eligible now. */
  handleRulesChange(): void {
    this.#eligibility.forget();
    this.#unknownTypes.clear();
    if (this.#state !== "reading") this.#planAll();
  }

  #planAll(): void {
    this.#outdated.clear();
    for (const entry of this.#context.cache.entries.values()) this.#plan(entry);
    this.wake();
  }

  /** @param isDefinition  whether its definition changed */
  handleScheduleChange(entry: CachedSchedule, isDefinition: boolean): void {
    if (this.#state === "reading") return;
    if (!isDefinition && this.#canRefreshLater(entry)) {
      if (this.#outdated.size === 0) {
        this.#outdatedSince = this.#getWallTime();
        this.wake();
      }
      this.#outdated.add(entry.name);
      return;
    }
    this.#taskPool.updateSchedule(entry, this.#getWallTime());
    this.#plan(entry);
    this.wake();
  }

  /** Returns whether a schedule is one that others run first, after a delay that its change can wait for. */
  #canRefreshLater(entry: CachedSchedule): boolean {
    const { name } = entry;
    if (this.#pendingClaims.has(name) || this.#taskPool.isRunning(name)) return false;
    return hasRankedTurn(entry) && !this.#eligibility.isFirst(entry, this.#getWallTime());
  }

  /** Plans the schedules whose changes have waited. */
  #refreshOutdated(): void {
    // The clock may have been set meanwhile, in either direction.
    const waited = Math.abs(this.#getWallTime() - this.#outdatedSince);
    if (this.#outdated.size === 0 || waited < REFRESH_DELAY_MS) return;
    for (const name of this.#outdated) {
      const entry = this.#getEntry(name);
      if (entry !== undefined) this.#plan(entry);
    }
    this.#outdated.clear();
  }

  /** Aborts the tasks that run now. Later claims run normally. */
  abortAll(reason: () => TaskLost): void {
    this.#taskPool.abortAll(reason);
  }

  /** Stops claiming and aborts all tasks, including those of pending claims. */
  stop(reason: () => TaskLost): void {
    this.#stopReason = reason;
    this.close();
    this.#taskPool.stop(reason);
  }

  /** Claims due occurrences until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#checkClock();
      const replaceAt = this.#taskPool.abortReplaced(this.#getWallTime());
      this.#refreshOutdated();
      this.#takeDue();
      this.#sleep.reset();
      const at = Math.min(
        this.#canTake() ? Math.min(this.#timers.next ?? Infinity, this.#deferred.next ?? Infinity) : Infinity,
        replaceAt ?? Infinity,
        this.#outdated.size > 0 ? this.#outdatedSince + REFRESH_DELAY_MS : Infinity,
      );
      await this.#sleep.sleep(Math.max(0, Math.min(at - this.#getWallTime(), LONGEST_SLEEP)), signal);
    }
  }

  #getEntry(stateName: string): CachedSchedule | undefined {
    return this.#context.cache.entries.get(stateName);
  }

  #getWallTime(): number {
    return this.#context.ports.clock.getWallTime();
  }

  /**
   * Plans all schedules again if the clock moved back. Otherwise they would wait until the clock reaches the old time.
   */
  #checkClock(): void {
    const now = this.#getWallTime();
    if (now < this.#latest) {
      for (const entry of this.#context.cache.entries.values())
        entry.freeSince = Math.min(entry.freeSince, now);
      this.#planAll();
    }
    this.#latest = now;
  }

  /** Number of slots that tasks and claims take. */
  get #taken(): number {
    return this.#taskPool.size + this.#pendingClaims.size;
  }

  #canTake(): boolean {
    const isFull = this.#taken >= this.#options.concurrency;
    return this.#state === "open" && !isFull && this.#drain === undefined && this.#canFire();
  }

  #takeDue(): void {
    this.#checkDrains();
    const now = this.#getWallTime();
    if (this.#canTake()) this.#continueQueues(now);
    while (this.#canTake()) {
      this.#collectReady(now);
      const name = this.#ready.take(Infinity);
      if (name === undefined) return;
      const entry = this.#getEntry(name);
      if (entry !== undefined && !this.#pendingClaims.has(name)) this.#consider(entry, now);
    }
  }

  /**
   * Considers what is next in the serial queues in which nothing runs any more. It is late already, so other workers leave the first one
   * little time.
   */
  #continueQueues(now: WallTime): void {
    for (const name of this.#serialQueues.takeNext(now, (one) => this.#isDue(one, now))) {
      const entry = this.#getEntry(name);
      if (entry === undefined) continue;
      const rank = this.#eligibility.listWorkersBefore(entry, now).length;
      this.#hold(entry, now + Math.min(2, rank) * QUEUE_STAGGER);
    }
  }

  /** Returns whether this worker can run a state now. If it was changed since it was due, it is considered at its time. */
  #isDue(name: string, now: WallTime): boolean {
    const entry = this.#getEntry(name);
    const at = entry && this.#findHandler(entry) && this.#findTime(entry, now);
    if (at !== undefined && at > now) this.#setTimer(name, at);
    return at !== undefined && at <= now;
  }

  #collectReady(now: WallTime): void {
    for (const name of this.#deferred.take(now)) this.#collect(name, now, true);
    for (let name = this.#timers.take(now); name !== undefined; name = this.#timers.take(now))
      this.#collect(name, now, false);
  }

  #collect(name: string, now: WallTime, wasDeferred: boolean): void {
    const entry = this.#getEntry(name);
    if (entry !== undefined && !this.#leaveToOthers(entry, now, wasDeferred))
      this.#ready.set(name, this.#computeOrder(entry, now) + this.#computeDeference(entry, now));
  }

  /**
   * Computes by how much later an occurrence counts as due for which other workers come first. When all are late, they may be as busy
   * as this one: each takes its own first, and helps in an order of its own. If all took the same ones, most claims would be lost
   * races.
   */
  #computeDeference(entry: CachedSchedule, now: WallTime): Millis {
    if (!hasRankedTurn(entry) || this.#eligibility.isFirst(entry, now)) return 0;
    return LONGEST_DEFERENCE + (entry.delayFactor ?? 0) * CLAIM_STAGGER;
  }

  /**
   * Returns whether other workers may claim first what is due. Then it waits with others, and after that until the time of its own.
   * @param wasDeferred  whether it has waited with others, and none of the workers before this one claims anything any more
   */
  #leaveToOthers(entry: CachedSchedule, now: WallTime, wasDeferred: boolean): boolean {
    const candidate = hasRankedTurn(entry) ? this.#findCandidate(entry, now) : undefined;
    if (!startsTask(candidate)) return false;
    const at = this.#computeClaimTime(entry, candidate, now);
    if (at <= now) return false;
    if (wasDeferred) this.#timers.set(entry.name, at);
    else {
      const before = this.#eligibility.listWorkersBefore(entry, now);
      this.#deferred.add(entry.name, before, getOpenSince(entry, candidate.runAt));
    }
    return true;
  }

  /** Computes the order of a schedule that is due: higher priorities first, then those that are due longest. */
  #computeOrder(entry: CachedSchedule, now: WallTime): number {
    const dueAt = this.#findTime(entry, now) ?? now;
    return dueAt - (entry.definition?.priority ?? 0) * PRIORITY_STEP;
  }

  #setTimer(stateName: string, at: WallTime | undefined): void {
    this.#ready.set(stateName, undefined);
    this.#deferred.delete(stateName);
    this.#timers.set(stateName, at);
  }

  /** Sets the timer of a schedule that is due, which keeps its place in its serial queue until then. */
  #hold(entry: CachedSchedule, at: WallTime): void {
    this.#setTimer(entry.name, at);
    entry.heldUntil = at;
    this.#updateQueue(entry.name);
  }

  #checkDrains(): void {
    const drain = this.#eligibility.findDrainReason(this.#getWallTime());
    if (drain === this.#drain) return;
    this.#drain = drain;
    const { log } = this.#context.ports;
    if (drain === undefined) log.info("no longer drained");
    else log.info("drained, no occurrence is started", { why: drain });
  }

  /** Sets the timer of a schedule, independent of which worker claims it. */
  #plan(entry: CachedSchedule): void {
    const { name, definition } = entry;
    this.#reportFault(entry);
    entry.heldUntil = 0;
    entry.freeSince = Math.min(entry.freeSince, this.#getWallTime()); // the clock may have been wrong
    this.#updateQueue(name);
    if (this.#pendingClaims.has(name)) return;
    this.#releaseStray(entry);
    if (entry.host !== undefined && definition !== undefined && !this.#eligibility.isFor(definition)) {
      this.#setTimer(name, undefined);
      return this.#stayOut(entry);
    }
    this.#begin(entry);
    // The state arrives on another range of the watch, possibly a moment later.
    this.#setTimer(
      name,
      isSeedless(entry) ? entry.freeSince + CLAIM_STAGGER : this.#findTime(entry, this.#getWallTime()),
    );
  }

  /** Returns when to consider a schedule that has a state. */
  #findTime(entry: CachedSchedule, now: WallTime): number | undefined {
    return this.#isAfterBoot(entry) ? now : this.#findCandidate(entry, now)?.runAt;
  }

  /** Returns whether a schedule of `@reboot` has not noted the boot of this host. */
  #isAfterBoot({ host, due, definition, calendarFault }: CachedSchedule): boolean {
    const { readBoot } = this.#context;
    if (host === undefined || due === undefined || readBoot === undefined || calendarFault !== undefined)
      return false;
    return runsAtBoot(definition) && isNewBoot(due, readBoot());
  }

  #findCandidate(entry: CachedSchedule, now: WallTime): Candidate | undefined {
    return findClaimCandidate(this.#context, entry, now);
  }

  #consider(entry: CachedSchedule, now: WallTime): void {
    const { name, definition, due } = entry;
    if (definition === undefined) return;
    const handler = this.#findHandler(entry);
    if (handler === undefined) return this.#stayOut(entry);
    const isAfterBoot = this.#isAfterBoot(entry);
    const candidate = isAfterBoot ? undefined : this.#findCandidate(entry, now);
    if (candidate === undefined && !isAfterBoot && (due !== undefined || entry.calendarFault !== undefined))
      return;
    const queue = startsTask(candidate) ? findQueue(entry) : undefined;
    const order = this.#computeOrder(entry, now);
    if (queue !== undefined && this.#serialQueues.isBusy(queue, order, now))
      return this.#serialQueues.wait(queue, name, order);
    const at = this.#computeClaimTime(entry, candidate, now);
    if (at > now) this.#hold(entry, at);
    else void this.#try({ entry, handler, candidate });
  }

  /** Returns the handler of a schedule if this worker can run it. */
  #findHandler(entry: CachedSchedule): Handler | undefined {
    const { definition } = entry;
    const isHere = definition !== undefined && this.#eligibility.isFor(definition);
    return isHere ? this.#lookUpHandler(entry) : undefined;
  }

  /** Finds the handler of a schedule, and reports each type without one once. */
  #lookUpHandler({ id, definition }: CachedSchedule): Handler | undefined {
    if (definition === undefined) return undefined;
    const handler = this.#options.handlers.find(id, definition);
    const type = getScheduleType(id, definition);
    if (handler !== undefined || this.#unknownTypes.has(type)) return handler;
    this.#unknownTypes.add(type);
    this.#options.listener({ kind: "unknown", id, type });
    this.#context.ports.log.info("no handler for the type of a schedule", { type, schedule: id });
    return undefined;
  }

  /** Call this when a state may have begun to run, may run no more, or keeps its place until another time. */
  #updateQueue(name: string): void {
    const entry = this.#getEntry(name);
    this.#serialQueues.update(name, entry && findQueue(entry), () => {
      if (this.#isRunning(entry) || this.#pendingClaims.has(name) || this.#taskPool.isRunning(name))
        return RUNNING_PLACE;
      const isHeld = entry !== undefined && entry.heldUntil > 0;
      return isHeld
        ? { until: entry.heldUntil, order: this.#computeOrder(entry, this.#getWallTime()) }
        : undefined;
    });
  }

  /** Returns whether a worker runs a state. A running key without a session is of no worker, and never expires. */
  #isRunning(entry: CachedSchedule | undefined): boolean {
    if (entry === undefined) return false;
    const isKnown = [...entry.running.values()].some(({ hasSession }) => hasSession);
    return isKnown || this.#context.cache.listStarted(entry).length > 0;
  }

  /** Returns when this worker may claim what is due, after the workers before it. */
  #computeClaimTime(entry: CachedSchedule, candidate: Candidate | undefined, now: WallTime): number {
    const { random } = this.#context.ports;
    const before = this.#eligibility.listWorkersBefore(entry, now);
    const rank = before.length;
    const runAt = candidate?.runAt ?? entry.freeSince;
    if (
      startsTask(candidate) &&
      entry.definition?.place === "least-loaded" &&
      this.#eligibility.hasRivals(entry, now)
    ) {
      const load = this.#measureLoad(this.#taken / this.#options.concurrency);
      return computePlacedClaimTime(entry, { rank, runAt, load }, random);
    }
    return computeClaimTime(entry, runAt, this.#buildClaimOrder(before, now), random);
  }

  /**
   * Call this when this worker cannot run a schedule. If it is to run on every host, it does so here from the next plan on that
   * says otherwise; if the host has left its group, what was due meanwhile does not run when it comes back.
   */
  #stayOut(entry: CachedSchedule): void {
    if (entry.host === undefined) return;
    entry.since = Infinity;
    const isOut = entry.definition !== undefined && !this.#eligibility.isFor(entry.definition);
    // The state says for which boots the schedule has run: what runs at boot must not run again in this one.
    const isFree = this.#context.cache.listRunning(entry).size === 0;
    if (isOut && entry.dueMod > 0n && isFree && !runsAtBoot(entry.definition)) void this.#forgetHost(entry);
  }

  /** Notes from when on a schedule runs on this host, if it could not before: it may be long until a slot is free for its first state. */
  #begin(entry: CachedSchedule): void {
    const isOut = entry.since === Infinity && isSeedless(entry) && !runsAtBoot(entry.definition);
    if (isOut && this.#lookUpHandler(entry) !== undefined) entry.since = this.#getWallTime();
  }

  async #forgetHost(entry: CachedSchedule): Promise<void> {
    const again = await this.#pendingClaims.forgetHost(entry);
    if (entry.dueMod === 0n)
      this.#plan(entry); // the watch was faster than the answer
    else if (again !== undefined) this.#setTimer(entry.name, again);
    this.#handlePoolChange();
  }

  /** Builds the order of this worker behind others. The clock may have been set back since one of them has claimed. */
  #buildClaimOrder(before: readonly string[], now: WallTime): ClaimOrder {
    const last = Math.max(...before.map((one) => this.#lastClaims.get(one) ?? -Infinity));
    return { rank: before.length, lastClaimBefore: Math.min(last, now) };
  }

  async #try(one: OccurrenceClaim): Promise<void> {
    const { name } = one.entry;
    const attempt = this.#pendingClaims.attempt(one);
    this.#updateQueue(name);
    const again = await attempt;
    this.#updateQueue(name);
    const entry = this.#getEntry(name) ?? one.entry; // it may have been removed, and added again
    this.#releaseStray(entry);
    const at = isSeedless(entry) ? again : this.#findTime(entry, this.#getWallTime());
    this.#setTimer(name, at === undefined || again === undefined ? at : Math.max(at, again));
    this.#handlePoolChange();
  }

  #start(claimed: ClaimedOccurrence, handler: Handler): void {
    this.#taskPool.start(claimed, handler);
    const entry = this.#getEntry(claimed.name);
    if (entry !== undefined) this.#taskPool.updateSchedule(entry, this.#getWallTime()); // changes since the claim
    if (this.#stopReason !== undefined) this.#taskPool.abortAll(this.#stopReason);
  }

  #handlePoolChange(): void {
    const { concurrency, listener } = this.#options;
    listener({ kind: "load", running: this.#taskPool.size, concurrency });
    if (this.#state === "closed" && this.#taken === 0) this.#done.resolve();
    this.wake();
  }
}

/** Returns whether a claim starts something: else it writes the first state, or gives an end to schedules that follow. */
function startsTask(candidate: Candidate | undefined): candidate is Candidate {
  return candidate !== undefined && candidate.end === undefined;
}

/** Returns whether only the ranks of the workers decide when each may claim what is due. */
function hasRankedTurn(entry: CachedSchedule): boolean {
  const { definition, host } = entry;
  if (definition === undefined || host !== undefined || definition.place === "least-loaded") return false;
  return findQueue(entry) === undefined;
}

/** Returns the serial queue of a schedule. On every host, only the states of this one are known. */
function findQueue({ host, definition }: CachedSchedule): string | undefined {
  return host === undefined ? findSerialQueue(definition) : undefined;
}

/** Returns whether a schedule can run, and has no state yet. */
function isSeedless({ definition, calendarFault, due, dueMod }: CachedSchedule): boolean {
  return definition !== undefined && calendarFault === undefined && due === undefined && dueMod === 0n;
}
