import { isUnavailable } from "../../etcd/retry.ts";
import type { ClockState, WorkerRecord } from "../../schedule/state/worker-record.ts";
import type { WorkerListener } from "../events.ts";
import type { HandlerRegistry } from "../handler.ts";
import type { SchedulePorts } from "../worker-ports.ts";
import { CLOCK_LIMITS, ClockCheck, type ClockLimits } from "./clock-check.ts";
import { ClockJump, type ClockJumpOptions } from "./clock-jump.ts";
import type { WorkerRegistration } from "./worker-registration.ts";

export interface WorkerHeartbeatOptions {
  host: string;
  pid: number;
  version: string;
  tags: readonly string[];
  concurrency: number;
  handlers: HandlerRegistry;
  listener: WorkerListener;
  clockLimits?: ClockLimits;
  /**
   * Reads the offsets between this clock and those of the etcd members. A worker without other workers checks a clock
   * jump against them.
   */
  readMemberClocks?: ClockJumpOptions["readMemberClocks"];
  /** Time without firing after a jump that cannot be checked, ms. */
  holdFor?: number;
  /**
   * Returns how far the wall clock is ahead of the monotonic clock, ms; a change is a step of the clock. For tests,
   * whose time does not pass evenly.
   */
  clockOffset?: () => number;
}

/** Interval between records, ms, plus or minus 10 %. Other workers compare clocks by the records. */
const BEAT = 15_000;
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
const STEP = 250;
/** Time that a new worker waits for the clocks of others before it claims anything, ms. */
const LISTEN_FOR = 2_000;

/** Builds the first record of a worker. It does not claim anything yet. */
export function buildWorkerRecord(
  ports: SchedulePorts,
  options: WorkerHeartbeatOptions,
  since: number,
): WorkerRecord {
  const { host, pid, version, tags, handlers, concurrency } = options;
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
    wall: ports.clock.getWallTime(),
    isJoining: true,
  };
}

/**
 * Publishes the record of this worker, reads the records of others, and determines the state of the clock from them.
 */
export class WorkerHeartbeat {
  readonly #ports: SchedulePorts;
  readonly #options: WorkerHeartbeatOptions;
  readonly #registration: WorkerRegistration;
  readonly #since: number;
  readonly #countRunning: () => number;
  readonly #clockCheck = new ClockCheck();
  readonly #jump: ClockJump;
  readonly #over = new AbortController();
  #beat = 1;
  #isGreeting = false;
  #isJoining = true;
  #isLeaving = false;
  #clock: ClockState = "ok";
  #offset: number;

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
    this.#jump = new ClockJump(ports, {
      limit: clockLimits.refuses,
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
    if (Math.abs(step) > STEP) {
      this.#clockCheck.shiftSamples(step);
      if (this.#clockCheck.size === 0) this.#jump.addStep(step);
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
    if (record === undefined) this.#clockCheck.forget(id);
    else if (isNews) {
      this.#clockCheck.addSample(id, record.wall, this.#ports.clock.getWallTime());
      this.#jump.stopJudging(); // another clock is available for comparison
      if (record.beat <= ASKING_BEATS) void this.#publishSoon();
    }
    this.#judge();
  }

  /**
   * Waits for the clocks of other workers, at most 2 s: a worker with a wrong clock must detect it before it fires.
   * @param listPeers returns the ids of the other workers
   */
  async waitForPeerClocks(listPeers: () => readonly string[], signal: AbortSignal): Promise<void> {
    const until = this.#ports.clock.now() + LISTEN_FOR;
    if (listPeers().length > 0) void this.publish();
    while (!listPeers().every((id) => this.#clockCheck.hasSample(id)) && this.#ports.clock.now() < until) {
      await this.#ports.clock.sleep(20, signal);
    }
  }

  /** Publishes the record at intervals until the signal is aborted. */
  async publishPeriodically(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#ports.clock.sleep(BEAT * (0.9 + this.#ports.random.generateFraction() / 5), signal);
      await this.publish();
    }
  }

  async publish(): Promise<void> {
    if (this.#over.signal.aborted) return;
    this.#beat += 1;
    const now = { beat: this.#beat, running: this.#countRunning(), clock: this.#clock };
    const { isJoining: _, ...record } = buildWorkerRecord(this.#ports, this.#options, this.#since);
    const standing = {
      ...(this.#isJoining && ({ isJoining: true } as const)),
      ...(this.#isLeaving && ({ isLeaving: true } as const)),
    };
    await this.#registration.publish({ ...record, ...now, ...standing }).catch((error) => {
      if (isUnavailable(error) || this.#over.signal.aborted || this.#registration.session.signal.aborted)
        return;
      this.#ports.log.warn("the worker's record was not written", { error: String(error) });
    });
  }

  #readClockOffset(): number {
    const { clock } = this.#ports;
    return this.#options.clockOffset?.() ?? clock.getWallTime() - clock.now();
  }

  async #publishSoon(): Promise<void> {
    if (this.#isGreeting) return;
    this.#isGreeting = true;
    const pause = this.#ports.random.generateFraction() * GREET_WITHIN;
    await this.#ports.clock.sleep(pause, this.#over.signal).catch(() => {});
    this.#isGreeting = false;
    await this.publish();
  }

  #judge(): void {
    const { isPending } = this.#jump;
    const state = isPending ? "refuses" : this.#clockCheck.judge(this.#options.clockLimits ?? CLOCK_LIMITS);
    if (state === this.#clock) return;
    this.#clock = state;
    const skew = Math.round(isPending ? this.#jump.ms : this.#clockCheck.skew);
    if (!isPending) this.#logState(state, skew);
    this.#options.listener({ kind: "clock", state, skew });
    void this.publish();
  }

  #logState(state: ClockState, skew: number): void {
    const { log } = this.#ports;
    if (state === "refuses")
      log.error("this host's clock is wrong, nothing fires; see: timedatectl", { ms_ahead: skew });
    else if (state === "warns")
      log.warn("this host's clock differs from the other workers'", { ms_ahead: skew });
    else if (this.#clockCheck.size > 0) log.info("this host's clock agrees with the other workers' again");
  }
}
