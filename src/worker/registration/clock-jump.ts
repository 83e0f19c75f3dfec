import type { Clock } from "../../base/clock.ts";
import { formatDuration } from "../../base/duration.ts";
import type { Log } from "../../base/log.ts";
import { type ClockOffset, computeClockDistance } from "../../check/clock.ts";

export interface ClockJumpOptions {
  /** Limit, ms: a longer jump forward must be checked, and clocks further apart than this disagree. */
  limit: number;
  /** Returns the offsets between this clock and the clocks of the etcd members that can be read. */
  readMemberClocks(signal: AbortSignal): Promise<readonly ClockOffset[]>;
  /** Called when the check of a jump is complete. */
  onJudged(): void;
  /** If no clock can be compared for this time, the worker fires again, ms. Default 60 s. */
  holdFor?: number;
}

const HOLD_FOR = 60_000;
/** Interval between two comparisons, ms. */
const COMPARE_EVERY = 5_000;

/**
 * Checks a jump of the wall clock while no other worker is present. No worker record can then show that the clock is
 * wrong, and a clock that was set forward by mistake would fire everything early. The etcd members state their time in
 * their HTTP answers.
 */
export class ClockJump {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #options: ClockJumpOptions;
  #judging: AbortController | undefined;
  #ms = 0;

  constructor({ clock, log }: { clock: Clock; log: Log }, options: ClockJumpOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#options = options;
  }

  /** Whether firing is stopped: the last jump is not checked yet, or the clock disagrees with the etcd members. */
  get isPending(): boolean {
    return this.#judging !== undefined;
  }

  /** How far the clock has jumped, ms; 0 if no check is pending. */
  get ms(): number {
    return this.#ms;
  }

  /**
   * Records a step of the wall clock.
   * @param step how far the clock moved forward, ms; negative if it moved back
   */
  addStep(step: number): void {
    const ms = this.#ms + step;
    if (ms <= this.#options.limit) return this.stopJudging();
    this.#ms = ms;
    if (this.isPending) return;
    const shown = formatDuration(Math.round(ms));
    this.#log.warn(`the wall clock jumped forward by ${shown}: nothing fires until the clock is compared`);
    this.#judging = new AbortController();
    void this.#judge(this.#judging.signal).catch(() => {}); // done, or the worker has ended
  }

  /** Ends the check: the clocks of other workers decide now, the clock was set back, or the worker ends. */
  stopJudging(): void {
    this.#judging?.abort(new Error("the jump was judged"));
    this.#judging = undefined;
    this.#ms = 0;
  }

  async #judge(signal: AbortSignal): Promise<void> {
    const until = this.#clock.now() + (this.#options.holdFor ?? HOLD_FOR);
    for (let isApart = false; ; ) {
      const offsets = await this.#options.readMemberClocks(signal).catch(() => []);
      signal.throwIfAborted();
      if (offsets.length > 0) {
        if (this.#hasMajority(offsets))
          return this.#resumeFiring("info", "the wall clock agrees with etcd's members");
        if (!isApart) this.#log.error("this host's clock is ahead of etcd's members; see: timedatectl");
        isApart = true;
      } else if (!isApart && this.#clock.now() >= until)
        return this.#resumeFiring("warn", "no clock could be compared with the wall clock");
      await this.#clock.sleep(Math.min(COMPARE_EVERY, Math.max(100, until - this.#clock.now())), signal);
    }
  }

  /** Returns whether more than half of the members agree with this clock: a single member may be wrong itself. */
  #hasMajority(offsets: readonly ClockOffset[]): boolean {
    const near = offsets.filter((offset) => computeClockDistance(offset) <= this.#options.limit);
    return near.length * 2 > offsets.length;
  }

  #resumeFiring(level: "info" | "warn", why: string): void {
    this.#log[level](`${why}: firing continues`);
    this.stopJudging();
    this.#options.onJudged();
  }
}
