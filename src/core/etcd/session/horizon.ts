import {
  addMs,
  type Clock,
  computeLead,
  type Millis,
  type MonotonicTime,
  NO_LONGER_NEEDED,
  pickLater,
  subtractTime,
} from "../../base/clock.ts";
import { computeSafetyMargin } from "../../config/ttl.ts";

/**
 * The smallest forward jump of the wall clock, ms, that may indicate a pause. Time services make smaller corrections,
 * and the horizon's margin of at least one second covers them.
 */
const SMALLEST_JUMP = 1_000;

/**
 * An instant on both clocks. A hypervisor that pauses a virtual machine stops the clocks of the guest, including the
 * boot-time clock: after the pause no time has passed on them. An agent of the hypervisor or a time service then sets
 * the wall clock. That jump is the only trace of the pause.
 */
export class ClockReading {
  readonly at: MonotonicTime;
  readonly #clock: Clock;
  /** The smallest lead of the wall clock over the other clock since. */
  #lead: Millis;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.at = clock.now();
    this.#lead = readLead(clock).most;
  }

  /** Measures how far the wall clock has jumped forward since. Returns 0 below SMALLEST_JUMP. */
  measureJump(): Millis {
    const lead = readLead(this.#clock);
    this.#lead = Math.min(this.#lead, lead.most);
    const jump = lead.least - this.#lead;
    return jump < SMALLEST_JUMP ? 0 : jump;
  }
}

/**
 * Reads how far the wall clock is ahead of the other clock. The bounds keep a process that is stopped between two
 * readings from measuring a jump.
 */
function readLead(clock: Clock): { least: Millis; most: Millis } {
  const before = clock.now();
  const wall = clock.getWallTime();
  return { least: computeLead(wall, clock.now()), most: computeLead(wall, before) };
}

/** Interval between checks of the wall clock, ms. */
const CHECK_INTERVAL = 1_000;
/**
 * Time for a renewal and its proof, ms, before a jump of the wall clock counts as elapsed time. After a pause
 * connections may be dead, so one attempt may have to time out before the next one runs on a new connection.
 */
const PROVE_WITHIN = 5_000;

/**
 * Waits until `lead` before a horizon.
 * @param read  returns the horizon, and a signal that is aborted when it moves back
 * @throws the signal's reason
 */
export async function waitUntilNear(
  clock: Clock,
  read: () => { at: MonotonicTime; moved: AbortSignal },
  lead: Millis,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const { at, moved } = read();
    const left = subtractTime(at, clock.now()) - lead;
    if (left <= 0) return;
    await clock.sleep(left, AbortSignal.any([signal, moved])).catch(() => {}); // moved, or stopped
  }
}

/** Receives the effects of a jump of the wall clock. */
interface HorizonListener {
  /** The machine may have been paused. Only a renewal sent after this call proves that the session is alive. */
  onClockJump(jump: Millis): void;
  /** No renewal succeeded in time: the horizon has moved back by the jump. */
  onShortened(jump: Millis): void;
}

/**
 * The instant after which a session may have expired on the server. It counts from before the last successful renewal
 * was sent, minus a margin.
 *
 * A forward jump of the wall clock against the boot-time clock has two possible causes. The machine was paused for that
 * long, and the session may have expired meanwhile; or someone set the clock, and the session is not affected. A
 * renewal distinguishes the two. If none succeeds within a short time, the jump counts as elapsed time.
 */
export class Horizon {
  readonly #clock: Clock;
  readonly #listener: HorizonListener;
  readonly #over: AbortSignal;
  #at: MonotonicTime;
  #mark: ClockReading;
  /** The part of the mark's jump that was reported, and the part that moved the horizon back. */
  #handledJump: Millis = 0;
  #movedBackBy: Millis = 0;
  /** Aborted when the horizon moves back, so that waiting callers check again. */
  #moved = new AbortController();

  /**
   * @param sent  when the call that granted the session was sent
   * @param over  aborted when the session is no longer used
   */
  constructor(clock: Clock, listener: HorizonListener, sent: ClockReading, ttl: Millis, over: AbortSignal) {
    this.#clock = clock;
    this.#listener = listener;
    this.#over = over;
    this.#mark = sent;
    this.#at = addMs(sent.at, ttl - computeSafetyMargin(ttl));
    void this.#watchWallClock().catch(() => {}); // stopped
  }

  get at(): MonotonicTime {
    return addMs(this.#at, -this.#movedBackBy);
  }

  /** How far the horizon moved back since the last successful renewal because of a jump of the wall clock. */
  get movedBackBy(): Millis {
    return this.#movedBackBy;
  }

  /** Whether the wall clock has jumped and no renewal has since proved that the session is alive. */
  get isDoubted(): boolean {
    return this.#mark.measureJump() > 0;
  }

  /** Extends the horizon after a successful renewal. */
  extend(sent: ClockReading, ttl: Millis): void {
    const before = addMs(this.#at, -Math.max(this.#movedBackBy, this.#mark.measureJump()));
    this.#at = pickLater(before, addMs(sent.at, ttl - computeSafetyMargin(ttl)));
    this.#mark = sent;
    this.#handledJump = 0;
    this.#movedBackBy = 0;
  }

  /** Waits until `lead` before the horizon, also when the horizon moves meanwhile. @throws the signal's reason */
  async waitUntilNear(lead: Millis, signal: AbortSignal): Promise<void> {
    await waitUntilNear(this.#clock, () => ({ at: this.at, moved: this.#moved.signal }), lead, signal);
  }

  async #watchWallClock(): Promise<void> {
    for (;;) {
      await this.#clock.sleep(CHECK_INTERVAL, this.#over);
      const jump = this.#mark.measureJump();
      if (jump >= this.#handledJump + SMALLEST_JUMP) void this.#handleClockJump(jump).catch(() => {}); // stopped
    }
  }

  async #handleClockJump(jump: Millis): Promise<void> {
    const mark = this.#mark;
    this.#handledJump = jump;
    this.#listener.onClockJump(jump);
    const until = addMs(this.#clock.now(), PROVE_WITHIN);
    // A clock may wake its sleepers early, as that of tests does.
    for (
      let left = PROVE_WITHIN;
      left > 0 && mark === this.#mark;
      left = subtractTime(until, this.#clock.now())
    )
      await this.#clock.sleep(left, this.#over);
    if (mark !== this.#mark) return; // renewed meanwhile
    this.#movedBackBy = Math.max(this.#movedBackBy, mark.measureJump());
    const moved = this.#moved;
    this.#moved = new AbortController();
    this.#listener.onShortened(this.#movedBackBy);
    moved.abort(NO_LONGER_NEEDED);
  }
}
