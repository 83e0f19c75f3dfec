import { formatBriefDuration } from "../../base/duration.ts";
import type { HostRecord } from "../../fleet/host-record.ts";
import type { AuditRecord } from "../../protocol/audit.ts";
import type { Drain } from "../../protocol/drain.ts";
import type { DrainScope } from "../../protocol/keys.ts";
import type { QueueEntry, Ticket } from "../../protocol/ticket.ts";
import { formatDrainLine } from "../preview/eviction-preview-text.ts";
import { THRESHOLDS } from "../problems/problem.ts";
import type { Tone } from "../views/view.ts";

/** Texts that several tables share. */

/** Formats the time since an instant; empty if it is undefined. @param wall  wall clock, ms since the epoch */
export function formatAge(instant: number | undefined, wall: number): string {
  return instant === undefined ? "" : formatBriefDuration(wall - instant);
}

/** Returns the tone of the time for which something is held: long from an hour on, a problem from a day on. */
export function judgeHoldAge(age: number): Tone {
  return age >= THRESHOLDS.hold ? "problem" : age >= THRESHOLDS.wait ? "waiting" : "plain";
}

/** Returns the tone of the time for which somebody waits: a problem from an hour on. */
export function judgeWaitAge(age: number): Tone {
  return age >= THRESHOLDS.wait ? "problem" : "waiting";
}

/** Returns a sort value for the time since an instant, independent of the clock. Undefined sorts as shortest. */
export function computeDurationWeight(since: number | undefined): number {
  return -(since ?? Number.POSITIVE_INFINITY);
}

/** Formats the first text, and the number of the others: `web1 +2`. */
export function formatFirstAndMore(texts: readonly string[]): string {
  const [first = "", ...others] = texts;
  return others.length === 0 ? first : `${first} +${others.length}`;
}

/** Returns when a run was granted, or else enqueued, ms since the epoch. */
export function getHeldSince({ ticket }: Pick<QueueEntry, "ticket">): number | undefined {
  return ticket?.grantedAt ?? ticket?.enqueuedAt;
}

/** Formats the command of a ticket, with its arguments if the ticket stores them. */
export function formatTicketCommand(ticket: Ticket | undefined): string {
  const words = ticket?.args === undefined ? ticket?.command : [ticket.command, ...ticket.args].join(" ");
  return words ?? "";
}

/** Formats the drains of a row. Omits the target of drains with the scope of the rows. @param of  scope of the rows */
export function formatDrainNote(drains: readonly Drain[], of: DrainScope): string {
  const lines = drains.map((drain) => {
    const { scope, by, why } = drain;
    return scope === of ? `drained by ${by}${why === undefined ? "" : `: ${why}`}` : formatDrainLine(drain);
  });
  return lines.join("; ");
}

/** Formats who acted: `ann@web1`, or `ann as root@web1` with sudo. */
export function formatAuditAuthor({ user, sudoUser, host }: AuditRecord): string {
  return `${sudoUser === undefined ? user : `${sudoUser} as ${user}`}@${host}`;
}

/** Formats the macros of a host as `NAME=value`. */
export function formatMacros(macros: HostRecord["macros"] = {}): string {
  return Object.entries(macros)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}

/** Shortens `web1.example.com:3121` to `web1:3121`. Other texts than DNS names stay unchanged. */
export function shortenOwner(who: string): string {
  return who.replace(/^([^.:\s]+)\.[^:\s]*[a-z][^:\s]*(?=:\d+$|$)/i, "$1");
}

const TONES: Record<string, Tone> = {
  held: "held",
  grace: "quiet",
  free: "free",
  waiting: "waiting",
  admitted: "waiting",
  drained: "problem",
  resetting: "problem",
  malformed: "problem",
};

export function getStateTone(state: string): Tone {
  return TONES[state] ?? "plain";
}

/** Returns a ticket for JSON output. Wall clocks in ms since the epoch. */
export function toQueueEntryJson({ run, ticket, createRevision: token }: QueueEntry): object {
  const { host, pid, user, command, args, label, state, count, total, enqueuedAt, grantedAt, until, reset } =
    ticket ?? {};
  return {
    run,
    state: state ?? "malformed",
    host,
    pid,
    user,
    command,
    args,
    label,
    count,
    total,
    enqueuedAt,
    grantedAt,
    until,
    reset,
    token,
  };
}

/** Returns a drain for JSON output. */
export function toDrainJson({ scope, name, by, at, why, until, modRevision }: Drain): object {
  return { scope, name, by, at, why, until, revision: modRevision };
}
