import type { Claim } from "../../model/snapshot/claims.ts";
import { type Drain, formatAuditTarget } from "../../protocol/drain.ts";
import type {
  ConfigResult,
  DrainResult,
  EvictionResult,
  ScheduleChangeRecord,
  UndrainResult,
} from "../outcome.ts";
import type { ActionOutcome } from "./action-outcome.ts";
import { formatPruneEnd, formatRepeatLine } from "./outcome-lines.ts";

/**
 * Builds the JSON document of an outcome. docs/json.md describes the fields.
 * @returns undefined if there is none: the user gave up in the editor
 */
export function toOutcomeJson(outcome: ActionOutcome): object | undefined {
  const { result, notes } = outcome;
  const messages = [...outcome.messages, ...formatRepeatLine(outcome)];
  switch (result.kind) {
    case "eviction":
      return toEvictionJson(result, messages);
    case "drain":
      return toDrainJson(result, [...notes, ...messages]);
    case "undrain":
      return toUndrainJson(result, messages);
    case "configuration":
      return toConfigJson(result, messages, notes);
    case "schedules": {
      const { revision, target, outcome: end, changes, calendar } = result;
      return {
        revision,
        action: calendar ? "calendar" : "schedule",
        target,
        outcome: end,
        ...(calendar && { calendar }),
        changes: changes.map(toScheduleChangeJson),
        messages,
      };
    }
    case "prune": {
      const { revision, outcome: end, audit, hosts, vanished } = result;
      return { revision, outcome: formatPruneEnd(end), audit, hosts, vanished };
    }
    case "faulty":
      return { revision: result.revision, outcome: "faulty", faults: result.faults };
    case "abandoned":
      return undefined;
  }
}

function toEvictionJson(
  { revision, action, target, outcome, preview, runners }: EvictionResult,
  messages: readonly string[],
): object {
  const { evicted, freed, next } = preview;
  return {
    revision,
    action,
    target,
    outcome,
    messages,
    evicted: evicted.map(toClaimJson),
    runners,
    freed,
    next: next.map(({ claim, drains }) => ({ ...toClaimJson(claim), drainedBy: drains.map(({ by }) => by) })),
  };
}

function toDrainJson(result: DrainResult, messages: readonly string[]): object {
  const { revision, target, outcome, drain, before, extent, holders } = result;
  return {
    revision,
    action: "drain",
    target: formatAuditTarget(target),
    outcome,
    messages,
    drain: drain && toDrainDocument(drain),
    before: before.map(toDrainDocument),
    hosts: extent.hosts,
    holders: holders.map(toClaimJson),
    waiters: extent.waiters.map(({ claim, fate }) => ({ ...toClaimJson(claim), fate })),
  };
}

function toUndrainJson(result: UndrainResult, messages: readonly string[]): object {
  const { revision, target, outcome, drains, others, waiters } = result;
  return {
    revision,
    action: "undrain",
    target: formatAuditTarget(target),
    outcome,
    messages,
    drains: drains.map(toDrainDocument),
    others: others.map(toDrainDocument),
    waiters: waiters.map(toClaimJson),
  };
}

function toConfigJson(
  { revision, action, target, outcome, changes, affected }: ConfigResult,
  messages: readonly string[],
  notes: readonly string[],
): object {
  return {
    revision,
    action,
    target,
    outcome,
    messages,
    notes,
    changes: changes.map(({ kind, name, before, after }) => ({
      kind,
      name,
      before: before ?? null,
      after: after ?? null,
    })),
    hits: affected.map(({ claim, fate, exit, why }) => ({ ...toClaimJson(claim), fate, exit, why })),
  };
}

/** Converts a change of a schedule to JSON. Times are ms since the epoch. */
export function toScheduleChangeJson({ id, kind, fields, definition, due }: ScheduleChangeRecord): object {
  return {
    id,
    kind,
    ...(definition && { fields, definition }),
    ...(due && { next: due.next ?? null, runAt: due.runAt }),
  };
}

/** Converts a run and its tickets to JSON. */
function toClaimJson({ run, entries }: Claim): object {
  const ticket = entries.find(({ entry }) => entry.ticket !== undefined)?.entry.ticket;
  const { host, pid, user, command, label } = ticket ?? {};
  return {
    run,
    host,
    pid,
    user,
    command,
    label,
    tickets: entries.map(({ queue, entry }) => ({
      kind: queue.kind,
      name: queue.name,
      state: entry.ticket?.state ?? "malformed",
      units: entry.ticket?.count,
      token: entry.createRevision,
    })),
  };
}

/** Converts a drain to JSON. Times are wall clock, in ms since the epoch; `revision` is that of its last change. */
function toDrainDocument({ scope, name, by, at, why, until, modRevision }: Drain): object {
  return { scope, name, by, at, why, until, revision: modRevision };
}
