import type { PastMoment } from "../../cli/frame/past-moment.ts";
import type { CommandContext } from "../../cli/frame/store-command.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import { OutcomeReader } from "./outcome-reader.ts";

/** Minimum time between two reads of all outcomes, ms. */
const ALL_OUTCOMES_PAUSE_MS = 5_000;
/** Maximum number of schedules whose outcomes are read: each has 20, and more would need too much memory. */
const MOST_SCHEDULES = 10_000;

/** Adds the outcomes of schedules to the snapshot while the history is shown. They are too large to be followed all the time. */
export class HistoryReader {
  readonly #context: CommandContext;
  readonly #onChange: () => void;
  #reading: { past: bigint | undefined; reader: OutcomeReader } | undefined;
  #known: { of: Snapshot; whole: Snapshot } | undefined;
  /** What is missing in the history, one sentence. */
  obstacle: string | undefined;

  constructor(context: CommandContext, onChange: () => void) {
    this.#context = context;
    this.#onChange = onChange;
  }

  /** Returns the snapshot with the outcomes read last. Call it for every frame. @param past  set if the snapshot is a past one */
  complete(snapshot: Snapshot, isShown: boolean, past: PastMoment | undefined): Snapshot {
    const count = snapshot.schedules.size;
    this.obstacle =
      isShown && count > MOST_SCHEDULES
        ? `without the runs of schedules: there are ${count}, and those of at most ${MOST_SCHEDULES} are read here; see signalbox ls history --since 8h`
        : undefined;
    if (!isShown || count === 0 || count > MOST_SCHEDULES) {
      this.end();
      return snapshot;
    }
    if (this.#reading?.past !== past?.revision) this.end();
    this.#reading ??= { past: past?.revision, reader: this.#createReader() };
    const { reader } = this.#reading;
    reader.refresh(snapshot.dues, snapshot);
    this.obstacle = reader.obstacle;
    const { outcomes } = reader;
    if (this.#known?.of !== snapshot || this.#known.whole.outcomes !== outcomes)
      this.#known = { of: snapshot, whole: { ...snapshot, outcomes } };
    return this.#known.whole;
  }

  /** Whether the outcomes are read for the first time. */
  get isReading(): boolean {
    return this.#reading?.reader.hasRead === false;
  }

  end(): void {
    this.#reading?.reader.end();
    this.#reading = undefined;
    this.#known = undefined;
  }

  #createReader(): OutcomeReader {
    const ranges = [this.#context.keys.outcomeHistories()];
    return new OutcomeReader(this.#context, ranges, this.#onChange, ALL_OUTCOMES_PAUSE_MS);
  }
}
