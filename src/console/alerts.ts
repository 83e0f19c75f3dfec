import { LONG_AGO, type MonotonicTime, subtractTime, type WallTime } from "../core/base/clock.ts";
import { cleanToWidth } from "../core/base/display-width.ts";
import { isHolding } from "../core/protocol/admission.ts";
import { findDrainsOfTarget } from "../site/state/drain-extent.ts";
import { findNamedQueue, type Snapshot } from "../site/state/snapshot.ts";
import { buildDetail } from "./data/detail-cache.ts";
import { getWatchId, type WatchedRow } from "./state/watched-rows.ts";

/** Minimum time between two notifications, ms. Changes in between are reported together. */
const NOTIFICATION_PAUSE_MS = 2_000;

/** A notification. */
export interface AlertNews {
  /** One line; several changes are counted. */
  text: string;
  /** All changes, for the log. */
  changes: readonly string[];
}

/** Notices changes of watched rows. */
export class Alerts {
  readonly #marks = new Map<string, string>();
  #source: { snapshot: Snapshot; watched: readonly WatchedRow[] } | undefined;
  #pending: string[] = [];
  #toldAt = LONG_AGO;

  /**
   * Compares the watched rows with their last states. The state of a row that was just added is only stored.
   * @returns the notification to show now, if any
   */
  check(
    watched: readonly WatchedRow[],
    snapshot: Snapshot,
    wall: WallTime,
    now: MonotonicTime,
  ): AlertNews | undefined {
    if (this.#source?.snapshot !== snapshot || this.#source.watched !== watched)
      this.#compare(watched, snapshot, wall);
    if (this.#pending.length === 0 || subtractTime(now, this.#toldAt) < NOTIFICATION_PAUSE_MS)
      return undefined;
    this.#toldAt = now;
    const changes = this.#pending;
    this.#pending = [];
    const [first = ""] = changes;
    return {
      text: changes.length === 1 ? first : `${changes.length} changes, last: ${changes.at(-1)}`,
      changes,
    };
  }

  #compare(watched: readonly WatchedRow[], snapshot: Snapshot, wall: WallTime): void {
    this.#source = { snapshot, watched };
    const ids = new Set(watched.map(getWatchId));
    for (const id of this.#marks.keys()) if (!ids.has(id)) this.#marks.delete(id);
    for (const row of watched) {
      const { text, mark } = describeWatchedRow(row, snapshot, wall);
      const id = getWatchId(row);
      const before = this.#marks.get(id);
      this.#marks.set(id, mark);
      if (before !== undefined && before !== mark) this.#pending.push(text);
    }
  }
}

interface WatchedState {
  /** One clean line, such as `lock orders: held`. */
  text: string;
  /** Differs whenever something has happened that is worth a notification. */
  mark: string;
}

const MAX_NOTIFICATION_COLUMNS = 100;

/** Describes a watched row as its detail does. */
function describeWatchedRow(row: WatchedRow, snapshot: Snapshot, wall: WallTime): WatchedState {
  const { heading } = buildDetail(row, { snapshot, wall, sessions: new Map(), facts: [] });
  if (row.kind === "lock" || row.kind === "resource")
    return describeQueue(row.kind, row.name, heading, snapshot);
  const isLifted = row.kind === "drain" && findDrainsOfTarget(snapshot, row).length === 0;
  const state = isLifted ? "lifted" : heading.includes(": ") ? undefined : "gone";
  const text = cleanToWidth(
    state === undefined ? heading : `${getWatchId(row)}: ${state}`,
    MAX_NOTIFICATION_COLUMNS,
  );
  const last = row.kind === "schedule" ? snapshot.dues.get(row.name)?.value?.last?.run : undefined;
  return { text, mark: `${text} ${last ?? ""}` };
}

/** Describes a queue. Its mark also changes if another run gets the lock, or if the queue becomes empty. */
function describeQueue(
  kind: "lock" | "resource",
  name: string,
  heading: string,
  snapshot: Snapshot,
): WatchedState {
  const entries = findNamedQueue(snapshot, kind, name)?.entries ?? [];
  const holders = entries.filter(isHolding);
  const waiting = entries.length - holders.length;
  const [first] = holders;
  const by = first?.ticket === undefined ? "" : ` by ${first.ticket.host}`;
  const [last] = kind === "lock" ? (snapshot.histories.get(name) ?? []).slice(-1) : [];
  const end =
    first === undefined && last !== undefined && last.exit !== 0
      ? `, the last run failed (${last.exit})`
      : "";
  const queue = waiting === 0 ? "nobody waits" : `${waiting} wait`;
  const state = heading.includes(": ") ? heading : `${kind} ${name}: free`;
  return {
    text: cleanToWidth(`${state}${by}${end}, ${queue}`, MAX_NOTIFICATION_COLUMNS),
    mark: `${state} ${waiting === 0} ${holders.map(({ run }) => run).join(" ")}`,
  };
}

/** Whether a terminal may print sequences that it does not know instead of ignoring them. */
export function isSimpleTerminal(term: string | undefined): boolean {
  return term === undefined || /^(linux|dumb|cons25|vt\d+)/.test(term);
}
