import type { PastMoment } from "../../cli/frame/past-moment.ts";
import type { CommandContext } from "../../cli/frame/store-command.ts";
import type { Detail, DetailContext } from "../../cli/views/detail.ts";
import { buildDrainDetail } from "../../cli/views/drains.ts";
import { buildGroupDetail, findGroupState, spreadOverHosts } from "../../cli/views/groups.ts";
import { buildHostDetail, findHostState } from "../../cli/views/hosts.ts";
import { buildQueueDetail } from "../../cli/views/queues.ts";
import { buildRunDetail } from "../../cli/views/runs.ts";
import { buildScheduleDetail } from "../../cli/views/schedules.ts";
import type { WallTime } from "../../core/base/clock.ts";
import { isHolding } from "../../core/protocol/admission.ts";
import type { QueueEntry } from "../../core/protocol/ticket.ts";
import {
  type RunnerKey,
  readRunnerLiveness,
  selectFirstSessions,
} from "../../site/observe/runner-liveness.ts";
import { findClaim } from "../../site/state/claims.ts";
import type { SessionLivenessMap } from "../../site/state/explain.ts";
import { findNamedQueue, type Snapshot } from "../../site/state/snapshot.ts";
import { type Subject, toActionable } from "../../site/state/subject.ts";
import type { ConsoleTable } from "./console-table.ts";
import { OutcomeReader, RepeatedRead } from "./outcome-reader.ts";

/** Sessions can be read only in the present. */
const UNKNOWN_SESSIONS: SessionLivenessMap = new Map();

/** Pause after a cursor move, because more moves may follow, ms. */
const CURSOR_PAUSE_MS = 120;

const NO_SESSIONS: Snapshot["outcomes"] = new Map();

/** Caches the detail of the selected subject. Builds it again only when one of its inputs changes. */
export class DetailCache {
  readonly #context: CommandContext;
  readonly #onChange: () => void;
  readonly #getIsQuiet: () => boolean;
  /** The sessions of the visible runs. */
  #sessions: readonly RunnerKey[] = [];
  #poller: RepeatedRead<SessionLivenessMap> | undefined;
  #liveness: SessionLivenessMap = UNKNOWN_SESSIONS;
  /** Which of the sessions live, as it was shown last. */
  #states = "";
  /** The selected schedule and the reader of its outcomes. Reading the outcomes of all schedules would be too much. */
  #schedule: { id: string; past: bigint | undefined; reader?: OutcomeReader } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #known: { for: readonly unknown[]; detail: Detail | undefined } | undefined;

  /**
   * @param onChange    called when new session states or outcomes were read
   * @param getIsQuiet  whether the user does not type: the states are then read as rarely as displayed ages grow
   */
  constructor(context: CommandContext, onChange: () => void, getIsQuiet: () => boolean) {
    this.#context = context;
    this.#getIsQuiet = getIsQuiet;
    this.#onChange = onChange;
  }

  /** Selects the subject of the detail. @param past  set if the snapshot is a past one */
  watchSubject(subject: Subject | undefined, snapshot: Snapshot, wall: WallTime, past?: PastMoment): void {
    this.#watchSessions(
      subject === undefined || past !== undefined ? [] : listDetailTickets(subject, snapshot, wall),
    );
    const id = subject?.kind === "schedule" ? subject.name : undefined;
    if (id !== this.#schedule?.id || past?.revision !== this.#schedule?.past)
      this.#selectSchedule(id, past?.revision);
    if (id !== undefined) this.#schedule?.reader?.refresh(snapshot.dues.get(id), snapshot);
  }

