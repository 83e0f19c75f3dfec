import { isUnavailable } from "../../etcd/persist.ts";
import type { ClockState, WorkerRecord } from "../../schedule/worker-record.ts";
import { CLOCK_LIMITS, type ClockLimits, Clocks } from "./clocks.ts";
import type { WorkerListener } from "./events.ts";
import type { Handlers } from "./handler.ts";
import type { SchedulePorts } from "./ports.ts";
import type { Presence } from "./presence.ts";

export interface HeraldOptions {
  host: string;
  pid: number;
  version: string;
  tags: readonly string[];
  concurrency: number;
  handlers: Handlers;
  listener: WorkerListener;
  clockLimits?: ClockLimits;
  /** How far the wall clock is ahead of the monotonic one, ms: a change is a step. For tests, whose time does not pass evenly. */
  clockOffset?: () => number;
}

/** Records are written this often, ms, give or take a tenth: others compare clocks by them. */
const BEAT = 15_000;
/** A worker that sees a new one says its time within this, ms, so that the new one knows how its own clock is. */
const GREET_WITHIN = 300;
/** Of a new worker: its first word, and one after it has read who is there, for two that join at once read of each other only. */
const ASKING_BEATS = 2;
/** A change of the clock beyond this is a step, ms; less is how clocks are adjusted while they run. */
const STEP = 250;
/** A new worker waits so long for the others' time before it takes anything, ms. */
const LISTEN_FOR = 2_000;

/** What a worker says as it joins. */
export function firstRecord(ports: SchedulePorts, options: HeraldOptions, since: number): WorkerRecord {
  const { host, pid, version, tags, handlers, concurrency } = options;
  return {
    ...{ host, pid, version, tags, concurrency, since, beat: 1, running: 0, clock: "ok" },
    ...{ types: handlers.types, wall: ports.clock.wall() },
  };
}

/** Says what a worker is and does, hears what others say, and judges by that how its clock is. */
export class Herald {
  readonly #ports: SchedulePorts;
  readonly #options: HeraldOptions;
  readonly #presence: Presence;
  readonly #since: number;
  readonly #running: () => number;
  readonly #clocks = new Clocks();
  readonly #over = new AbortController();
  #beat = 1;
  #isGreeting = false;
  #isLeaving = false;
  #clock: ClockState = "ok";
  #offset: number;

  /** @param running  how many tasks run now */
  constructor(ports: SchedulePorts, options: HeraldOptions, presence: Presence, running: () => number) {
    this.#ports = ports;
    this.#options = options;
    this.#presence = presence;
    this.#running = running;
    this.#since = ports.clock.wall();
    this.#offset = this.#offsetNow();
  }

  /** How far the clock can be trusted now. To be asked before anything is taken: it may just have been set. */
  clock(): ClockState {
    const offset = this.#offsetNow();
    const step = offset - this.#offset;
    this.#offset = offset;
    if (Math.abs(step) > STEP) {
      this.#clocks.stepped(step);
      this.#judge();
    }
    return this.#clock;
  }

  /** Says that the worker takes nothing more. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.publish();
  }

  /** Says nothing more. */
  close(): void {
    this.#over.abort(new Error("the worker's session is over"));
  }

  /** Another worker's word. @param record  undefined: it has left. @param isNews  false where it may be old */
  heard(id: string, record: WorkerRecord | undefined, isNews: boolean): void {
    if (record === undefined) this.#clocks.forget(id);
    else if (isNews) {
      this.#clocks.heard(id, record.wall, this.#ports.clock.wall());
      if (record.beat <= ASKING_BEATS) void this.#greet();
    }
    this.#judge();
  }

  /** Waits for the others' time: whoever has a wrong clock must know before it fires anything. @param others  who is there still */
  async listen(others: () => readonly string[], signal: AbortSignal): Promise<void> {
    const until = this.#ports.clock.now() + LISTEN_FOR;
    if (others().length > 0) void this.publish();
    while (!others().every((id) => this.#clocks.hasHeard(id)) && this.#ports.clock.now() < until) {
      await this.#ports.clock.sleep(20, signal);
    }
  }

  /** Speaks up from time to time, until the signal. */
  async beats(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#ports.clock.sleep(BEAT * (0.9 + this.#ports.random.unit() / 5), signal);
      await this.publish();
    }
  }

  async publish(): Promise<void> {
    if (this.#over.signal.aborted) return;
    this.#beat += 1;
    const now = { beat: this.#beat, running: this.#running(), clock: this.#clock };
    const record = { ...firstRecord(this.#ports, this.#options, this.#since), ...now };
    await this.#presence.publish(this.#isLeaving ? { ...record, isLeaving: true } : record).catch((error) => {
      if (isUnavailable(error) || this.#over.signal.aborted || this.#presence.session.signal.aborted) return;
      this.#ports.log.warn("the worker's record was not written", { error: String(error) });
    });
  }

  #offsetNow(): number {
    const { clock } = this.#ports;
    return this.#options.clockOffset?.() ?? clock.wall() - clock.now();
  }

  async #greet(): Promise<void> {
    if (this.#isGreeting) return;
    this.#isGreeting = true;
    const pause = this.#ports.random.unit() * GREET_WITHIN;
    await this.#ports.clock.sleep(pause, this.#over.signal).catch(() => {});
    this.#isGreeting = false;
    await this.publish();
  }

  #judge(): void {
    const state = this.#clocks.judge(this.#options.clockLimits ?? CLOCK_LIMITS);
    if (state === this.#clock) return;
    this.#clock = state;
    const skew = Math.round(this.#clocks.skew);
    const { log } = this.#ports;
    if (state === "refuses")
      log.error("this host's clock is wrong, nothing is fired; see: timedatectl", { ms_ahead: skew });
    else if (state === "warns")
      log.warn("this host's clock differs from the other workers'", { ms_ahead: skew });
    else log.info("this host's clock agrees with the other workers' again");
    this.#options.listener({ kind: "clock", state, skew });
    void this.publish();
  }
}
