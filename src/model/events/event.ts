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
