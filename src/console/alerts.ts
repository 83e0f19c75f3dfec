import { cleanToWidth } from "../core/base/display-width.ts";
import { isHolding } from "../core/protocol/admission.ts";
import { findDrainsOfTarget } from "../site/state/drain-extent.ts";
import { findNamedQueue, type Snapshot } from "../site/state/snapshot.ts";
import { buildDetail } from "./data/detail-cache.ts";
import type { ConsoleJob } from "./data/jobs.ts";
import { getWatchId, type WatchedRow } from "./state/watched-rows.ts";
import {
  formatDesktopNotification,
  formatProgress,
  formatWindowTitle,
  POP_TITLE,
  PUSH_TITLE,
} from "./terminal/output-sequences.ts";

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
  #toldAt = Number.NEGATIVE_INFINITY;

  /**
   * Compares the watched rows with their last states. The state of a row that was just added is only stored.
   * @param now  monotonic clock, ms
   * @returns the notification to show now, if any
   */
  check(
    watched: readonly WatchedRow[],
    snapshot: Snapshot,
    wall: number,
    now: number,
  ): AlertNews | undefined {
    if (this.#source?.snapshot !== snapshot || this.#source.watched !== watched)
      this.#compare(watched, snapshot, wall);
    if (this.#pending.length === 0 || now - this.#toldAt < NOTIFICATION_PAUSE_MS) return undefined;
    this.#toldAt = now;
    const changes = this.#pending;
    this.#pending = [];
    const [first = ""] = changes;
    return {
      text: changes.length === 1 ? first : `${changes.length} changes, last: ${changes.at(-1)}`,
      changes,
    };
  }

  #compare(watched: readonly WatchedRow[], snapshot: Snapshot, wall: number): void {
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

/** The state of a watched row. */
interface WatchedState {
  /** One clean line, such as `lock orders: held`. */
  text: string;
  /** Differs whenever something has happened that is worth a notification. */
  mark: string;
}

/** Maximum columns of a notification. */
const MAX_NOTIFICATION_COLUMNS = 100;

/** Describes a watched row as its detail does. */
function describeWatchedRow(row: WatchedRow, snapshot: Snapshot, wall: number): WatchedState {
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

/** Notifies the user of changes, even if the terminal is not visible. */
export class AlertNotifier {
  readonly #options: NotifierOptions;
  /** Number of changes since the user last pressed a key. */
  #unseen = 0;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  notify({ text, changes }: AlertNews): void {
    const { write, channels, name, sign } = this.#options;
    const { bell, desktop, title } = channels;
    const push = title && this.#unseen === 0 ? PUSH_TITLE : "";
    this.#unseen += changes.length;
    const news = `${sign}${this.#unseen} news - signalbox ${name}`;
    const all = [
      ...(title ? [push, formatWindowTitle(news)] : []),
      ...(desktop ? [formatDesktopNotification(text)] : []),
      ...(bell ? ["\x07"] : []),
    ].join("");
    if (all !== "") write(all);
  }

  /** Restores the title: the user has seen the changes, or leaves the console. */
  restoreTitle(): void {
    const { write, channels } = this.#options;
    if (this.#unseen > 0 && channels.title) write(POP_TITLE);
    this.#unseen = 0;
  }
}

interface NotifierOptions {
  write(text: string): void;
  channels: NotificationChannels;
  /** The name of the cluster, for the title. */
  name: string;
  sign: string;
}

/** The ways to notify a user who is not looking at the terminal. */
interface NotificationChannels {
  bell: boolean;
  desktop: boolean;
  title: boolean;
}

type NotifySetting = "all" | "bell" | "desktop" | "title" | "off";

/** Returns the channels that are wanted and that the terminal is known to handle. */
export function chooseChannels(
  ways: readonly NotifySetting[],
  term: string | undefined,
  isPlain: boolean,
): NotificationChannels {
  const isSimple = isPlain || isSimpleTerminal(term);
  const wants = (way: NotifySetting) => ways.includes("all") || ways.includes(way);
  return { bell: wants("bell"), desktop: !isSimple && wants("desktop"), title: !isSimple && wants("title") };
}

/** Whether a terminal may print sequences that it does not know instead of ignoring them. */
export function isSimpleTerminal(term: string | undefined): boolean {
  return term === undefined || /^(linux|dumb|cons25|vt\d+)/.test(term);
}

/** Run time after which the progress of a job is shown, ms. The user sees the end of shorter jobs anyway. */
const MIN_SHOWN_RUN_TIME_MS = 1_000;

const NO_PROGRESS = "0";

/** Shows the progress of the jobs, and whether one has failed, in the tab or task bar of the terminal. */
export class ProgressNotifier {
  readonly #write: (text: string) => void;
  readonly #isWanted: boolean;
  #shown = NO_PROGRESS;
  /** When the user last pressed a key, ms since the epoch. The user knows of failures before that. */
  #seenAt = 0;

  constructor(write: (text: string) => void, { isWanted }: { isWanted: boolean }) {
    this.#write = write;
    this.#isWanted = isWanted;
  }

  /** @param wall  ms since the epoch */
  show(jobs: readonly ConsoleJob[], wall: number): void {
    this.#set(describeProgress(jobs, wall, this.#seenAt));
  }

  /** Call it when the user has seen the failures so far. */
  acknowledge(wall: number): void {
    this.#seenAt = wall;
  }

  clear(): void {
    this.#set(NO_PROGRESS);
  }

  #set(state: string): void {
    if (state === this.#shown || !this.#isWanted) return;
    this.#shown = state;
    this.#write(formatProgress(state));
  }
}

/** Returns the state and percentage of OSC 9;4: `1;40`, `3` without a known size, `2;100` for a failure, `0` for nothing. */
export function describeProgress(jobs: readonly ConsoleJob[], wall: number, seenAt: number): string {
  const long = jobs.filter(({ startedAt, endedAt = wall }) => endedAt - startedAt >= MIN_SHOWN_RUN_TIME_MS);
  const running = long.filter(({ code }) => code === undefined);
  const parts = running.map(({ progress }) => progress);
  if (parts.includes(undefined)) return "3";
  if (running.length > 0)
    return `1;${Math.round((100 * parts.reduce<number>((sum, part = 0) => sum + part, 0)) / parts.length)}`;
  const hasFailed = long.some(({ code, endedAt = 0 }) => code !== 0 && endedAt > seenAt);
  return hasFailed ? "2;100" : NO_PROGRESS;
}
