import type { WallTime } from "../../core/base/clock.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import {
  buildExecutionDrafts,
  buildOperatorDrafts,
  buildRunDrafts,
  EVENT_RANKS,
  type EventDraft,
  type SnapshotEvent,
} from "./event.ts";

/** Maximum number of events in the log. */
const MAX_LOGGED_EVENTS = 1_000;

/** Events, newest first. */
export interface EventList {
  /** Those of consecutive snapshots. */
  readonly list: readonly SnapshotEvent[];
  /** Number of all events, with those before the first snapshot. */
  readonly length: number;
  /** Returns some of all events. */
  slice(from: number, to: number): readonly SnapshotEvent[];
}

/** Collects the events of consecutive snapshots. */
export class EventLog implements EventList {
  /** Newest first. A new array replaces it when events are added. */
  list: readonly SnapshotEvent[] = [];
  /** What happened before, as the first snapshot tells, newest first. */
  earlier: readonly SnapshotEvent[] = [];
  #last: { snapshot: Snapshot; wall: WallTime } | undefined;

  get length(): number {
    return this.list.length + this.earlier.length;
  }

  slice(from: number, to: number): readonly SnapshotEvent[] {
    const own = this.list.slice(from, to);
    const { length } = this.list;
    return [...own, ...this.earlier.slice(Math.max(0, from - length), Math.max(0, to - length))];
  }

  /** Adds the events since the previous snapshot. Ignores a snapshot with revision 0, before the first read. */
  addSnapshot(snapshot: Snapshot, wall: WallTime): void {
    const last = this.#last;
    if (snapshot.revision === 0n || last?.snapshot === snapshot) return;
    if (last === undefined) this.earlier = listEarlierEvents(snapshot, wall);
    const now = Math.max(last?.wall ?? wall, wall);
    const events =
      last === undefined ? [] : listEventsBetween(last.snapshot, snapshot, { from: last.wall, to: now });
    // Without a new revision keep the old time: after a disconnect, events from that time may still arrive.
    const isNews = snapshot.revision !== last?.snapshot.revision || events.length > 0;
    this.#last = { snapshot, wall: isNews ? now : (last?.wall ?? now) };
    this.#add(events.reverse());
  }

  /** Adds a change of a row that the user watches. */
  addWatched(text: string, at: WallTime): void {
    this.#add([{ at, kind: "watched", words: [text], subject: undefined, tone: "held" }]);
  }

  #add(events: readonly SnapshotEvent[]): void {
    if (events.length === 0) return;
    this.list = [...events, ...this.list].slice(0, MAX_LOGGED_EVENTS);
  }
}

/** Returns the events until an instant. */
export function limitEvents(log: EventLog, until: WallTime): EventList {
  const list = log.slice(0, log.length).filter(({ at }) => at <= until);
  return { list, length: list.length, slice: (from, to) => list.slice(from, to) };
}

/** Number of events, and of the newest runs of each lock among which they are searched. */
const MAX_FIRST_EVENTS = 50;
const OF_EACH_LOCK = 3;

/**
 * Lists the last events that a snapshot itself tells of, newest first: ended runs and actions of operators. The cost is
 * a few comparisons for each lock.
 * @param wall  later instants are from hosts whose clock is ahead
 */
export function listEarlierEvents(snapshot: Snapshot, wall: WallTime): SnapshotEvent[] {
  const runs = [...snapshot.histories].flatMap(([lock, past]) =>
    past.slice(0, OF_EACH_LOCK).map((run) => ({ lock, run, at: run.endedAt })),
  );
  const records = [...snapshot.audit].map(([id, record]) => ({ id, record, at: record.at }));
  const none = { ...snapshot, histories: new Map(), audit: new Map() };
  const byLock = Map.groupBy(pickNewest(runs), ({ lock }) => lock);
  const some = {
    ...snapshot,
    histories: new Map([...byLock].map(([lock, own]) => [lock, own.map(({ run }) => run)])),
    audit: new Map(pickNewest(records).map(({ id, record }) => [id, record])),
  };
  const events = listEventsBetween(none, some, { from: 0, to: wall });
  return events.reverse().slice(0, MAX_FIRST_EVENTS);
}

function pickNewest<T extends { at: WallTime }>(items: T[]): T[] {
  return items.sort((a, b) => b.at - a.at).slice(0, MAX_FIRST_EVENTS);
}

/** Wall clocks of two snapshots, ms since the epoch. All events are placed between them. */
interface EventSpan {
  from: number;
  to: number;
}

/** Maximum number of events. */
const MAX_LISTED_EVENTS = 200;

/**
 * Lists the events between two snapshots in their most likely order. Clocks of hosts differ, so an instant from a host
 * is moved to a possible time: between the snapshots, and a grant after the end of the previous holder. The cost is one
 * comparison for each unchanged value.
 * @returns the last events; above the limit, preceded by an event with the number of earlier ones
 */
export function listEventsBetween(before: Snapshot, after: Snapshot, span: EventSpan): SnapshotEvent[] {
  const drafts = [
    ...buildRunDrafts(before, after),
    ...buildExecutionDrafts(before, after),
    ...buildOperatorDrafts(before, after),
  ];
  const timed = sortDrafts(drafts, span);
  const kept = timed.slice(-MAX_LISTED_EVENTS);
  const events = kept.map(toEvent);
  const [first] = events;
  const rest = timed.length - kept.length;
  return first === undefined || rest === 0 ? events : [buildMoreEvent(rest, first.at), ...events];
}

interface TimedDraft {
  draft: EventDraft;
  at: WallTime;
}

function sortDrafts(drafts: readonly EventDraft[], { from, to }: EventSpan): TimedDraft[] {
  const timed = drafts.map((draft) => ({
    draft,
    at: Math.max(from, Math.min(to, draft.at ?? to)),
  }));
  const freed = new Map<string, number>();
  for (const { draft, at } of timed) {
    if (draft.kind === "ended" && draft.lock !== undefined)
      freed.set(draft.lock, Math.max(at, freed.get(draft.lock) ?? at));
  }
  for (const one of timed) {
    if (one.draft.kind === "granted") one.at = Math.max(one.at, freed.get(one.draft.lock ?? "") ?? one.at);
  }
  return timed.sort((a, b) => a.at - b.at || EVENT_RANKS[a.draft.kind] - EVENT_RANKS[b.draft.kind]);
}

function toEvent({ draft, at }: TimedDraft): SnapshotEvent {
  const { kind, tone, subject, host } = draft;
  return { at, kind, words: draft.formatWords(at), subject, ...(host !== undefined && { host }), tone };
}

function buildMoreEvent(count: number, at: WallTime): SnapshotEvent {
  const text = `and ${count.toLocaleString("en-US")} more changes before`;
  return { at, kind: "more", words: [text], subject: undefined, tone: "quiet" };
}
