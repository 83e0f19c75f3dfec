import { readSnapshotRanges, toSingleKeyRange } from "../../commands/read-snapshot.ts";
import type { CommandContext } from "../../commands/store-command.ts";
import { type RunnerKey, readRunnerLiveness, selectFirstSessions } from "../../observe/runner-liveness.ts";
import { isHolding } from "../../protocol/admission.ts";
import type { DrainTarget } from "../../protocol/drain.ts";
import type { QueueEntry } from "../../protocol/ticket.ts";
import { findClaim } from "../../state/claims.ts";
import {
  computeDrainExtent,
  describeDrainTarget,
  findDrainsOfTarget,
  formatDrainExtent,
  formatInstantSeconds,
} from "../../state/drain-extent.ts";
import type { SessionLivenessMap } from "../../state/explain.ts";
import { findNamedQueue, type Snapshot } from "../../state/snapshot.ts";
import type { Subject } from "../../state/subject.ts";
import { buildFacts, type Detail, type DetailContext } from "../../views/detail.ts";
import { buildGroupDetail, findGroupState, spreadOverHosts } from "../../views/groups.ts";
import { buildHostDetail, findHostState } from "../../views/hosts.ts";
import { buildQueueDetail } from "../../views/queues.ts";
import { buildRunDetail } from "../../views/runs.ts";
import { buildScheduleDetail } from "../../views/schedules.ts";
import type { ConsoleTable } from "./console-table.ts";
import type { PastMoment } from "./live-view.ts";

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

/** Pause after a cursor move, because more moves may follow, ms. */
const SETTLE = 120;

/** Pause before a retry after an error, ms. */
const FETCH_AGAIN = 2_000;

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
      if (this.#wanted === wanted) this.#scheduleFetch(FETCH_AGAIN);
    }
  }
}

/** Maximum number of sessions polled. More would take too long. */
const MOST_SESSIONS = 30;

/** Interval between two polls of a session, ms. */
const POLL_EVERY = 2_000;

/** Polls the sessions of the visible runs. */
class LivenessPoller {
  readonly #context: CommandContext;
  readonly #onChange: () => void;
  #wanted: readonly RunnerKey[] = [];
  #known: SessionLivenessMap = new Map();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  readonly #stop = new AbortController();

  constructor(context: CommandContext, onChange: () => void) {
    this.#context = context;
    this.#onChange = onChange;
  }

  get known(): SessionLivenessMap {
    return this.#known;
  }

