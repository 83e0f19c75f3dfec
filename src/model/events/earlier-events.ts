import type { Snapshot } from "../snapshot/snapshot.ts";
import { listEventsBetween } from "./between.ts";
import type { SnapshotEvent } from "./event.ts";

/** Number of events, and of the newest runs of each lock among which they are searched. */
const MOST = 50;
const OF_EACH_LOCK = 3;

/**
 * Lists the last events that a snapshot itself tells of, newest first: ended runs and actions of operators. The cost is
 * a few comparisons for each lock.
 * @param wall  wall clock, ms since the epoch: later instants are from hosts whose clock is ahead
 */
export function listEarlierEvents(snapshot: Snapshot, wall: number): SnapshotEvent[] {
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
  return events.reverse().slice(0, MOST);
}

function pickNewest<T extends { at: number }>(items: T[]): T[] {
  return items.sort((a, b) => b.at - a.at).slice(0, MOST);
}
