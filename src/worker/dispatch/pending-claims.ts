import type { Millis, WallTime } from "../../core/base/clock.ts";
import { isUnavailable } from "../../core/etcd/store.ts";
import { guardRevision } from "../../core/protocol/guards.ts";
import { guardSchema } from "../../core/protocol/schema.ts";
import type { Txn } from "../../core/protocol/txn.ts";
import { listCalendarNames } from "../../schedule/calendar/day-rule.ts";
import { type Definition, runsAtBoot } from "../../schedule/definition.ts";
import { addBoot, type Boot } from "../../schedule/state/boot.ts";
import { type DueState, formatDue } from "../../schedule/state/due.ts";
import { computeFirstDue, type FirstOccurrenceOptions } from "../../schedule/state/due-transitions.ts";
import type { Candidate } from "../../schedule/state/next-candidate.ts";
import { computeLag } from "../../schedule/timing.ts";
import { commitWithRetries } from "../../site/observe/ports.ts";
import type { CachedSchedule } from "../cache/cached-schedule.ts";
import { type ClaimContext, type ClaimedOccurrence, claimOccurrence } from "../claims/claim-occurrence.ts";
import type { WorkerListener } from "../events.ts";
import type { Handler } from "../handler.ts";
import { reportUnstarted } from "../tasks/task-pool.ts";

/** A claim to attempt. */
export interface OccurrenceClaim {
  entry: CachedSchedule;
  handler: Handler;
  /** Undefined if the schedule has no state yet, or its host has booted; the attempt then writes the state. */
  candidate: Candidate | undefined;
}

/** Delay after a missed claim, ms. Usually the change by the other worker arrives first. */
const AFTER_MISS = 250;
/** Delay after a claim that etcd refused or did not answer, ms. */
const AFTER_FAILURE = 1_000;

/** Pending claims, at most one per schedule. */
export class PendingClaims {
  readonly #context: ClaimContext;
  readonly #listener: WorkerListener;
  readonly #start: (claimed: ClaimedOccurrence, handler: Handler) => void;
  readonly #pending = new Set<string>();

  /** @param start runs the claimed occurrence */
  constructor(
    context: ClaimContext,
    listener: WorkerListener,
    start: (claimed: ClaimedOccurrence, handler: Handler) => void,
  ) {
    this.#context = context;
    this.#listener = listener;
    this.#start = start;
  }

  get size(): number {
    return this.#pending.size;
  }

  has(stateName: string): boolean {
    return this.#pending.has(stateName);
  }

  /**
   * Attempts a claim. Never rejects.
   * @returns the earliest time to check the schedule again; undefined if there is no limit
   */
  attempt(one: OccurrenceClaim): Promise<WallTime | undefined> {
    return this.#pend(one.entry, () => this.#attemptClaim(one));
  }

