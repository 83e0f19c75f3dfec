import { briefDuration, formatDuration } from "../base/duration.ts";
import type { HostRecord } from "../fleet/host-record.ts";
import { SEEN_EVERY } from "../fleet/host-record.ts";

/** What etcd says of a session: whole seconds left, and what it was granted or renewed for. Undefined: it is gone. */
export type Pulse = { left: number; ttl: number } | undefined;

/**
 * Whether a runner is there. `alive`: it renewed its session when it was due. `quiet`: it is late, so it is frozen, cut off
 * or gone; its guardian ends the command before the session does. `gone`: its session is over. `unknown`: nobody could say.
 */
export type Verdict = "alive" | "quiet" | "gone" | "unknown";

export interface Liveness {
  verdict: Verdict;
  /** For people, without a subject: `renewed 3s ago`. */
  text: string;
  /** Whole seconds until the session ends unless it is renewed. */
  left: number | undefined;
}

/** Renewals come every sixth of the time to live; this much of it is late by any measure. */
const LATE = 1 / 2;

/**
 * What a session says about its runner. etcd counts whole seconds, and restarts every session in full when its leader
 * changes, so a runner may look alive for one time to live longer than it is.
 * @param pulse  undefined: the session is gone; `null`: it could not be asked
 */
export function liveness(pulse: Pulse | null | undefined): Liveness {
  if (pulse === null) return { verdict: "unknown", text: "its session could not be asked", left: undefined };
  if (pulse === undefined) return { verdict: "gone", text: "its session is over", left: undefined };
  const { left, ttl } = pulse;
  const ago = formatDuration(Math.max(0, ttl - left) * 1000);
  if (ttl - left <= Math.max(1, Math.ceil(ttl * LATE)))
    return { verdict: "alive", text: `its session was renewed ${ago} ago`, left };
  const text = `its session was not renewed for ${ago}, and ends in ${formatDuration(left * 1000)}`;
  return { verdict: "quiet", text, left };
}

/**
 * How long ago a host said that it is there, ms; undefined where it never did. Said in steps of `SEEN_EVERY`, so a host
 * that is there may look that much older.
 * @param wall  wall clock, ms since the epoch
 */
export function seenAgo(record: HostRecord | undefined, wall: number): number | undefined {
  return record === undefined || record.seenAt <= 0 ? undefined : Math.max(0, wall - record.seenAt);
}

/** When a host was seen, for people: it says so in steps, so what is within one may be now. */
export function seenText(record: HostRecord | undefined, wall: number): string {
  const ago = seenAgo(record, wall);
  if (ago === undefined) return "never";
  return ago <= SEEN_EVERY ? `in the last ${briefDuration(SEEN_EVERY)}` : `${briefDuration(ago)} ago`;
}

/** Whether a host was seen within a time, ms, given that it says so in steps only. */
export function seenWithin(record: HostRecord | undefined, within: number, wall: number): boolean {
  const ago = seenAgo(record, wall);
  return ago !== undefined && ago <= within + SEEN_EVERY;
}

/**
 * Whether a host is there. Its runners tell best: one that renews its session is proof, several that are late at once are
 * as good as proof of the contrary. Without runners there is only its own word, which it leaves when it claims something:
 * a host that starts nothing for a day says nothing for a day.
 * @param runners  those there whose sessions were asked
 * @param what     what they are called in the text
 */
export function hostLiveness(
  record: HostRecord | undefined,
  runners: readonly Liveness[],
  wall: number,
  what = "runners",
): Pick<Liveness, "verdict" | "text"> {
  const counts = (verdict: Verdict) => runners.filter((one) => one.verdict === verdict).length;
  const [alive, asked] = [counts("alive"), runners.length - counts("unknown")];
  const seen = `seen ${seenText(record, wall)}`;
  if (alive > 0) return { verdict: "alive", text: `${alive} of ${asked} ${what} there are alive` };
  if (asked > 0) return { verdict: "quiet", text: `0 of ${asked} ${what} there are alive; ${seen}` };
  return { verdict: seenWithin(record, SEEN_EVERY, wall) ? "alive" : "unknown", text: seen };
}
