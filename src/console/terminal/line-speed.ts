/** A line that takes fewer bytes per second is slow, and one that takes more than that is not. */
const [SLOW, FAST] = [8_000, 16_000];
/** Shorter output says nothing about the speed, bytes. */
const LEAST_PROOF = 500;
/** Output that is no longer than this takes no time of its own, bytes: its answer shows the latency. */
const SHORT = 100;
/** Latency of a line whose answers have all been to long output, at most, ms. */
const UNKNOWN_LATENCY = 1_000;
/** An answer may be read so much later because this process, or the terminal, is busy, ms. */
const BUSY = 100;
/**
 * What earlier output counts, each time there is more of it: an answer that was held up makes no line slow, but no line is
 * faster than it is.
 */
const MEMORY = { usual: 0.85, afterFast: 0.5 };
/** On a slow line, output is written in parts that take about so long, ms, but have so many bytes at least. */
const PART = { time: 500, least: 600 };
/** The first part shows how fast the line is, bytes: on a slow one, the rest is written in another way. */
const FIRST_PART = 1_500;

/**
 * Estimates how many bytes a second a terminal takes, from the delays of its answers. A long way to the terminal delays each
 * answer by the same time: it does not make the line slow.
 */
export class LineSpeed {
  #latency: number | undefined;
  #bytes = 0;
  #time = 0;
  #isSlow = false;
  #isKnown = false;

  get isSlow(): boolean {
    return this.#isSlow;
  }

  /** How much to write before the next question, bytes. */
  get partLength(): number {
    // A terminal that has answered nothing yet may never do: the rest would have to wait for nothing.
    if (!this.#isKnown && this.#latency !== undefined) return FIRST_PART;
    if (!this.#isSlow) return Number.POSITIVE_INFINITY;
    return Math.max(PART.least, (this.#bytes / this.#time) * PART.time);
  }

  /**
   * Records an answer.
   * @param written  length of the output before the question, bytes
   * @param delay  from the question to the answer, ms
   */
  record(written: number, delay: number): void {
    if (written <= SHORT) this.#latency = followLatency(this.#latency ?? delay, delay);
    else if (this.#latency !== undefined) this.#latency = Math.min(this.#latency, delay);
    const own = (this.#latency ?? UNKNOWN_LATENCY) + BUSY;
    if (written >= LEAST_PROOF) this.#judge(written, Math.max(0, delay - own));
  }

  #judge(written: number, time: number): void {
    this.#isKnown = true;
    const memory = written * 1_000 > FAST * time ? MEMORY.afterFast : MEMORY.usual;
    this.#bytes = this.#bytes * memory + written;
    this.#time = this.#time * memory + time;
    const speed = (this.#bytes * 1_000) / this.#time;
    if (speed < SLOW) this.#isSlow = true;
    else if (speed > FAST) this.#isSlow = false;
  }
}

/** Follows a latency that becomes shorter at once, and one that becomes longer slowly: a late answer may be an exception. */
function followLatency(known: number, delay: number): number {
  return delay < known ? delay : known + (delay - known) / 8;
}
