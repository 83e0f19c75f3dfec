import { readSnapshotRanges, toSingleKeyRange } from "../../commands/read-snapshot.ts";
import type { CommandContext } from "../../commands/store-command.ts";
import type { Detail } from "../../model/detail/detail.ts";
import type { SessionLivenessMap } from "../../model/explain/explain-text.ts";
import type { Snapshot } from "../../model/snapshot/snapshot.ts";
import type { Subject } from "../../model/views/view.ts";
import { buildDetail, listDetailTickets } from "./build-detail.ts";
import type { ConsoleTable } from "./console-table.ts";
import { LivenessPoller } from "./liveness-poller.ts";
import type { PastMoment } from "./shown-data.ts";

/** Pause after a cursor move, because more moves may follow, and pause before a retry after an error, ms. */
const SETTLE = 120;
const AGAIN = 2_000;

const NONE: Snapshot["outcomes"] = new Map();

/**
 * Reads the stored outcomes of the selected schedule. Reading those of all schedules would be too much. Reads again
 * when a run of the schedule ends.
 */
class DebouncedFetch {
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

/** Sessions can be asked only about the present. */
const UNKNOWN: SessionLivenessMap = new Map();

/** Caches the detail of the selected subject. Builds it again only when one of its inputs changes. */
export class DetailCache {
  readonly #livenessPoller: LivenessPoller;
  readonly #outcomeFetch: DebouncedFetch;
  #known: { for: readonly unknown[]; detail: Detail | undefined } | undefined;

  /** @param onChange  called when new session states or outcomes were read */
  constructor(context: CommandContext, onChange: () => void) {
    this.#livenessPoller = new LivenessPoller(context, onChange);
    this.#outcomeFetch = new DebouncedFetch(context, onChange);
  }

  /** Selects the subject of the detail. @param wall  ms since the epoch @param past  set if the snapshot is a past one */
  watchSubject(subject: Subject | undefined, snapshot: Snapshot, wall: number, past?: PastMoment): void {
    this.#livenessPoller.watchSessions(
      subject === undefined || past !== undefined ? [] : listDetailTickets(subject, snapshot, wall),
    );
    this.#outcomeFetch.selectSchedule(
      subject?.kind === "schedule" ? subject.name : undefined,
      snapshot,
      past?.revision,
    );
  }

  /** @param index  index of the row in its table */
  getDetail(
    subject: Subject | undefined,
    snapshot: Snapshot,
    table: ConsoleTable,
    index: number,
    wall: number,
    past?: PastMoment,
  ): Detail | undefined {
    const liveness = past === undefined ? this.#livenessPoller.known : UNKNOWN;
    const outcomes = this.#outcomeFetch.getKnown(past?.revision);
    const key = [JSON.stringify(subject), snapshot, Math.floor(wall / 1000), liveness, outcomes, index];
    if (this.#known?.for.every((one, at) => one === key[at]) !== true) {
      const inputs = {
        snapshot: { ...snapshot, outcomes },
        wall,
        sessions: liveness,
        facts: table.getFactsAt(index, wall),
      };
      this.#known = { for: key, detail: subject && buildDetail(subject, inputs) };
    }
    return this.#known?.detail;
  }

  end(): void {
    this.#livenessPoller.end();
    this.#outcomeFetch.end();
  }
}
