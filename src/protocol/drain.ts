import { DRAIN_ALL, type DrainScope, type Keys } from "./keys.ts";
import type { KeyValue } from "./txn.ts";

/** What a drain is about. */
export interface DrainTarget {
  scope: DrainScope;
  /** `DRAIN_ALL` in the scope `all`. */
  name: string;
}

/** An operator's word that nothing new starts in a scope. */
export interface Drain extends DrainTarget {
  key: string;
  by: string;
  /** Wall clock, ms since the epoch; 0 where the value does not say. */
  at: number;
  why?: string;
  /** Wall clock, ms since the epoch, when it ends by itself. */
  until?: number;
  modRevision: bigint;
}

/** What a drain is held against: everything that a run touches. */
export interface Reach {
  lock?: string;
  resources: readonly string[];
  host: string;
  /** Every group the host is in, directly or through other groups. */
  groups: readonly string[];
}

/**
 * A drain from its key and value. A value that cannot be read still drains: someone put it there to stop things.
 * Undefined when the key is none of ours.
 */
export function drainOf(keys: Keys, kv: KeyValue): Drain | undefined {
  const parsed = keys.parse(kv.key);
  if (parsed.kind !== "drain") return undefined;
  const { scope } = parsed;
  const name = scope === "all" ? DRAIN_ALL : parsed.name; // whatever somebody called it by hand, it stops everything
  return { key: kv.key, scope, name, modRevision: kv.modRevision, ...details(kv.value) };
}

function details(text: string): Pick<Drain, "by" | "at" | "why" | "until"> {
  const value = record(text);
  return {
    by: typeof value.by === "string" ? value.by : "unknown",
    at: Number.isFinite(value.at) ? (value.at as number) : 0,
    ...(typeof value.why === "string" && { why: value.why }),
    ...(Number.isFinite(value.until) && { until: value.until as number }),
  };
}

function record(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

export function drainText(drain: Pick<Drain, "by" | "at" | "why" | "until">): string {
  return JSON.stringify({ v: 1, ...drain });
}

/** Whether a drain's time has passed; anyone may delete it then. */
export function hasEnded(what: { until?: number }, wall: number): boolean {
  return what.until !== undefined && what.until <= wall;
}

/** Whether a drain stops this run. */
export function applies(drain: DrainTarget, reach: Reach): boolean {
  switch (drain.scope) {
    case "all":
      return true;
    case "lock":
      return drain.name === reach.lock;
    case "resource":
      return reach.resources.includes(drain.name);
    case "host":
      return plainHost(drain.name) === plainHost(reach.host);
    case "group":
      return reach.groups.includes(drain.name);
  }
}

/** Hosts are compared as in groups: without regard to case or a last dot. */
function plainHost(host: string): string {
  return host.toLowerCase().replace(/(?<=.)\.$/, "");
}

/** Whether two drains are about the same thing, however their keys spell it. */
export function isSameTarget(one: DrainTarget, other: DrainTarget): boolean {
  if (one.scope !== other.scope) return false;
  if (one.scope === "host") return plainHost(one.name) === plainHost(other.name);
  return one.scope === "all" || one.name === other.name;
}

/** What a drain is about, as the audit has it: `host web1.example.com`, `all`. */
export function drainTarget({ scope, name }: DrainTarget): string {
  return scope === "all" ? "all" : `${scope} ${name}`;
}

/**
 * Whether a drain stops every queue that a run stands in, so that its place there is in nobody's way.
 * Otherwise (its host is drained, or one of two resources) it must leave.
 */
export function stopsAllOf(
  drain: DrainTarget,
  standing: { lock?: string; resources: readonly string[] },
): boolean {
  const queues = standing.resources.length + (standing.lock === undefined ? 0 : 1);
  if (drain.scope === "all") return true;
  if (queues !== 1) return false;
  if (drain.scope === "lock") return standing.lock === drain.name;
  return drain.scope === "resource" && standing.resources[0] === drain.name;
}
