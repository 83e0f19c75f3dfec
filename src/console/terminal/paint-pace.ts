import { closeSync, constants, openSync, readSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";

/** The query for the state of the terminal, and its answer: `CSI 0 n`. Terminals answer in the order of the output. */
export const ASK_TERMINAL = "\x1b[5n";

/** A terminal that has never answered is not waited for longer than this, ms. */
const FIRST_PATIENCE = 1_500;

/** Longest wait for a terminal that has answered before, ms: a slow line takes some seconds for a full screen. */
const PATIENCE = 10_000;

/** Without a key for this time, nobody may be looking, ms. */
const QUIET = 10_000;

/** Steps of the displayed ages, ms: while someone types, otherwise, and on a slow line. */
const STEPS = { active: 1_000, quiet: 5_000, slow: 10_000 };

/**
 * Paces frames by the answers of the terminal: no frame is written before the last one has arrived.
 */
export class PaintPace {
  readonly #clock: Pick<Clock, "now">;
  #askedAt: number | undefined;
  /** When the question was asked that was not waited for any more. */
  #overdueSince: number | undefined;
  /** Whether something was written after the last question, or the last question was not waited for. */
  #hasUnasked = false;
  #hasAnswered = false;
  /** The terminal does not answer: it is not waited for. */
  #isMute = false;
  /** Length of what was written before the question, bytes. */
  #written = 0;
  readonly #speed = new LineSpeed();
  /** When a question was asked before all output, for the latency of the line. Its answer is the first one. */
  #probedAt: number | undefined;
  #lastKeyAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Whether to ask with the next frame. */
  get asks(): boolean {
    return this.#askedAt === undefined && !this.#isMute;
  }

  /** Whether an answer will come: the terminal has answered before. */
  get owesAnswer(): boolean {
    return this.openQuestions > 0 && this.#hasAnswered;
  }

  /** How many questions are not answered yet. */
  get openQuestions(): number {
    if (this.#isMute) return 0;
    return [this.#probedAt, this.#askedAt].filter((at) => at !== undefined).length;
  }

  /**
   * Whether all that was written has arrived: the terminal has answered after it, or has not answered for so long that it never
   * will. One that has answered before and does not now is stopped, and shows nothing.
   */
  get hasArrived(): boolean {
    if (this.#askedAt !== undefined) return false;
    return !this.#hasUnasked || (!this.#hasAnswered && this.#isOverdue());
  }

  /** Whether the question that was not waited for is unanswered for longer than a slow line takes for a frame. */
  #isOverdue(): boolean {
    return this.#overdueSince === undefined || this.#clock.now() - this.#overdueSince >= PATIENCE;
  }

  /** Whether to ask without a frame: the terminal answers again, and what was written meanwhile may be on its way. */
  get needsQuestion(): boolean {
    return this.asks && this.#hasUnasked && this.#hasAnswered;
  }

  /** Whether a frame takes long to arrive. */
  get isSlow(): boolean {
    return this.#speed.isSlow && !this.#isMute;
  }

  /**
   * How much of a frame to write at a time, bytes. On a slow line it is a part, from the top: what a key leads to is shown before
   * the rest, and the next key waits for one part only.
   */
  get partLength(): number {
    return this.#isMute ? Number.POSITIVE_INFINITY : this.#speed.partLength;
  }

  /** Call this when the question was written, and nothing before it. No frame waits for its answer. */
  handleProbed(): void {
    this.#probedAt = this.#clock.now();
  }

  /** Call this when a frame with the question was written. @param written  its length, bytes */
  handleAsked(written: number): void {
    this.#askedAt = this.#clock.now();
    this.#hasUnasked = false;
    this.#written = written;
  }

  /** Call this when a frame was written without the question. */
  handleUnasked(): void {
    this.#hasUnasked = true;
  }

  handleAnswer(): void {
    this.#hasAnswered = true;
    this.#isMute = false;
    const since = this.#probedAt ?? this.#askedAt ?? this.#overdueSince;
    const isProbed = this.#probedAt !== undefined;
    if (since !== undefined) this.#speed.record(isProbed ? 0 : this.#written, this.#clock.now() - since);
    if (isProbed) this.#probedAt = undefined;
    else this.#askedAt = this.#overdueSince = undefined;
  }

  handleKey(): void {
    this.#lastKeyAt = this.#clock.now();
  }

  /** Forgets the question, because the terminal was given to another program. */
  forget(): void {
    this.#askedAt = this.#overdueSince = this.#probedAt = undefined;
    this.#hasUnasked = false;
  }

  /** Returns how long to wait before the next frame, ms; 0 if it can be written now. */
  computeWait(): number {
    if (this.#askedAt === undefined) return 0;
    const wait = this.#askedAt + (this.#hasAnswered ? PATIENCE : FIRST_PATIENCE) - this.#clock.now();
    if (wait > 0) return wait;
    this.#isMute = this.#hasUnasked = true;
    this.#overdueSince = this.#askedAt;
    this.#askedAt = undefined;
    return 0;
  }

  /** Returns the step of the displayed ages, ms: each change costs bytes. */
  getAgeStep(): number {
    if (this.#speed.isSlow) return STEPS.slow;
    return this.#clock.now() - this.#lastKeyAt < QUIET ? STEPS.active : STEPS.quiet;
  }
}

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

/** Longest wait, ms. A shell that reads the answer later shows it as typed text. */
const ANSWER_WAIT = 250;

const READ_PAUSE = 5;

/** Reads and discards what a terminal sends, until so many answers to `CSI 5 n` have arrived. Blocks: the process may be about to exit. */
export function discardAnswers(count: number, path = "/dev/fd/0"): void {
  if (count === 0) return;
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      readAnswers(descriptor, count);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // the terminal is closed: nobody gets the answer
  }
}

function readAnswers(descriptor: number, count: number): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const bytes = Buffer.alloc(4_096);
  let read = "";
  for (let waited = 0; waited < ANSWER_WAIT && countAnswers(read) < count; waited += READ_PAUSE) {
    try {
      const length = readSync(descriptor, bytes);
      if (length === 0) return;
      read = (read + bytes.toString("latin1", 0, length)).slice(-bytes.length);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(pause, 0, 0, READ_PAUSE);
    }
  }
}

const countAnswers = (read: string) => read.match(/\x1b\[[03]n/g)?.length ?? 0;
