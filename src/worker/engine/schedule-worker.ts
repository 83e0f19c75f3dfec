import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { subtractTime, waitForAbort } from "../../core/base/clock.ts";
import { combineTransactions } from "../../core/etcd/combined-store.ts";
import { isUnavailable, StoreError } from "../../core/etcd/store.ts";
import { VanishedTickets } from "../../core/run/vanished-tickets.ts";
import { listWorkersBefore } from "../../schedule/hash.ts";
import type { Boot } from "../../schedule/state/boot.ts";
import type { WorkerRecord } from "../../schedule/state/running-record.ts";
import { type ClockOffset, computeClockDistance } from "../../site/check/clock.ts";
import { followEtcd } from "../../site/observe/follow.ts";
import {
  deleteExpired,
  EXPIRING_KINDS,
  type ExpiringKind,
  type RetentionLimits,
  readExpired,
} from "../../site/operate/retention.ts";
import { ScheduleCache, type ScheduleCacheListener } from "../cache/schedule-cache.ts";
import { ConditionGate } from "../claims/condition-gate.ts";
import { Dispatcher, type DispatchOptions } from "../dispatch/dispatcher.ts";
import type { WorkerListener } from "../events.ts";
import { type HandlerRegistry, TaskLost } from "../handler.ts";
import {
  buildWorkerRecord,
  WorkerHeartbeat,
  type WorkerHeartbeatOptions,
} from "../registration/worker-heartbeat.ts";
import { WorkerRegistration } from "../registration/worker-registration.ts";
import type { SchedulePorts } from "../worker-ports.ts";
import { MemoryRelease } from "./memory-release.ts";

/** Options of a worker. Durations in ms. */
export interface ScheduleWorkerOptions extends Omit<WorkerSessionOptions, "listener"> {
  listener?: WorkerListener;
  /** Called before each session. An error ends the worker. */
  checkEtcd?: (signal: AbortSignal) => Promise<void>;
}

/** Pause between two sessions, ms; doubled up to the longest while etcd is unreachable. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 5_000;

/**
 * A worker: claims due occurrences, runs them with its handlers, and stores the results. If its session is lost, all
 * tasks of that session end, and the worker joins again with a new session.
 */
export class ScheduleWorker {
  readonly #ports: SchedulePorts;
  readonly #options: WorkerSessionOptions & Pick<ScheduleWorkerOptions, "checkEtcd">;
  readonly #stop = new AbortController();
  readonly #memory: MemoryRelease;
  #session: WorkerSession | undefined;
  #isDraining = false;

