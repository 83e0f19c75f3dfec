import type { Clock } from "../../base/clock.ts";

/**
 * The smallest forward jump of the wall clock, ms, that may indicate a pause. Time services make smaller corrections,
 * and the horizon's margin of at least one second covers them.
 */
export const SMALLEST_JUMP = 1_000;

/**
 * An instant on both clocks. A hypervisor that pauses a virtual machine stops the clocks of the guest, including the
 * boot-time clock: after the pause no time has passed on them. An agent of the hypervisor or a time service then sets
 * the wall clock. That jump is the only trace of the pause.
 */
export class ClockReading {
  /** Instant on the clock, ms. */
  readonly at: number;
  readonly #clock: Clock;
  /** The smallest lead of the wall clock over the other clock since, ms. */
  #lead: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.at = clock.now();
    this.#lead = readLead(clock).most;
  }

  /** Measures how far the wall clock has jumped forward since, ms. Returns 0 below SMALLEST_JUMP. */
  measureJump(): number {
    const lead = readLead(this.#clock);
    this.#lead = Math.min(this.#lead, lead.most);
    const jump = lead.least - this.#lead;
    return jump < SMALLEST_JUMP ? 0 : jump;
  }
}

/**
 * Reads how far the wall clock is ahead of the other clock, ms. The bounds keep a process that is stopped between two
 * readings from measuring a jump.
 */
function readLead(clock: Clock): { least: number; most: number } {
  const before = clock.now();
  const wall = clock.getWallTime();
  return { least: wall - clock.now(), most: wall - before };
}
