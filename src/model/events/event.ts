import type { QueueKind } from "../../protocol/keys.ts";
import { compareByClaim, type QueueEntry } from "../../protocol/ticket.ts";
import type { NamedQueue, Snapshot } from "../snapshot/snapshot.ts";
import type { Subject, Tone } from "../views/view.ts";

/** The kinds of events, with their order at the same instant: causes before effects. `more`: events above the limit. */
export const EVENT_RANKS = {
  more: 0,
  host: 1,
  audit: 2,
  configured: 2,
  drained: 2,
  undrained: 2,
  reset: 3,
  malformed: 3,
  ended: 4,
  left: 4,
  granted: 5,
  started: 5,
  admitted: 6,
  waiting: 7,
  watched: 8,
} as const;
export type EventKind = keyof typeof EVENT_RANKS;

/** An event between two snapshots. */
export interface SnapshotEvent {
  /** Wall clock, ms since the epoch: the stated time, adjusted to be between the snapshots. */
  at: number;
  kind: EventKind;
  /** One line, words separated by two spaces: `granted  backup-db  web1:3121  after 3m`. Not cleaned. */
  text: string;
  /** The affected object, as a navigation target. */
  subject: Subject | undefined;
  /** Full name of the host, if any. */
  host?: string;
  tone: Tone;
}

/** An event before its text is formatted. Only listed events are formatted: an outage may produce many drafts. */
export interface EventDraft extends Omit<SnapshotEvent, "at" | "text" | "host"> {
  /** Stated time, ms since the epoch. If undefined, the event gets the time of the second snapshot. */
  at: number | undefined;
  host?: string | undefined;
  /** Returns the words after the kind. @param at  time of the event, ms since the epoch */
  formatWords(at: number): readonly (string | undefined)[];
  /** The lock that the run holds, held or waits for. A grant is placed after the end of the previous holder. */
  lock?: string | undefined;
}

/**
 * Calls a function for each difference between two maps of immutable values. Values are compared by identity.
 * @param tell  receives the name, the old value and the new value
 */
export function visitChanges<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  tell: (name: string, was: T | undefined, is: T | undefined) => void,
): void {
  if (before === after) return;
  let common = 0;
  for (const [name, is] of after) {
    const was = before.get(name);
    if (was !== undefined) common += 1;
    if (was !== is) tell(name, was, is);
  }
  if (common === before.size) return;
  for (const [name, was] of before) if (!after.has(name)) tell(name, was, undefined);
}

/** A ticket that was added, changed or removed. */
export interface TicketChange {
  kind: QueueKind;
  name: string;
  was: QueueEntry | undefined;
  is: QueueEntry | undefined;
  /** Number of entries ahead of it now. */
  ahead: number;
}

/** Finds ticket changes by run. The change in the lock comes first. */
export function findTicketChanges(
  before: Pick<Snapshot, "queues">,
  after: Pick<Snapshot, "queues">,
): Map<string, TicketChange[]> {
  const runs = new Map<string, TicketChange[]>();
  visitChanges(before.queues, after.queues, (_, was, is) => {
    for (const change of diffQueues(was, is)) {
      const run = (change.is ?? change.was)?.run ?? "";
      const known = runs.get(run);
      if (known === undefined) runs.set(run, [change]);
      else if (change.kind === "lock") known.unshift(change);
      else known.push(change);
    }
  });
  return runs;
}

/** Compares two queues in one pass: both are in the order of claims. */
function diffQueues(before: NamedQueue | undefined, after: NamedQueue | undefined): TicketChange[] {
  const { kind, name } = after ?? before ?? { kind: "lock", name: "" };
  const [old, now] = [before?.entries ?? [], after?.entries ?? []];
  const found: TicketChange[] = [];
  let at = 0;
  for (let ahead = 0; at < old.length || ahead < now.length; ) {
    const [was, is] = [old[at], now[ahead]];
    const order =
      was === undefined ? 1 : is === undefined ? -1 : was.key === is.key ? 0 : compareByClaim(was, is);
    if (order < 0) found.push({ kind, name, was, is: undefined, ahead: 0 });
    else if (order > 0) found.push({ kind, name, was: undefined, is, ahead });
    else if (was !== is) found.push({ kind, name, was, is, ahead });
    if (order <= 0) at += 1;
    if (order >= 0) ahead += 1;
  }
  return found;
}
