import { addMs, computeLead, formatDuration, type Millis, type WallTime } from "../../core/base/clock.ts";
import { isUnavailable } from "../../core/etcd/store.ts";
import type { ClockState, WorkerRecord } from "../../schedule/state/running-record.ts";
import { type ClockOffset, computeClockDistance } from "../../site/check/clock.ts";
import type { WorkerListener } from "../events.ts";
import type { HandlerRegistry } from "../handler.ts";
import type { SchedulePorts } from "../worker-ports.ts";
import type { WorkerRegistration } from "./worker-registration.ts";

/** Limits for the difference between this clock and the clocks of other workers, ms. */
interface ClockLimits {
  /** Above this, the worker fires and warns. */
  warns: number;
  /** Above this, the worker does not fire. */
  refuses: number;
}

export const CLOCK_LIMITS: ClockLimits = { warns: 500, refuses: 5_000 };

/** Samples kept per worker. The sample with the shortest delivery time is the most accurate. */
const SAMPLES_PER_WORKER = 8;

/**
 * Compares the wall clocks of workers by the records that they write. Each sample is the difference between the clocks
 * plus the delivery time, so the smallest of several samples is the most accurate.
 */
export class ClockCheck {
  /** Per worker: this clock minus the worker's clock, ms, latest last. */
  readonly #ahead = new Map<string, number[]>();

  /**
   * Adds a sample.
   * @param wall the writer's clock
   * @param now this host's clock when the record arrived
   */
  addSample(worker: string, wall: WallTime, now: WallTime): void {
    const words = this.#ahead.get(worker) ?? [];
    this.#ahead.set(worker, [...words, now - wall].slice(-SAMPLES_PER_WORKER));
  }

  /**
   * Adjusts the samples after a step of this clock, so that earlier samples match the new time.
   * @param ms how far the clock moved forward
   */
  shiftSamples(ms: Millis): void {
    for (const [worker, words] of this.#ahead)
      this.#ahead.set(
        worker,
        words.map((word) => word + ms),
      );
  }

  /** Number of workers with samples. */
  get size(): number {
    return this.#ahead.size;
  }

  forget(worker: string): void {
    this.#ahead.delete(worker);
  }

  hasSample(worker: string): boolean {
    return this.#ahead.has(worker);
  }