  /** Polls the sessions of these tickets. The known states of other sessions stay until the first answer. */
  #watchSessions(tickets: readonly RunnerKey[]): void {
    const wanted = selectFirstSessions(tickets, MOST_SESSIONS);
    const isSame = wanted.every(({ session }, at) => session === this.#sessions[at]?.session);
    if (isSame && wanted.length === this.#sessions.length) return;
    this.#liveness = this.#getLiveness();
    this.#sessions = wanted;
    this.#poller?.end();
    const getIsQuiet = this.#getIsQuiet;
    this.#poller =
      wanted.length === 0
        ? undefined
        : new RepeatedRead({
            clock: this.#context.clock,
            delay: CURSOR_PAUSE_MS,
            get pause() {
              return getIsQuiet() ? QUIET_POLL_PAUSE_MS : POLL_EVERY;
            },
            read: (signal) => this.#readLiveness(wanted, signal),
            onChange: () => this.#handleLiveness(),
          });
  }

  /** While nobody types, that a session was renewed again is shown when the displayed ages grow. */
  #handleLiveness(): void {
    const states = Array.from(this.#getLiveness(), ([id, state]) => `${id} ${state && "alive"}`).join();
    const isSame = states === this.#states;
    this.#states = states;
    if (!isSame || !this.#getIsQuiet()) this.#onChange();
  }

  #readLiveness(wanted: readonly RunnerKey[], signal: AbortSignal): Promise<SessionLivenessMap> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(POLL_EVERY)]);
    return readRunnerLiveness(this.#context, wanted, limit);
  }

  #getLiveness(): SessionLivenessMap {
    return this.#poller?.value ?? this.#liveness;
  }

  #selectSchedule(id: string | undefined, past: bigint | undefined): void {
    this.#schedule?.reader?.end();
    clearTimeout(this.#timer);
    this.#schedule = id === undefined ? undefined : { id, past };
    if (id === undefined) return;
    this.#timer = setTimeout(() => {
      const ranges = this.#context.keys.listOutcomeRanges(id);
      this.#schedule = { id, past, reader: new OutcomeReader(this.#context, ranges, this.#onChange) };
      this.#onChange();
    }, CURSOR_PAUSE_MS);
  }

  /** @param index  index of the row in its table */
  getDetail(
    subject: Subject | undefined,
    snapshot: Snapshot,
    table: ConsoleTable,
    index: number,
    wall: WallTime,
    past?: PastMoment,
  ): Detail | undefined {
    const liveness = past === undefined ? this.#getLiveness() : UNKNOWN_SESSIONS;
    const outcomes = this.#schedule?.reader?.outcomes ?? NO_SESSIONS;
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
    this.#poller?.end();
    this.#selectSchedule(undefined, undefined);
  }
}

/** Maximum number of sessions polled. More would take too long. */
const MOST_SESSIONS = 30;

/** Interval between two polls of a session, ms: while the user types, and later. */
const POLL_EVERY = 2_000;
const QUIET_POLL_PAUSE_MS = 10_000;

/** The inputs of a detail besides its subject. */
interface DetailInputs extends DetailContext {
  snapshot: Snapshot;
  /** All values of the row, for subjects without their own detail. */
  facts: readonly { label: string; value: string }[];
}

export function buildDetail(subject: Subject, inputs: DetailInputs): Detail {
  return buildOwnDetail(subject, inputs) ?? buildPlainDetail(subject, inputs);
}

/** Builds the detail of a subject that has its own kind of detail and still exists. */
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
      return buildDrainDetail(snapshot, subject, wall);
    case "record":
      return undefined;
  }
}

/** Lists the tickets whose session state a detail shows. */
function listDetailTickets(subject: Subject, snapshot: Snapshot, wall: WallTime): readonly RunnerKey[] {
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

function buildPlainDetail(subject: Subject, { facts }: DetailInputs): Detail {
  const about = toActionable(subject);
  const heading = about === undefined ? "" : `${about.kind} ${about.name}`;
  const [first] = facts;
  return {
    heading: heading || `${first?.label ?? ""} ${first?.value ?? ""}`,
    tone: "plain",
    facts,
    sections: [],
  };
}
