import type { DrainScope, QueueKind } from "../../core/protocol/keys.ts";

/** The object of a row. `name` is as in commands: the id of a run; empty for a drain of everything. */
export type Subject =
  | { kind: "lock" | "host" | "group" | "schedule"; name: string }
  /** `host`: it is a cell in the row of this host, which a drain is of. */
  | { kind: "resource"; name: string; host?: string }
  /** A run; `queue` is the queue in which it was found. */
  | { kind: "run"; name: string; queue?: { kind: QueueKind; name: string } }
  | { kind: "drain"; scope: DrainScope; name: string }
  /**
   * A row without actions of its own: a past run, an audit record. `about` is the object that it refers to, if known.
   * `remedy` is a command that solves the problem. `isEndedRun`: `about` may be held by another run by now. `keys`: its own in etcd.
   */
  | {
      kind: "record";
      name: string;
      about?: Subject;
      remedy?: Remedy;
      isEndedRun?: true;
      keys?: readonly string[];
    };

/** An object that commands can act on. */
export type ActionableSubject = Exclude<Subject, { kind: "record" }>;

/** Returns the object that a row is about: a record stands for what it refers to. */
export function toActionable(subject: Subject | undefined): ActionableSubject | undefined {
  return subject?.kind === "record" ? toActionable(subject.about) : subject;
}

/** A prepared command that solves a problem. In the console, Enter opens it as a form with a preview. */
export interface Remedy {
  /** Command id, for example `schedule trigger`. */
  command: string;
  args: readonly string[];
  flags?: Readonly<Record<string, string | true>>;
}

/** Parses a text such as `lock invoices`, as used in audit records and problems. */
export function parseSubject(text: string): { about?: Subject } {
  const [, kind, name = ""] = /^(lock|resource|host|group|run|schedule) (.+)$/s.exec(text) ?? [];
  return kind === undefined ? {} : { about: { kind, name } as Subject };
}

/** The meaning of a cell, for colours. Its text contains the same information. `accent`: a drawing of values over time. */
export type Tone = "held" | "free" | "waiting" | "problem" | "quiet" | "plain" | "accent";

/** A piece of a line, and its role; without a role it is never painted. */
export interface TextSpan {
  text: string;
  role?: Tone | "heading" | undefined;
  /** What it shows, in a picture whose parts can be opened. */
  target?: PictureTarget;
}

/** An object, or the listing of all objects of a kind. */
export type PictureTarget = Subject | { kind: "listing"; name: string };

/** Units in use of a total. */
export interface Share {
  used: number;
  total?: number | undefined;
}