  /** Calls something that is pending meanwhile. @returns what it returns; if etcd refuses it, when to try again */
  async #pend(
    { id, name }: CachedSchedule,
    call: () => Promise<number | undefined>,
  ): Promise<number | undefined> {
    this.#pending.add(name);
    try {
      return await call();
    } catch (error) {
      const { ports, registration } = this.#context;
      const level = isUnavailable(error) ? "warn" : "error";
      if (!registration.session.signal.aborted)
        ports.log[level]("a claim failed", { schedule: id, error: String(error) });
      return this.#addToNow(AFTER_FAILURE);
    } finally {
      this.#pending.delete(name);
    }
  }

  #addToNow(ms: Millis): number {
    return this.#context.ports.clock.getWallTime() + ms;
  }

  /**
   * Deletes the state of a schedule on this host, which has left the group of the schedule. Never rejects.
   * @returns when to try again; undefined if it is deleted
   */
  async forgetHost(entry: CachedSchedule): Promise<WallTime | undefined> {
    const { id, host, name, definitionMod, dueMod } = entry;
    if (host === undefined || this.#pending.has(name)) return undefined;
    const { ports, cache, registration } = this.#context;
    const { keys } = ports;
    const due = keys.due(id, host);
    const txn: Txn = {
      compare: [
        guardSchema(keys),
        guardRevision(keys.schedule(id), definitionMod),
        guardRevision(due, dueMod),
        ...cache.guardRules(keys.groups()),
        { ...keys.getOccurrenceRange(id, host), target: "create", is: "equal", value: 0n },
      ],
      success: [{ op: "delete", key: due }],
      failure: [],
    };
    return await this.#pend(entry, async () => {
      const { succeeded } = await commitWithRetries(ports, txn, registration.session.signal);
      return succeeded ? undefined : this.#addToNow(AFTER_MISS);
    });
  }

  async #attemptClaim({ entry, handler, candidate }: OccurrenceClaim): Promise<number | undefined> {
    if (candidate === undefined) {
      const isWritten = await writeInitialState(this.#context, entry);
      return isWritten ? undefined : this.#addToNow(AFTER_MISS);
    }
    const { dueMod } = entry;
    const result = await claimOccurrence(this.#context, entry, candidate);
    if (result.kind === "unmet") return result.until;
    if (result.kind === "missed") {
      const { until = this.#addToNow(AFTER_MISS), isOutdated = result.until !== undefined } = result;
      // It keeps its place until the watch has shown why. If a claim with the state that etcd has misses twice, no other worker is the
      // reason, and its queue goes on.
      if (isOutdated || entry.missedMod !== dueMod) entry.heldUntil = until;
      if (!isOutdated) entry.missedMod = dueMod;
      return until;
    }
    reportUnstarted(this.#listener, entry, result);
    if (result.kind === "claimed") this.#start(result.claimed, handler);
    return undefined;
  }
}

/**
 * Writes the state of a schedule that was created by hand without one, or the first state of one on this host, or that after
 * a boot. Its first occurrence counts from now; on a host, from when on it runs there.
 * @returns false if a key changed meanwhile, or a calendar is missing
 * @throws StoreError
 */
async function writeInitialState(
  { ports, cache, readBoot }: ClaimContext,
  entry: CachedSchedule,
): Promise<boolean> {
  const { id, host, definition, definitionMod, dueMod, calendarFault, name } = entry;
  if (definition === undefined || calendarFault !== undefined) return false;
  const { keys, clock } = ports;
  const now = clock.getWallTime();
  const base = host === undefined ? undefined : cache.entries.get(id);
  const key = keys.due(id, host);
  const first = base === undefined ? {} : findHostStart(entry, definition, base.due, now);
  const due =
    host !== undefined && runsAtBoot(definition)
      ? computeBootDue(entry, definition, base?.due, now, readBoot?.())
      : computeFirstDue(name, definition, now, first, cache.calendars);
  const txn: Txn = {
    compare: [
      guardSchema(keys),
      guardRevision(keys.schedule(id), definitionMod),
      guardRevision(key, dueMod),
      ...(base === undefined ? [] : [guardRevision(keys.due(id), base.dueMod)]), // the watch may deliver it late
      ...(host !== undefined && definition.group !== undefined ? cache.guardRules(keys.groups()) : []),
      ...(listCalendarNames(definition).length === 0 ? [] : cache.guardRules(keys.calendars())),
    ],
    success: [{ op: "put", key, value: formatDue(due) }],
    failure: [],
  };
  return (await commitWithRetries(ports, txn)).succeeded;
}

/**
 * Returns the state of a schedule of `@reboot` after a boot of this host. If the worker could not run it before, this boot does not
 * count.
 */
function computeBootDue(
  { name, due, since }: CachedSchedule,
  definition: Definition,
  base: DueState | undefined,
  now: WallTime,
  boot: Boot | undefined,
): DueState {
  const isLate = due === undefined && since === Infinity;
  const boots = due?.boots ?? (isLate ? undefined : base?.boots) ?? { since: now, ids: [] };
  const state = { ...(due ?? { runAt: 0, open: [] }), boots };
  return boot === undefined ? state : addBoot(state, boot, computeLag(name, definition), definition.end);
}

/** Returns where a schedule begins on this host. @param base  its first occurrence, as its definition was written */
function findHostStart(
  { id, since, freeSince }: CachedSchedule,
  definition: Definition,
  base: DueState | undefined,
  now: WallTime,
): FirstOccurrenceOptions {
  const { next, runAt } = base ?? {};
  const start = Math.min(now, since ?? next ?? freeSince);
  if (next === undefined || start > next) return { start };
  const isMoved = runAt !== undefined && runAt !== next + computeLag(id, definition);
  return { start: next, ...(isMoved && { at: runAt }) };
}
