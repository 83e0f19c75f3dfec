import type { WallTime } from "../base/clock.ts";
import { parseObject } from "../base/parse-json.ts";
import { canonicalizeHost } from "../base/text.ts";
import { DRAIN_ALL, type DrainScope, type Keys } from "./keys.ts";
import type { KeyValue } from "./txn.ts";

/** The scope and name that a drain applies to. */
export interface DrainTarget {
  scope: DrainScope;
  /** `DRAIN_ALL` if the scope is `all`. */
  name: string;
}

/** An operator's order that nothing new starts in a scope. */
export interface Drain extends DrainTarget {
  key: string;
  by: string;
  /** Wall clock, ms since the epoch; 0 if the value has no time. */
  at: WallTime;
  why?: string;
  /** Wall clock, ms since the epoch, at which the drain ends automatically. */
  until?: WallTime;
  modRevision: bigint;
}

/** Everything that a run uses and a drain can apply to. */
export interface RunTargets {
  locks: readonly string[];
  resources: readonly string[];
  host: string;
  /** All groups that contain the host, directly or through other groups. */
  groups: readonly string[];
}

/**
 * Parses a drain from its key and value. An unreadable value still drains, because its key was put there to stop runs.
 * @returns undefined if the key is not a drain key
 */
export function parseDrain(keys: Keys, kv: KeyValue): Drain | undefined {
  const parsed = keys.parse(kv.key);
  if (parsed.kind !== "drain") return undefined;
  const { scope } = parsed;
  const name = scope === "all" ? DRAIN_ALL : parsed.name; // also if a hand-written key has another name
  return { key: kv.key, scope, name, modRevision: kv.modRevision, ...parseDetails(kv.value) };
}

function parseDetails(text: string): Pick<Drain, "by" | "at" | "why" | "until"> {
  const value = parseObject(text);
  return {
    by: typeof value.by === "string" ? value.by : "unknown",
    at: Number.isFinite(value.at) ? (value.at as number) : 0,
    ...(typeof value.why === "string" && { why: value.why }),
    ...(Number.isFinite(value.until) && { until: value.until as number }),
  };
}

export function serializeDrain(drain: Pick<Drain, "by" | "at" | "why" | "until">): string {
  return JSON.stringify({ v: 1, ...drain });
}

/** Returns whether a drain or a grace has passed its end time. Any client may delete it then. */
export function hasEnded(what: { until?: WallTime }, wall: WallTime): boolean {
  return what.until !== undefined && what.until <= wall;
}

/** Returns whether a drain stops a run with these targets. */
export function isDrainApplicable(drain: DrainTarget, targets: RunTargets): boolean {
  switch (drain.scope) {
    case "all":
      return true;
    case "lock":
      return targets.locks.includes(drain.name);
    case "resource":
      return targets.resources.includes(drain.name);
    case "host":
      return canonicalizeHost(drain.name) === canonicalizeHost(targets.host);
    case "group":
      return targets.groups.includes(drain.name);
  }
}

/** Returns whether two drains have the same target, even if their keys spell it differently. */
export function isSameTarget(one: DrainTarget, other: DrainTarget): boolean {
  if (one.scope !== other.scope) return false;
  if (one.scope === "host") return canonicalizeHost(one.name) === canonicalizeHost(other.name);
  return one.scope === "all" || one.name === other.name;
}

/** Formats a drain target for the audit log: `host web1.example.com`, `all`. */
export function formatAuditTarget({ scope, name }: DrainTarget): string {
  return scope === "all" ? "all" : `${scope} ${name}`;
}

/**
 * Returns whether a drain stops every queue that a run is in, so that its queue entries block no other run.
 * Otherwise (the drain covers the host, or one of two queues) the run must leave its queues.
 */
export function isEveryQueueStopped(
  drain: DrainTarget,
  { locks, resources }: { locks: readonly string[]; resources: readonly string[] },
): boolean {
  if (drain.scope === "all") return true;
  if (locks.length + resources.length !== 1) return false;
  if (drain.scope === "lock") return locks[0] === drain.name;
  return drain.scope === "resource" && resources[0] === drain.name;
}
