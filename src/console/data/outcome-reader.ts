import { type OutcomeHistories, readOutcomes } from "../../cli/frame/read-snapshot.ts";
import type { CommandContext } from "../../cli/frame/store-command.ts";
import { type Clock, type MonotonicTime, subtractTime } from "../../core/base/clock.ts";
import { getErrorMessage } from "../../core/base/errors.ts";
import { clean } from "../../core/base/text.ts";
import type { KeyRange } from "../../core/protocol/txn.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";

/** Minimum time between two reads of the outcomes of some schedules, ms. */
const READ_PAUSE_MS = 500;

const NO_OUTCOMES: OutcomeHistories = new Map();

/**
 * Reads the outcomes of one or all schedules for an overlay. Reads them again when a run has ended, at the revision of
 * the displayed snapshot.
 */
export class OutcomeReader {
  readonly #reader: RepeatedRead<OutcomeHistories>;
  /** Resolves when a read is wanted. */
  #wanted = Promise.withResolvers<void>();
  #revision = 0n;
  /** The state whose outcomes are wanted. */
  #of: unknown = this;

  /** @param pause  minimum time between two reads, ms */
  constructor(
    context: CommandContext,
    ranges: readonly Required<KeyRange>[],
    onChange: () => void,
    pause = READ_PAUSE_MS,
  ) {
    const read = async (signal: AbortSignal) => {
      await this.#wanted.promise;
      this.#wanted = Promise.withResolvers();
      try {
        return await readOutcomes(context, ranges, this.#revision, signal);
      } catch (error) {
        this.#of = this; // tries again, though nothing has changed
        throw error;
      }
    };
    this.#reader = new RepeatedRead({ clock: context.clock, pause, read, onChange });
  }

  /** The outcomes by schedule: the same map until they are read again. */
  get outcomes(): OutcomeHistories {
    return this.#reader.value ?? NO_OUTCOMES;
  }

  /** Whether the first read has ended, with outcomes or with a fault. */
  get hasRead(): boolean {
    return (this.#reader.value ?? this.#reader.fault) !== undefined;
  }

  /** Why the outcomes are unknown or outdated; undefined if they are current. */
  get obstacle(): string | undefined {
    const { value, fault } = this.#reader;
    if (fault !== undefined) return `the outcomes of schedules cannot be read: ${fault}`;
    return value === undefined ? "reading the outcomes of schedules" : undefined;
  }

  /**
   * Reads if a run has ended since. Called for every frame.
   * @param of  state that is stored beside the outcomes and changes with them
   */
  refresh(of: unknown, { revision }: Pick<Snapshot, "revision">): void {
    if (revision === 0n || of === this.#of) return;
    [this.#of, this.#revision] = [of, revision];
    this.#wanted.resolve();
  }

  end(): void {
    this.#reader.end();
  }
}

/** The request that is repeated, and its times. */
interface ReadPorts<T> {
  clock: Clock;
  read(signal: AbortSignal): Promise<T>;
  /** Time between an answer and the next request, ms; undefined to read only once. It may change. */
  readonly pause: number | undefined;
  /** Time before the first request, ms. */
  delay?: number;
  onChange(): void;
}

/** Repeats a read as long as its result is shown, but never runs two at the same time. Never throws: faults are shown. */
export class RepeatedRead<T> {
  /** The last answer. */
  value: T | undefined;
  /** The error of the last read, as text for a terminal; undefined if it succeeded. */
  fault: string | undefined;
  readonly #ports: ReadPorts<T>;
  readonly #stop = new AbortController();
  /** When the last answer came, or the first request was sent. */
  #answeredAt: MonotonicTime;

  constructor(ports: ReadPorts<T>) {
    this.#ports = ports;
    this.#answeredAt = ports.clock.now();
    void this.#readAgain();
  }

  /** How late the next answer is, ms. */
  get delay(): number {
    const { clock, pause } = this.#ports;
    if (pause === undefined && (this.value ?? this.fault) !== undefined) return 0;
    return Math.max(0, subtractTime(clock.now(), this.#answeredAt) - (pause ?? 0));
  }

  end(): void {
    this.#stop.abort(new Error("it is no longer shown"));
  }

  async #readAgain(): Promise<void> {
    const { clock, read, onChange, delay = 0 } = this.#ports;
    const { signal } = this.#stop;
    if (delay > 0) await clock.sleep(delay, signal).catch(() => {}); // rejected: it was ended
    while (!signal.aborted) {
      try {
        this.value = await read(signal);
        this.fault = undefined;
        this.#answeredAt = clock.now();
      } catch (error) {
        this.fault = clean(getErrorMessage(error));
      }
      if (signal.aborted) return;
      onChange();
      const { pause } = this.#ports;
      if (pause === undefined) return;
      await clock.sleep(pause, signal).catch(() => {}); // rejected: it was ended
    }
  }
}
