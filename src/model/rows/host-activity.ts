import { canonicalizeHost } from "../../fleet/groups.ts";
import { isHolding } from "../../protocol/admission.ts";
import type { QueueEntry } from "../../protocol/ticket.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** What the runs of a host show about it. */
export interface HostActivity {
  /** Runs that hold all that they claim. */
  held: number;
  waiting: number;
  /** A run there has a session. etcd keeps it only as long as it is renewed, so the host was alive a moment ago. */
  isPresent: boolean;
  /** The latest instant in anything that the host has written, ms since the epoch; undefined if it wrote nothing. */
  writtenAt: number | undefined;
}

export const NO_ACTIVITY: Readonly<HostActivity> = {
  held: 0,
  waiting: 0,
  isPresent: false,
  writtenAt: undefined,
};

/**
 * Computes the activity of each host that has a record, a ticket or a past run, by its canonical name. The record alone is
 * written at long intervals, and only when the host claims something.
 */
export function computeHostActivity(
  snapshot: Pick<Snapshot, "hosts" | "histories" | "queues">,
): ReadonlyMap<string, HostActivity> {
  const activities = new ActivityIndex();
  for (const [host, { seenAt }] of snapshot.hosts) activities.addInstant(host, seenAt);
  for (const [run] of snapshot.histories.values())
    if (run !== undefined) activities.addInstant(run.host, run.endedAt);
  for (const entries of listEntriesByRun(snapshot)) activities.addRun(entries);
  return activities.all;
}

/**
 * Lists the queue entries of each run. There may be a hundred thousand runs, and most have one entry: nothing is built for
 * these.
 */
function* listEntriesByRun({
  queues,
}: Pick<Snapshot, "queues">): Iterable<QueueEntry | readonly QueueEntry[]> {
  const first = new Map<string, QueueEntry>();
  const several = new Map<string, QueueEntry[]>();
  for (const { entries } of queues.values())
    for (const entry of entries) {
      const before = first.get(entry.run);
      if (before === undefined) first.set(entry.run, entry);
      else several.set(entry.run, [...(several.get(entry.run) ?? [before]), entry]);
    }
  for (const [run, entry] of first) yield several.get(run) ?? entry;
}

class ActivityIndex {
  readonly all = new Map<string, HostActivity>();
  /** Hosts write their names always in the same way. */
  readonly #names = new Map<string, HostActivity>();

  addInstant(host: string, at: number | undefined): void {
    if (at === undefined || at <= 0) return;
    const activity = this.#getOrCreate(host);
    activity.writtenAt = Math.max(activity.writtenAt ?? 0, at);
  }

  addRun(entries: QueueEntry | readonly QueueEntry[]): void {
    if (!("key" in entries)) return this.#addSeveral(entries);
    const { ticket, session } = entries;
    if (ticket === undefined) return;
    this.#count(ticket.host, isHolding(entries), session !== 0n);
    this.addInstant(ticket.host, ticket.grantedAt ?? ticket.enqueuedAt);
  }

  #addSeveral(entries: readonly QueueEntry[]): void {
    for (const { ticket } of entries)
      if (ticket !== undefined) this.addInstant(ticket.host, ticket.grantedAt ?? ticket.enqueuedAt);
    const host = entries.find(({ ticket }) => ticket !== undefined)?.ticket?.host;
    if (host === undefined) return;
    this.#count(
      host,
      entries.every(isHolding),
      entries.some(({ session }) => session !== 0n),
    );
  }

  #count(host: string, isHeld: boolean, isPresent: boolean): void {
    const activity = this.#getOrCreate(host);
    if (isHeld) activity.held += 1;
    else activity.waiting += 1;
    activity.isPresent ||= isPresent;
  }

  #getOrCreate(host: string): HostActivity {
    const known = this.#names.get(host);
    if (known !== undefined) return known;
    const name = canonicalizeHost(host);
    const activity = this.all.get(name) ?? { ...NO_ACTIVITY };
    this.all.set(name, activity);
    this.#names.set(host, activity);
    return activity;
  }
}
