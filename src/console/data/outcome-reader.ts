import type { Clock } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { type OutcomeHistories, readOutcomes } from "../../commands/read-snapshot.ts";
import type { CommandContext } from "../../commands/store-command.ts";
import type { KeyRange } from "../../protocol/txn.ts";
import type { Snapshot } from "../../state/snapshot.ts";

/** Least time between two reads, ms. */
const PAUSE = 500;

/**
 * Reads the outcomes of one schedule or of all, for an overlay. Reads them again when a run has ended, at the revision of
 * the snapshot that is shown.
 */
export class OutcomeReader {
  readonly #context: CommandContext;
  readonly #ranges: readonly Required<KeyRange>[];
  readonly #onChange: () => void;
  readonly #stop = new AbortController();
  #outcomes: OutcomeHistories = new Map();
  /** The state that the last read belongs to, and when it was begun, monotonic, ms. */
  #last: { of: unknown; at: number } | undefined;
  #isReading = false;
  #hasRead = false;
  #fault: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: CommandContext, ranges: readonly Required<KeyRange>[], onChange: () => void) {
    this.#context = context;
    this.#ranges = ranges;
    this.#onChange = onChange;
  }

  /** By schedule. The same map until they are read again. */
  get outcomes(): OutcomeHistories {
    return this.#outcomes;
  }

  /** Why they are not known, or not known any more; undefined if they are. */
  get obstacle(): string | undefined {
    if (this.#fault !== undefined) return `the outcomes of schedules cannot be read: ${this.#fault}`;
    return this.#hasRead ? undefined : "reading the outcomes of schedules";
  }

  /** Whether newer outcomes are being read, or will be in a moment. */
  get isBehind(): boolean {
    return this.#isReading || this.#timer !== undefined;
  }

  /**
   * Reads if a run has ended since. Called for every frame.
   * @param of  what is stored beside the outcomes and changes with them
   */
  refresh(of: unknown, { revision }: Pick<Snapshot, "revision">): void {
    if (this.#isReading || revision === 0n || this.#stop.signal.aborted || this.#last?.of === of) return;
    const now = this.#context.clock.now();
    const wait = (this.#last?.at ?? Number.NEGATIVE_INFINITY) + PAUSE - now;
    if (wait > 0) {
      this.#timer ??= setTimeout(() => this.#onWaited(), wait);
      return;
    }
    this.#last = { of, at: now };
    this.#isReading = true;
    void this.#read(revision).finally(() => {
      this.#isReading = false;
      if (!this.#stop.signal.aborted) this.#onChange();
    });
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stop.abort(new Error("the view was closed"));
  }

  #onWaited(): void {
    this.#timer = undefined;
    this.#onChange();
  }

  async #read(revision: bigint): Promise<void> {
    const { signal } = this.#stop;
    try {
      const read = await readOutcomes(this.#context, this.#ranges, revision, signal);
      this.#outcomes = read;
      this.#fault = undefined;
      this.#hasRead = true;
    } catch (error) {
      if (signal.aborted) return;
      this.#fault = getErrorMessage(error);
      const begun = this.#context.clock.now();
      // Tries again after a pause, though nothing has changed.
      this.#last = { of: Symbol("none"), at: begun };
      this.#timer ??= setTimeout(() => this.#onWaited(), PAUSE);
    }
  }
}

/** What it reads, and when. */
interface ReadPorts<T> {
  clock: Clock;
  read(signal: AbortSignal): Promise<T>;
  /** Time between an answer and the next request, ms; undefined to read only once. */
  pause: number | undefined;
  /** Time before the first request, ms. */
  delay?: number;
  onChange(): void;
}

/** Reads something for as long as it is shown, never twice at the same time. Never throws: faults are shown. */
export class RepeatedRead<T> {
  /** The last answer. */
  value: T | undefined;
  /** Why there was none the last time. */
  fault: string | undefined;
  readonly #ports: ReadPorts<T>;
  readonly #stop = new AbortController();
  /** When the last answer came, or the first request was sent; monotonic, ms. */
  #answeredAt: number;

  constructor(ports: ReadPorts<T>) {
    this.#ports = ports;
    this.#answeredAt = ports.clock.now();
    void this.#readAgain();
  }

  /** How much later than it should be the next answer is, ms. */
  get delay(): number {
    const { clock, pause } = this.#ports;
    if (pause === undefined && (this.value ?? this.fault) !== undefined) return 0;
    return Math.max(0, clock.now() - this.#answeredAt - (pause ?? 0));
  }

  end(): void {
    this.#stop.abort(new Error("it is no longer shown"));
  }

  async #readAgain(): Promise<void> {
    const { clock, read, pause, onChange, delay = 0 } = this.#ports;
    const { signal } = this.#stop;
    if (delay > 0) await clock.sleep(delay, signal).catch(() => {}); // rejected: it was ended
    while (!signal.aborted) {
      try {
        this.value = await read(signal);
        this.fault = undefined;
        this.#answeredAt = clock.now();
      } catch (error) {
        this.fault = getErrorMessage(error);
      }
      if (signal.aborted) return;
      onChange();
      if (pause === undefined) return;
      await clock.sleep(pause, signal).catch(() => {}); // rejected: it was ended
    }
  }
}
