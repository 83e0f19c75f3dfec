import { readSnapshotRanges, toSingleKeyRange } from "../../../commands/read-snapshot.ts";
import type { CommandContext } from "../../../commands/store-command.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";

/** Pause after a cursor move, because more moves may follow, and pause before a retry after an error, ms. */
const SETTLE = 120;
const AGAIN = 2_000;

const NONE: Snapshot["outcomes"] = new Map();

/**
 * Reads the stored outcomes of the selected schedule. Reading those of all schedules would be too much. Reads again
 * when a run of the schedule ends.
 */
export class DebouncedFetch {
  readonly #context: CommandContext;
  readonly #onChange: () => void;
  readonly #stop = new AbortController();
  #wanted: { id: string; due: unknown; revision: bigint | undefined } | undefined;
  #known: { outcomes: Snapshot["outcomes"]; revision: bigint | undefined } = {
    outcomes: NONE,
    revision: undefined,
  };
  #timer: NodeJS.Timeout | undefined;

  constructor(context: CommandContext, onChange: () => void) {
    this.#context = context;
    this.#onChange = onChange;
  }

  /**
   * Returns outcomes by schedule, for at most one schedule. The same map until they are read again.
   * @param revision  that of a past state; undefined for the present
   */
  getKnown(revision?: bigint): Snapshot["outcomes"] {
    return this.#known.revision === revision ? this.#known.outcomes : NONE;
  }

  /** Selects the schedule whose outcomes are read. @param revision  that of a past state; undefined for the present */
  selectSchedule(id: string | undefined, { dues }: Snapshot, revision?: bigint): void {
    const wanted = id === undefined ? undefined : { id, due: dues.get(id), revision };
    const before = this.#wanted;
    if (wanted?.id === before?.id && wanted?.due === before?.due && wanted?.revision === before?.revision)
      return;
    this.#wanted = wanted;
    this.#scheduleFetch(SETTLE);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stop.abort(new Error("the view was closed"));
  }

  #scheduleFetch(pause: number): void {
    clearTimeout(this.#timer);
    if (this.#wanted !== undefined && !this.#stop.signal.aborted)
      this.#timer = setTimeout(() => void this.#fetchOutcomes(), pause);
  }

  async #fetchOutcomes(): Promise<void> {
    const wanted = this.#wanted;
    if (wanted === undefined) return;
    try {
      const { outcomes } = await readSnapshotRanges(
        this.#context,
        [],
        [toSingleKeyRange(this.#context.keys.outcomes(wanted.id))],
        wanted.revision,
      );
      if (this.#stop.signal.aborted || this.#wanted !== wanted) return;
      this.#known = { outcomes, revision: wanted.revision };
      this.#onChange();
    } catch {
      // The fetch was stopped, or etcd is away, which the status line shows.
      if (this.#wanted === wanted) this.#scheduleFetch(AGAIN);
    }
  }
}
