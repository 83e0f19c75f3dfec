import { briefDuration } from "../../base/duration.ts";
import type { Drain } from "../../protocol/drain.ts";
import type { DrainScope } from "../../protocol/keys.ts";
import type { Ticket } from "../../protocol/ticket.ts";
import { drainLine } from "../foresight-text.ts";
import type { Occupant } from "../queue-row.ts";
import type { Tone } from "./view.ts";

/** Texts that several tables have in common. */

/** How long ago an instant was; empty where it is not known. @param wall  wall clock, ms since the epoch */
export function ago(instant: number | undefined, wall: number): string {
  return instant === undefined ? "" : briefDuration(wall - instant);
}

/** The weight of how long something has lasted, at any time: what is not known has not lasted at all. */
export function lasting(since: number | undefined): number {
  return -(since ?? Number.POSITIVE_INFINITY);
}

/** The first of some, and how many more there are. */
export function andMore(texts: readonly string[]): string {
  const [first = "", ...others] = texts;
  return others.length === 0 ? first : `${first} +${others.length}`;
}

/** Since when a run holds what it holds. */
export function heldSince({ ticket }: Pick<Occupant, "ticket">): number | undefined {
  return ticket?.grantedAt ?? ticket?.enqueuedAt;
}

/** What a ticket says of its command: its name, and the label that the user gave it. */
export function commandText(ticket: Ticket | undefined): string {
  const words = ticket?.args === undefined ? ticket?.command : [ticket.command, ...ticket.args].join(" ");
  return words ?? "";
}

/** Drains in a row of what one of them may be about, which is not repeated. @param of  what the rows are */
export function drainNote(drains: readonly Drain[], of: DrainScope): string {
  const lines = drains.map((drain) => {
    const { scope, by, why } = drain;
    return scope === of ? `drained by ${by}${why === undefined ? "" : `: ${why}`}` : drainLine(drain);
  });
  return lines.join("; ");
}

/** `web1:3121` of `web1.example.com:3121`; what is no name of the DNS stays as it is. */
export function briefWho(who: string): string {
  return who.replace(/^([^.:\s]+)\.[^:\s]*[a-z][^:\s]*(?=:\d+$|$)/i, "$1");
}

const TONES: Record<string, Tone> = {
  ...{ held: "held", grace: "quiet", free: "free", waiting: "waiting", admitted: "waiting" },
  ...{ drained: "problem", resetting: "problem", malformed: "problem" },
};

export function stateTone(state: string): Tone {
  return TONES[state] ?? "plain";
}

/** A ticket for programs. Wall clocks in ms since the epoch. */
export function occupantJson({ run, ticket, token }: Occupant): object {
  const { host, pid, user, command, args, label, state, count, total, enqueuedAt, grantedAt, until, reset } =
    ticket ?? {};
  return {
    ...{ run, state: state ?? "malformed", host, pid, user, command, args, label, count, total },
    ...{ enqueuedAt, grantedAt, until, reset, token },
  };
}

/** A drain for programs. */
export function drainJson({ scope, name, by, at, why, until, modRevision }: Drain): object {
  return { scope, name, by, at, why, until, revision: modRevision };
}
