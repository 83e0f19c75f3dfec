import { parseDuration, type WallTime } from "../../core/base/clock.ts";
import type { AuditRecord } from "../../core/protocol/audit.ts";
import { type Drain, type DrainTarget, hasEnded, isSameTarget } from "../../core/protocol/drain.ts";
import { DRAIN_ALL, DRAIN_SCOPES } from "../../core/protocol/keys.ts";
import type { Snapshot } from "./snapshot.ts";

/** A drain that is active, or that was. */
export interface PastDrain extends DrainTarget {
  by: string;
  from: WallTime;
  /** Undefined if it goes on, or if its end is not recorded. */
  until?: WallTime;
  /** How it ended. `unknown`: it is gone, and no record says since when. */
  end: "active" | "lifted" | "expired" | "unknown";
}

/** What drains are known from: stored drains and the actions of operators. */
type DrainRecords = Pick<Snapshot, "audit" | "drains">;

/**
 * Lists the drains that are stored, and those that the actions of operators say were set and ended. A drain that was set
 * again before it ended is one drain.
 * @param wall  Later actions do not count
 */
export function listPastDrains({ audit, drains }: DrainRecords, wall: WallTime): PastDrain[] {
  const byTarget = new Map<string, AuditRecord[]>();
  for (const record of audit.values()) {
    if (record.at > wall || (record.action !== "drain" && record.action !== "undrain")) continue;
    byTarget.set(record.target, [...(byTarget.get(record.target) ?? []), record]);
  }
  const stored = [...drains.values()].filter(({ at }) => at <= wall);
  const recorded = [...byTarget].flatMap(([text, records]) => {
    const target = parseAuditTarget(text);
    return target === undefined ? [] : pairRecords(target, records, wall);
  });
  return [
    ...stored.map((drain) => toActiveDrain(drain, recorded, wall)),
    ...recorded.filter((one) => !stored.some((drain) => isRecordOf(one, drain))),
  ];
}

/** The key of a drain and its audit record may have slightly different times, ms. */
const TIME_TOLERANCE_MS = 5_000;

/** Returns whether a drain from the audit log is one that is still stored. */
function isRecordOf(recorded: PastDrain, drain: Drain): boolean {
  const { from, until = Infinity, end } = recorded;
  if (end === "lifted" || !isSameTarget(recorded, drain)) return false;
  return from <= drain.at + TIME_TOLERANCE_MS && drain.at < until;
}

/** Parses a target as `formatAuditTarget` writes it. */
function parseAuditTarget(text: string): DrainTarget | undefined {
  if (text === "all") return { scope: "all", name: DRAIN_ALL };
  const at = text.indexOf(" ");
  const scope = DRAIN_SCOPES.find((one) => one === text.slice(0, at));
  return scope === undefined || scope === "all" ? undefined : { scope, name: text.slice(at + 1) };
}

/** Pairs the drains of one target with what ended them. A drain without an end is the last one. */
function pairRecords(target: DrainTarget, records: readonly AuditRecord[], wall: WallTime): PastDrain[] {
  const found: PastDrain[] = [];
  let open: { from: WallTime; by: string; until: WallTime } | undefined;
  const close = (at: WallTime) => {
    if (open === undefined) return;
    const { from, by, until } = open;
    if (Number.isFinite(until) && until <= at) found.push({ ...target, by, from, until, end: "expired" });
    else if (at < Infinity) found.push({ ...target, by, from, until: at, end: "lifted" });
    else found.push({ ...target, by, from, end: "unknown" });
    open = undefined;
  };
  for (const record of [...records].sort((a, b) => a.at - b.at)) {
    if (record.action === "undrain" || (open !== undefined && open.until <= record.at)) close(record.at);
    if (record.action === "undrain") continue;
    const { from = record.at, by = `${record.user}@${record.host}` } = open ?? {};
    open = { from, by, until: findPlannedEnd(record) };
  }
  if (open !== undefined) close(open.until <= wall ? wall : Infinity);
  return found;
}

/** Returns when a drain with a duration ends by itself; infinite without one. */
function findPlannedEnd({ at, outcome }: AuditRecord): number {
  const [, text = ""] = /^drained for (\S+?)[,;]?(\s|$)/.exec(outcome) ?? [];
  const length = parseDuration(text);
  return "value" in length && text !== "" ? at + length.value : Infinity;
}

/** Converts a stored drain. It began earlier if it was set again since. */
function toActiveDrain(drain: Drain, recorded: readonly PastDrain[], wall: WallTime): PastDrain {
  const { scope, name, by, at, until } = drain;
  const first = recorded.find((one) => isRecordOf(one, drain));
  const from = Math.min(at, first?.from ?? at);
  return until !== undefined && hasEnded(drain, wall)
    ? { scope, name, by, from, until, end: "expired" }
    : { scope, name, by, from, end: "active" };
}