  /** Selects the sessions to poll. */
  watchSessions(tickets: readonly RunnerKey[]): void {
    const wanted = selectFirstSessions(tickets, MOST_SESSIONS);
    const isSame = wanted.every(({ session }, at) => session === this.#wanted[at]?.session);
    if (isSame && wanted.length === this.#wanted.length) return;
    this.#wanted = wanted;
    this.#schedulePoll(SETTLE);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stop.abort(new Error("the view was closed"));
  }

  #schedulePoll(pause: number): void {
    clearTimeout(this.#timer);
    if (this.#wanted.length > 0 && !this.#stop.signal.aborted)
      this.#timer = setTimeout(() => void this.#poll(), pause);
  }

  async #poll(): Promise<void> {
    if (this.#isAsking) return this.#schedulePoll(SETTLE);
    this.#isAsking = true;
    const limit = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(POLL_EVERY)]);
    try {
      this.#known = await readRunnerLiveness(this.#context, this.#wanted, limit);
      this.#onChange();
    } catch {
      // The request timed out or was stopped. The known states stay; the status line shows whether etcd answers.
    } finally {
      this.#isAsking = false;
      this.#schedulePoll(POLL_EVERY);
    }
  }
}

/** The inputs of a detail besides its subject. */
interface DetailInputs extends DetailContext {
  snapshot: Snapshot;
  /** All values of the row, for subjects without a detail of their own. */
  facts: readonly { label: string; value: string }[];
}

/** Builds the detail of a subject. */
export function buildDetail(subject: Subject, inputs: DetailInputs): Detail {
  return buildOwnDetail(subject, inputs) ?? buildPlainDetail(subject, inputs);
}

/** Builds the detail of a subject that has one of its own and still exists. */
function buildOwnDetail(subject: Subject, inputs: DetailInputs): Detail | undefined {
  const { snapshot, wall } = inputs;
  switch (subject.kind) {
    case "lock":
    case "resource":
      return buildQueueDetail(snapshot, subject.kind, subject.name, inputs);
    case "host": {
      const host = findHostState(snapshot, subject.name, wall);
      return host && buildHostDetail(snapshot, host, inputs);
    }
    case "group": {
      const group = findGroupState(snapshot, subject.name, wall);
      return group && buildGroupDetail(snapshot, group, inputs);
    }
    case "run": {
      const claim = findClaim(snapshot, subject.name);
      return claim && buildRunDetail(snapshot, claim, inputs);
    }
    case "schedule":
      return buildScheduleDetail(snapshot, subject.name, inputs);
    case "drain":
      return buildDrainDetail(subject, inputs);
    case "record":
      return undefined;
  }
}

/** Lists the tickets whose session state a detail shows. */
function listDetailTickets(subject: Subject, snapshot: Snapshot, wall: number): readonly RunnerKey[] {
  switch (subject.kind) {
    case "lock":
    case "resource": {
      const entries = findNamedQueue(snapshot, subject.kind, subject.name)?.entries ?? [];
      return [...entries.filter(isHolding), ...entries.filter((entry) => !isHolding(entry))];
    }
    case "host":
      return (findHostState(snapshot, subject.name, wall)?.claims ?? []).flatMap(listFirstEntry);
    case "group": {
      const group = findGroupState(snapshot, subject.name, wall);
      return group === undefined ? [] : spreadOverHosts(group.claims).flatMap(listFirstEntry);
    }
    case "run":
      return (findClaim(snapshot, subject.name)?.entries ?? []).flatMap(({ queue, entry }) => [
        entry,
        ...queue.entries.filter(isHolding),
      ]);
    case "schedule":
      return snapshot.executions.get(subject.name) ?? [];
    default:
      return [];
  }
}

function listFirstEntry({ entries: [first] }: { entries: readonly { entry: QueueEntry }[] }): QueueEntry[] {
  return first === undefined ? [] : [first.entry];
}

/** Builds the detail of a drain, with the runs that still hold something there. */
function buildDrainDetail(subject: Subject & { kind: "drain" }, { snapshot, wall }: DetailInputs): Detail {
  const target: DrainTarget = { scope: subject.scope, name: subject.name };
  const [drain] = findDrainsOfTarget(snapshot, target);
  const extent = computeDrainExtent(snapshot, target, wall);
  const left = extent.holders.length;
  const what = describeDrainTarget(target);
  return {
    heading:
      left === 0
        ? `drain of ${what}: drained`
        : `drain of ${what}: no new grants, waiting for ${left} to end`,
    tone: "problem",
    facts: buildFacts([
      ["by", drain?.by],
      ["why", drain?.why],
      ["since", drain && formatInstantSeconds(drain.at)],
      ["ends", drain?.until === undefined ? undefined : formatInstantSeconds(drain.until)],
    ]),
    sections: [{ kind: "lines", title: "runs in its scope", lines: formatDrainExtent(extent, target, wall) }],
  };
}

function buildPlainDetail(subject: Subject, { facts }: DetailInputs): Detail {
  const about = subject.kind === "record" ? subject.about : subject;
  const heading = about === undefined ? "" : `${about.kind} ${about.name}`;
  const [first] = facts;
  return {
    heading: heading || `${first?.label ?? ""} ${first?.value ?? ""}`,
    tone: "plain",
    facts,
    sections: [],
  };
}
