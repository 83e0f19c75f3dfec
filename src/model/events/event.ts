import type { Subject, Tone } from "../views/view.ts";

/** Kind of event. `more`: events that exceed the limit. */
export type EventKind =
  | "waiting"
  | "admitted"
  | "granted"
  | "started"
  | "ended"
  | "left"
  | "reset"
  | "malformed"
  | "drained"
  | "undrained"
  | "configured"
  | "host"
  | "audit"
  | "more";

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
