import type { CommandContext } from "../../../commands/store-command.ts";
import type { Detail } from "../../../model/detail/detail.ts";
import type { SessionLivenessMap } from "../../../model/explain/explain-text.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import type { Subject } from "../../../model/views/view.ts";
import type { ConsoleTable } from "../console-table.ts";
import type { PastMoment } from "../shown-data.ts";
import { buildDetail, listDetailTickets } from "./build-detail.ts";
import { DebouncedFetch } from "./debounced-fetch.ts";
import { LivenessPoller } from "./liveness-poller.ts";

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
