import type { Subject, Tone } from "../tables/view.ts";

/** What has happened. `more`: what there is no room for. */
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

/** Something that has happened between two pictures. */
export interface PictureEvent {
  /** Wall clock, ms since the epoch: when it is said to have happened, as far as that can be. */
  at: number;
  kind: EventKind;
  /** A line, its words two spaces apart: `granted  backup-db  web1:3121  after 3m`. Not cleaned. */
  text: string;
  /** What it is about, for whoever wants to go there. */
  subject: Subject | undefined;
  /** Full name of the host, where there is one. */
  host?: string;
  tone: Tone;
}

/** An event whose text is made only when somebody reads it: after an outage there may be very many. */
export interface Draft extends Omit<PictureEvent, "at" | "text" | "host"> {
  /** Undefined where nobody says: when it was noticed. */
  at: number | undefined;
  host?: string | undefined;
  /** What follows the kind. @param at  as the event states it */
  words(at: number): readonly (string | undefined)[];
  /** The lock that a run has or waits for, or had: nobody gets it before it was given up. */
  lock?: string | undefined;
}