  /**
   * How far this clock is ahead of the median of all clocks, ms; negative if it is behind. With two clocks it is
   * unknown which one is right: both workers take the whole difference as their own.
   */
  get skew(): number {
    const ahead = [...this.#ahead.values()].map((words) => Math.min(...words));
    if (ahead.length === 1) return ahead[0] ?? 0;
    const sorted = [0, ...ahead].sort((a, b) => a - b);
    const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
    return (low + high) / 2;
  }

  /**
   * Returns the state of this clock. Of two clocks, the one that is behind keeps firing: it fires late at worst, never
   * early.
   */
  judge({ warns, refuses }: ClockLimits): ClockState {
    const { skew } = this;
    if (skew > refuses || (skew < -refuses && this.#ahead.size > 1)) return "refuses";
    return Math.abs(skew) > warns ? "warns" : "ok";
  }
}

interface ClockJumpOptions {
  /** Limit: a longer jump forward must be checked, and clocks further apart than this disagree. */
  limit: Millis;
  /** Whether no clock of another worker is known. */
  isAlone(): boolean;
  /** Returns the offsets between this clock and the clocks of the etcd members that can be read, within 2 s. */
  readMemberClocks(signal: AbortSignal): Promise<readonly ClockOffset[]>;
  /** Called when the check of a jump is complete. */
  onJudged(): void;
  /** If no clock can be compared for this time, the worker fires again. Default 60 s. */
  holdFor?: Millis;
}

const HOLD_FOR = 60_000;
/** Interval between two comparisons, ms. */
const COMPARE_EVERY = 5_000;

/** The check of a jump of the wall clock. */
interface ClockJump {
  /** How far the clock has jumped, ms; undefined if no check is pending. Until then, and while the clock disagrees, nothing fires. */
  getPending(): number | undefined;
  /** Compares the clock of a worker that has just become alone: if it is ahead of most of etcd's members, that is a jump. Never rejects. */
  checkAlone(signal: AbortSignal): Promise<void>;
  /**
   * Records a step of the wall clock.
   * @param step how far the clock moved forward; negative if it moved back
   */
  addStep(step: Millis): void;
  /** Ends the check: the clocks of other workers decide now, the clock was set back, or the worker ends. */
  stopJudging(): void;
}

/**
 * Checks a jump of the wall clock while no other worker is present. No worker record can then show that the clock is
 * wrong, and a clock that was set forward by mistake would fire everything early. The etcd members state their time in
 * their HTTP answers.
 */
function createClockJump(
  { clock, log }: SchedulePorts,
  { limit, isAlone, readMemberClocks, onJudged, holdFor = HOLD_FOR }: ClockJumpOptions,
): ClockJump {
  let judging: AbortController | undefined;
  let jumped = 0;

  const stopJudging = () => {
    judging?.abort(new Error("the jump was judged"));
    judging = undefined;
    jumped = 0;
  };

  const resumeFiring = (level: "info" | "warn", why: string) => {
    log[level](`${why}: firing continues`);
    stopJudging();
    onJudged();
  };

  const judge = async (signal: AbortSignal) => {
    const until = addMs(clock.now(), holdFor);
    for (let isApart = false; ; ) {
      const offsets = await readMemberClocks(signal).catch(() => []);
      signal.throwIfAborted();
      if (offsets.length > 0) {
        // More than half of the members must agree with this clock: a single member may be wrong itself.
        const near = offsets.filter((offset) => computeClockDistance(offset) <= limit);
        if (near.length * 2 > offsets.length)
          return resumeFiring("info", "the wall clock agrees with etcd's members");
        if (!isApart)
          log.error("this host's clock is ahead of etcd's members, nothing fires; see: timedatectl");
        isApart = true;
      } else if (!isApart && clock.now() >= until)
        return resumeFiring("warn", "no clock could be compared with the wall clock");
      await clock.sleep(Math.min(COMPARE_EVERY, holdFor), signal);
    }
  };

  const startJudging = () => {
    judging = new AbortController();
    void judge(judging.signal).catch(() => {}); // done, or the worker has ended
  };

  return {
    getPending: () => (judging === undefined ? undefined : jumped),
    async checkAlone(signal) {
      const offsets = await readMemberClocks(signal).catch(() => []);
      const ahead = offsets.flatMap(({ most }) => (most < -limit ? [-most] : []));
      if (signal.aborted || !isAlone() || judging !== undefined || ahead.length * 2 <= offsets.length) return;
      jumped = Math.min(...ahead);
      startJudging();
    },
    addStep(step) {
      if (!isAlone()) return;
      if (jumped + step <= limit) return stopJudging();
      jumped += step;
      if (judging !== undefined) return;
      const shown = formatDuration(Math.round(jumped));
      log.warn(`the wall clock jumped forward by ${shown}: nothing fires until the clock is compared`);
      startJudging();
    },
    stopJudging,
  };
}

/** What the record of a worker says of it all the time. */
interface WorkerFacts {
  host: string;
  pid: number;
  version: string;
  tags: readonly string[];
  concurrency: number;
  handlers: HandlerRegistry;
}

export interface WorkerHeartbeatOptions extends WorkerFacts {
  listener: WorkerListener;
  clockLimits?: ClockLimits;
  /**
   * Reads the offsets between this clock and those of the etcd members. A worker without other workers checks a clock
   * jump against them.
   */
  readMemberClocks?: ClockJumpOptions["readMemberClocks"];
  /** Time without firing after a jump that cannot be checked. */
  holdFor?: Millis;
  /**
   * Returns how far the wall clock is ahead of the monotonic clock; a change is a step of the clock. For tests,
   * whose time does not pass evenly.
   */
  clockOffset?: () => Millis;
}

/** Interval between records, ms, plus or minus 10 %. Other workers compare clocks by the records. */
const RECORD_INTERVAL_MS = 15_000;
/**
 * A worker publishes its time within this time after a new worker appears, ms, so that the new worker can check its
 * clock.
 */
const GREET_WITHIN = 300;
/**
 * Records of a new worker that ask others to publish: its first one, and one after the first full read. Two workers
 * that join at the same time only read the first records of each other.
 */
const ASKING_BEATS = 2;
/** A larger change of the clock is a step, ms. Smaller changes are gradual adjustments. */
const CLOCK_STEP_MS = 250;
/** Time that a new worker waits for the clocks of others, ms. */
const LISTEN_FOR = 2_000;

export function buildWorkerRecord(
  { clock }: SchedulePorts,
  { host, pid, version, tags, handlers, concurrency }: WorkerFacts,
  since = clock.getWallTime(),
): WorkerRecord {
  return {
    host,
    pid,
    version,
    tags,
    concurrency,
    since,
    beat: 1,
    running: 0,
    clock: "ok",
    types: handlers.types,
    ...(handlers.hooks !== undefined && { hooks: handlers.hooks }),
    wall: clock.getWallTime(),
  };
}

/**
 * Publishes the record of this worker, reads the records of others, and determines the state of the clock from them.
 */
export class WorkerHeartbeat {
  readonly #ports: SchedulePorts;
  readonly #options: WorkerHeartbeatOptions;
  readonly #registration: WorkerRegistration;
  readonly #since: WallTime;
  readonly #countRunning: () => number;
  readonly #clockCheck = new ClockCheck();
  readonly #jump: ClockJump;
  readonly #over = new AbortController();
  #beat = 1;
  #isGreeting = false;
  #isJoining = true;
  #isLeaving = false;
  #clock: ClockState = "ok";
  #offset: Millis;

  /** @param countRunning returns the number of running tasks */
  constructor(
    ports: SchedulePorts,
    options: WorkerHeartbeatOptions,
    registration: WorkerRegistration,
    countRunning: () => number,
  ) {
    this.#ports = ports;
    this.#options = options;
    this.#registration = registration;
    this.#countRunning = countRunning;
    this.#since = ports.clock.getWallTime();
    this.#offset = this.#readClockOffset();
    const { clockLimits = CLOCK_LIMITS, readMemberClocks = async () => [], holdFor } = options;
    this.#jump = createClockJump(ports, {
      limit: clockLimits.refuses,
      isAlone: () => this.#clockCheck.size === 0,
      readMemberClocks,
      onJudged: () => this.#judge(),
      ...(holdFor !== undefined && { holdFor }),
    });
  }

  /** Returns the current state of the clock. Call it before every claim: the clock may have been set. */
  checkClock(): ClockState {
    const offset = this.#readClockOffset();
    const step = offset - this.#offset;
    this.#offset = offset;
    if (Math.abs(step) > CLOCK_STEP_MS) {
      this.#clockCheck.shiftSamples(step);
      this.#jump.addStep(step);
      this.#judge();
    }
    return this.#clock;
  }

  /** Publishes that the worker claims what is due. Until then, others do not leave anything to it. */
  async open(): Promise<void> {
    this.#isJoining = false;
    await this.publish();
  }

  /** Publishes that the worker claims nothing more. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.publish();
  }

  /** Stops publishing. */
  close(): void {
    this.#jump.stopJudging();
    this.#over.abort(new Error("the worker's session has ended"));
  }

  /**
   * Handles the record of another worker.
   * @param record undefined if the worker has left
   * @param isNews false if the record may be old
   */
  handleWorkerRecord(id: string, record: WorkerRecord | undefined, isNews: boolean): void {
    if (record === undefined) {
      this.#clockCheck.forget(id);
      if (this.#clockCheck.size === 0) return void this.#judgeAlone(this.#over.signal);
    } else if (isNews) {
      this.#clockCheck.addSample(id, record.wall, this.#ports.clock.getWallTime());
      this.#jump.stopJudging(); // another clock is available for comparison
      if (record.beat <= ASKING_BEATS) void this.#publishSoon();
    }
    this.#judge();
  }

  /**
   * Waits for the clocks of other workers, or of etcd's members if there are none, each at most 2 s: a worker with a wrong clock must
   * detect it before it fires.
   * @param listPeers returns the ids of the other workers
   */
  async waitForOtherClocks(listPeers: () => readonly string[], signal: AbortSignal): Promise<void> {
    const until = addMs(this.#ports.clock.now(), LISTEN_FOR);
    if (listPeers().length > 0) void this.publish();
    while (!listPeers().every((id) => this.#clockCheck.hasSample(id)) && this.#ports.clock.now() < until) {
      await this.#ports.clock.sleep(20, signal);
    }
    if (this.#clockCheck.size > 0) return;
    await this.#judgeAlone(signal);
    signal.throwIfAborted();
  }

  /** Publishes the record at intervals until the signal is aborted. */
  async publishPeriodically(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#ports.clock.sleep(
        RECORD_INTERVAL_MS * (0.9 + this.#ports.random.generateFraction() / 5),
        signal,
      );
      await this.publish();
    }
  }

  async publish(): Promise<void> {
    if (this.#over.signal.aborted) return;
    this.#beat += 1;
    const now = { beat: this.#beat, running: this.#countRunning(), clock: this.#clock };
    const record = buildWorkerRecord(this.#ports, this.#options, this.#since);
    const state = {
      ...(this.#isJoining && ({ isJoining: true } as const)),
      ...(this.#isLeaving && ({ isLeaving: true } as const)),
    };
    await this.#registration.publish({ ...record, ...now, ...state }).catch((error) => {
      if (isUnavailable(error) || this.#over.signal.aborted || this.#registration.session.signal.aborted)
        return;
      this.#ports.log.warn("the worker's record was not written", { error: String(error) });
    });
  }

  #readClockOffset(): Millis {
    const { clock } = this.#ports;
    return this.#options.clockOffset?.() ?? computeLead(clock.getWallTime(), clock.now());
  }

  async #publishSoon(): Promise<void> {
    if (this.#isGreeting) return;
    this.#isGreeting = true;
    const pause = this.#ports.random.generateFraction() * GREET_WITHIN;
    await this.#ports.clock.sleep(pause, this.#over.signal).catch(() => {});
    this.#isGreeting = false;
    await this.publish();
  }

  /** Judges the clock when there is no other worker's. Until then, a clock that was wrong stays wrong. Never rejects. */
  async #judgeAlone(signal: AbortSignal): Promise<void> {
    await this.#jump.checkAlone(signal);
    if (!signal.aborted) this.#judge();
  }

  #judge(): void {
    const jumped = this.#jump.getPending();
    const isPending = jumped !== undefined;
    const state = isPending ? "refuses" : this.#clockCheck.judge(this.#options.clockLimits ?? CLOCK_LIMITS);
    if (state === this.#clock) return;
    this.#clock = state;
    const skew = Math.round(jumped ?? this.#clockCheck.skew);
    if (!isPending) this.#logState(state, skew);
    this.#options.listener({ kind: "clock", state, skew });
    void this.publish();
  }

  #logState(state: ClockState, skew: Millis): void {
    const { log } = this.#ports;
    if (state === "refuses")
      log.error("this host's clock is wrong, nothing fires; see: timedatectl", { ms_ahead: skew });
    else if (state === "warns")
      log.warn("this host's clock differs from the other workers'", { ms_ahead: skew });
    else if (this.#clockCheck.size > 0) log.info("this host's clock agrees with the other workers' again");
  }
}