  constructor(ports: SchedulePorts, options: ScheduleWorkerOptions) {
    const { store, clock, keys, runSoon } = ports;
    this.#ports = { ...ports, store: combineTransactions(store, clock, keys, runSoon) };
    this.#memory = new MemoryRelease(clock, () => this.running === 0);
    const listener = catchListenerErrors(options.listener, ports);
    this.#options = {
      ...options,
      listener: (event) => {
        listener(event);
        if (event.kind === "ended") this.#memory.handleEnd();
      },
    };
  }

  get running(): number {
    return this.#session?.running ?? 0;
  }

  /** Id in the worker record; undefined while the worker has no session. */
  get id(): string | undefined {
    return this.#session?.id;
  }

  /**
   * Runs the worker until it is stopped and its tasks have ended.
   * @param signal also ends the tasks; they are given back, and other workers can claim them at once
   * @throws StoreError when etcd refuses for good, or cannot be reached at the start
   */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#runSessions(AbortSignal.any([signal, this.#stop.signal]));
    } finally {
      this.#memory.close();
    }
  }

  async #runSessions(either: AbortSignal): Promise<void> {
    let wasThere = false;
    for (let pause = FIRST_PAUSE; !either.aborted && !this.#isDraining; ) {
      const since = this.#ports.clock.now();
      try {
        await this.#runSession(either);
        wasThere = true;
      } catch (error) {
        if (either.aborted) break;
        if (!isTransient(error) || (!wasThere && this.#session === undefined)) throw error;
        this.#ports.log.warn("the worker has no session", { error: String(error) });
      }
      wasThere ||= this.#session !== undefined;
      this.#session = undefined;
      if (subtractTime(this.#ports.clock.now(), since) > LONGEST_PAUSE) pause = FIRST_PAUSE;
      const wait = pause * (0.5 + this.#ports.random.generateFraction() / 2);
      await this.#ports.clock.sleep(wait, either).catch(() => {});
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
  }

  /** Stops claiming. `run` returns when the running tasks have ended. */
  drain(): void {
    this.#isDraining = true;
    if (this.#session === undefined) this.#stop.abort();
    else this.#session.drain();
  }

  /** Replaces the handlers. Running tasks keep their handlers. */
  reload(handlers: HandlerRegistry, concurrency = this.#options.concurrency): void {
    Object.assign(this.#options, { handlers, concurrency });
    this.#session?.handleReload();
  }

  async #runSession(signal: AbortSignal): Promise<void> {
    const [ports, options] = [this.#ports, this.#options];
    await options.checkEtcd?.(signal);
    const buildRecord = () => ({ ...buildWorkerRecord(ports, options), isJoining: true as const });
    const registration = await WorkerRegistration.join(ports, options.ttl, buildRecord, signal);
    const session = new WorkerSession(ports, options, registration, signal);
    this.#session = session;
    if (this.#isDraining) session.drain();
    await session.end;
  }
}

/** Returns whether a new session may help: etcd does not answer, or the session is gone. */
function isTransient(error: unknown): boolean {
  return isUnavailable(error) || (error instanceof StoreError && error.kind === "noSession");
}

/** Catches errors of the listener. An error would leave a claimed occurrence without its run. */
function catchListenerErrors(listener: WorkerListener = () => {}, { log }: SchedulePorts): WorkerListener {
  return (event) => {
    try {
      listener(event);
    } catch (error) {
      log.error("a listener failed", { event: event.kind, error: String(error) });
    }
  };
}

interface WorkerSessionOptions extends DispatchOptions, WorkerHeartbeatOptions {
  /** TTL of the worker's session, whole seconds. */
  ttl: number;
  /** Reads the boot of this host. Without it, the worker runs no schedules of `@reboot`. */
  readBoot?: (() => Boot) | undefined;
  /** Time between two passes that delete expired records, ms. Default: one hour. */
  pruneEvery?: number;
}

/** One session of a worker, with everything that lives as long as it. */
class WorkerSession {
  /** Resolves when the session is over and its tasks have ended. Rejects when etcd refuses. */
  readonly end: Promise<void>;
  readonly #ports: SchedulePorts;
  readonly #options: WorkerSessionOptions;
  readonly #registration: WorkerRegistration;
  readonly #cache: ScheduleCache;
  readonly #heartbeat: WorkerHeartbeat;
  readonly #dispatcher: Dispatcher;
  /** Why no session of this program may claim any more. */
  #refusal: Error | undefined;

  constructor(
    ports: SchedulePorts,
    options: WorkerSessionOptions,
    registration: WorkerRegistration,
    signal: AbortSignal,
  ) {
    this.#ports = ports;
    this.#options = options;
    this.#registration = registration;
    const { host, pid, readBoot } = options;
    const listener: ScheduleCacheListener = {
      handleScheduleChange: (...change) => this.#dispatcher.handleScheduleChange(...change),
      handleClaim: (worker) => this.#dispatcher.handleClaim(worker),
      handleWorkersChange: () => this.#dispatcher.handleWorkersChange(),
      handleWorkerChange: (...change) => this.#handleWorkerChange(...change),
      handleRulesChange: () => this.#dispatcher.handleRulesChange(),
    };
    this.#cache = new ScheduleCache(ports.keys, () => ports.clock.getWallTime(), listener, host);
    const vanished = new VanishedTickets(ports.clock);
    const conditions = new ConditionGate(host, options.measure, ports);
    const context = { ports, registration, cache: this.#cache, vanished, conditions, host, pid, readBoot };
    this.#heartbeat = new WorkerHeartbeat(ports, options, registration, () => this.running);
    this.#dispatcher = new Dispatcher(context, options, () => this.#heartbeat.checkClock() !== "refuses");
    this.end = this.#run(signal);
  }

  get id(): string {
    return this.#registration.id;
  }

  get running(): number {
    return this.#dispatcher.running;
  }

  /** Stops claiming. The session ends when the running tasks have ended. */
  drain(): void {
    this.#dispatcher.close();
    void this.#heartbeat.leave();
  }

  /** Call this when the handlers change. */
  handleReload(): void {
    this.#dispatcher.handleRulesChange();
    void this.#heartbeat.publish();
  }

  #handleWorkerChange(id: string, record: WorkerRecord | undefined, isNews: boolean): void {
    if (id === this.id) return;
    this.#heartbeat.handleWorkerRecord(id, record, isNews);
    this.#dispatcher.wake();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { session } = this.#registration;
    const ended = new AbortController();
    const over = AbortSignal.any([signal, session.signal, ended.signal]);
    const work = [
      this.#follow(over),
      this.#heartbeat.publishPeriodically(over),
      this.#watchHorizon(over),
      this.#dispatcher.run(over),
      this.#pruneRecords(over),
    ];
    const failure = await this.#waitUntilOver(work, over);
    if (signal.aborted) this.#dispatcher.stop(() => new TaskLost("released", "the worker stops"));
    else if (failure !== undefined)
      this.#dispatcher.stop(() => new TaskLost("lost", `the worker cannot continue: ${failure.message}`));
    else this.#dispatcher.close();
    await this.#dispatcher.done;
    this.#heartbeat.close();
    ended.abort(new Error("the worker's session has ended"));
    await Promise.allSettled(work);
    await this.#registration.leave();
    const error = failure ?? this.#refusal;
    const reason = error ?? (session.signal.aborted ? (session.signal.reason as Error) : undefined);
    this.#options.listener({ kind: "left", worker: this.id, ...(reason && { reason: reason.message }) });
    if (error !== undefined) throw error;
  }

  /**
   * Waits until the session is over.
   * @returns the error that ended it; undefined if it ended for another reason
   */
  async #waitUntilOver(work: readonly Promise<void>[], over: AbortSignal): Promise<Error | undefined> {
    const failed = Promise.race(work.map((one) => one.then(() => new Promise<never>(() => {}))));
    try {
      await Promise.race([failed, this.#dispatcher.done, waitForAbort(over)]);
    } catch (error) {
      if (!over.aborted) return error instanceof Error ? error : new Error(String(error));
    }
    return undefined;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const news of followEtcd(this.#ports, this.#cache, signal)) {
      if (news.kind === "away") this.#ports.log.warn("cannot reach etcd", { error: String(news.error) });
      else if (news.kind === "read") this.#handleFullRead(news.lost, signal);
      this.#checkSchema();
    }
  }

  /** Stops claiming when a later schema version is required. The running tasks end as usual. */
  #checkSchema(): void {
    if (this.#refusal !== undefined) return;
    try {
      this.#cache.checkSchema();
    } catch (error) {
      this.#refusal = error as Error;
      this.#ports.log.error("the worker ends when its tasks have ended", { why: this.#refusal.message });
      this.drain();
    }
  }

  #handleFullRead(lost: readonly string[], signal: AbortSignal): void {
    if (lost.length > 0) {
      this.#ports.log.warn("the watch had lost changes", { keys: lost.length, such: lost[0] });
      this.#options.listener({ kind: "lostChanges", keys: lost.length });
    }
    const { entries, workers } = this.#cache;
    this.#ports.log.info("schedules read", { schedules: entries.size, workers: workers.size });
    const isFirst = this.#dispatcher.handleFullRead();
    if (isFirst) this.#open(signal).catch(() => {}); // the session ended before it opened
  }

  async #open(signal: AbortSignal): Promise<void> {
    const listPeers = () => [...this.#cache.workers.keys()].filter((id) => id !== this.id);
    await this.#heartbeat.waitForOtherClocks(listPeers, signal);
    this.#dispatcher.open();
    void this.#heartbeat.open();
    this.#options.listener({ kind: "joined", worker: this.id });
  }

  /** Deletes expired records, if the settings have limits. */
  async #pruneRecords(signal: AbortSignal): Promise<void> {
    const { retention: limits } = this.#ports.settings;
    if (limits === undefined) return;
    const { readMemberClocks, pruneEvery: every } = this.#options;
    const isClockRight = () => this.#heartbeat.checkClock() !== "refuses";
    const context = {
      id: this.id,
      workers: this.#cache.workers,
      isClockRight,
      readMemberClocks,
      every,
      limits,
    };
    await pruneRecords(this.#ports, context, signal);
  }

  /** Aborts the tasks when the horizon is near. Handlers need time to end before the session can have expired. */
  async #watchHorizon(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#registration.session.waitUntilHorizonNear(this.#options.terminationTimeout, signal);
      this.#dispatcher.abortAll(() => new TaskLost("lost", "the session could not be renewed in time"));
      await this.#ports.clock.sleep(100, signal);
    }
  }
}

const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/**
 * Creates a reader of the boot of this host. The instant follows corrections of the wall clock, which may be wrong when a host
 * starts; the id stays.
 * @returns undefined if the kernel does not tell its boot id
 */
export function createBootReader(): (() => Boot) | undefined {
  try {
    const id = readFileSync(BOOT_ID, "utf8").trim();
    return () => ({ id, at: Math.floor(Date.now() / 1_000 - uptime()) * 1_000 });
  } catch {
    return undefined;
  }
}

/** Time between two passes of pruning, ms. */
const PRUNE_EVERY = 3_600_000;
/** Time until the next pass if one did not delete all, ms. */
const PRUNE_SOON = 60_000;
/** A clock that is further from those of etcd's members judges no ages, ms. */
const CLOCK_LIMIT = 3_600_000;

/** What a pruner needs to know of its worker. */
interface PrunerContext {
  limits: RetentionLimits;
  id: string;
  workers: ReadonlyMap<string, WorkerRecord | undefined>;
  /** Whether this host's clock agrees with those of other workers. */
  isClockRight: () => boolean;
  readMemberClocks?: ((signal: AbortSignal) => Promise<readonly ClockOffset[]>) | undefined;
  /** ms. Default: one hour. */
  every?: number | undefined;
}

/**
 * Deletes audit records and histories that have expired, until the signal is aborted. One worker does it in each period, another one
 * in the next, so that workers that cannot do it, for their version or their role, do not keep the others from it. If two do it at
 * once, each deletes what the other has not.
 * @throws the signal's reason
 */
async function pruneRecords(
  ports: SchedulePorts,
  context: PrunerContext,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random } = ports;
  const { every = PRUNE_EVERY } = context;
  /** What the role of this worker does not allow to delete. */
  const refused = new Set<ExpiringKind>();
  for (let wait = every * random.generateFraction(); ; ) {
    await clock.sleep(wait, signal);
    let isDone = true;
    const isOnDuty = isOnDutyIn(context, Math.floor(clock.getWallTime() / every));
    if (isOnDuty && (await canJudgeAges(context, signal)))
      for (const kind of EXPIRING_KINDS)
        if (!refused.has(kind)) isDone = (await pruneKind(ports, context, kind, refused, signal)) && isDone;
    wait = isDone ? every : Math.min(PRUNE_SOON, every);
  }
}

/** Returns whether it is this worker's turn. */
function isOnDutyIn({ id, workers }: PrunerContext, period: number): boolean {
  const present = [...workers].filter(([, record]) => record && !record.isJoining && !record.isLeaving);
  const ids = present.map(([worker]) => worker);
  return listWorkersBefore(id, ids, `retention ${period}`).length === 0;
}

async function canJudgeAges(
  { isClockRight, readMemberClocks = async () => [] }: PrunerContext,
  signal: AbortSignal,
): Promise<boolean> {
  const offsets = await readMemberClocks(signal).catch(() => []);
  signal.throwIfAborted();
  const apart = offsets.filter((offset) => computeClockDistance(offset) > CLOCK_LIMIT);
  return isClockRight() && apart.length * 2 <= offsets.length;
}

/** @returns false if something is left for the next pass, which should be soon */
async function pruneKind(
  ports: SchedulePorts,
  { limits }: PrunerContext,
  kind: ExpiringKind,
  refused: Set<ExpiringKind>,
  signal: AbortSignal,
): Promise<boolean> {
  const { log } = ports;
  try {
    const expired = await readExpired(ports, kind, limits, signal);
    const deleted = await deleteExpired(ports, expired.list(), signal);
    if (deleted > 0) log.info("expired records deleted", { kind, records: deleted });
    return !expired.isCut;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof StoreError)) throw error;
    if (error.kind === "permission") {
      refused.add(kind);
      const what =
        "this worker's role does not allow to delete expired records; see: signalbox prune --expired";
      log.info(what, { kind });
    } else log.warn("expired records stay until the next pass", { kind, error: error.message });
    return error.kind !== "compacted";
  }
}
