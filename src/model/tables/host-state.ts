import { canonicalizeHost } from "../../fleet/groups.ts";
import type { HostRecord } from "../../fleet/host-record.ts";
import { THRESHOLDS } from "../problems/problem.ts";
import type { Claim } from "../snapshot/claims.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { Tone } from "../views/view.ts";

/** What shows that a host is or was alive. */
export interface HostSigns {
  record: HostRecord | undefined;
  held: number;
  waiting: number;
  /** A run there has a session. etcd keeps it only as long as it is renewed, so the host was alive a moment ago. */
  isPresent: boolean;
  /** The latest instant in anything that the host has written, ms since the epoch; undefined if it wrote nothing. */
  writtenAt: number | undefined;
}

/** `silent`: it does nothing, and has written nothing for a day. `unknown`: it has never written anything. */
export type HostState = "busy" | "waiting" | "idle" | "silent" | "unknown";

/** Determines the state of a host from its signs. @param wall  wall clock, ms since the epoch */
export function judgeHostState(signs: HostSigns, wall: number): HostState {
  const { held, waiting, writtenAt } = signs;
  if (held > 0) return "busy";
  if (waiting > 0) return "waiting";
  if (writtenAt === undefined) return "unknown";
  return wall - writtenAt > THRESHOLDS.host ? "silent" : "idle";
}

const TONES: Readonly<Record<HostState, Tone>> = {
  ...{ busy: "held", waiting: "waiting", idle: "free", silent: "waiting", unknown: "quiet" },
};

export function getHostTone(state: HostState): Tone {
  return TONES[state];
}

/** Whether a run of some claims has a session. */
export function hasSession(claims: readonly Claim[]): boolean {
  return claims.some(({ entries }) => entries.some(({ entry }) => entry.session !== 0n));
}

/**
 * Finds the latest instant that each host has written: in its record, its tickets, and the last run of each lock. The
 * record alone is written at long intervals, and only when the host claims something.
 */
export function findLastWritten(
  { hosts, histories }: Pick<Snapshot, "hosts" | "histories">,
  claims: readonly Claim[],
): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  const add = (name: string, at: number | undefined) => {
    if (at === undefined || at <= 0) return;
    const host = canonicalizeHost(name);
    last.set(host, Math.max(last.get(host) ?? 0, at));
  };
  for (const [host, { seenAt }] of hosts) add(host, seenAt);
  for (const { entries } of claims)
    for (const { entry } of entries)
      if (entry.ticket !== undefined)
        add(entry.ticket.host, entry.ticket.grantedAt ?? entry.ticket.enqueuedAt);
  for (const [run] of histories.values()) if (run !== undefined) add(run.host, run.endedAt);
  return last;
}
