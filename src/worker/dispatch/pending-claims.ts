import { isUnavailable } from "../../etcd/retry.ts";
import { commitWithRetries } from "../../observe/ports.ts";
import { guardNotNewer, guardRevision } from "../../protocol/guards.ts";
import { guardSchema } from "../../protocol/schema.ts";
import type { Txn } from "../../protocol/txn.ts";
import { listCalendarNames } from "../../schedule/calendar/day-rule.ts";
import { getScheduleType } from "../../schedule/definition.ts";
import { formatDue } from "../../schedule/state/due.ts";
import { computeFirstDue } from "../../schedule/state/due-transitions.ts";
import type { Candidate } from "../../schedule/state/next-candidate.ts";
import type { CachedSchedule } from "../cache/cached-schedule.ts";
import type { ScheduleCache } from "../cache/schedule-cache.ts";
import {
  type ClaimContext,
  type ClaimedOccurrence,
  claimOccurrence,
  type OccurrenceClaimResult,
} from "../claims/claim-occurrence.ts";
import type { WorkerListener } from "../events.ts";
import type { Handler } from "../handler.ts";
import type { SchedulePorts } from "../worker-ports.ts";

/** A claim to attempt. */
export interface OccurrenceClaim {
  entry: CachedSchedule;
  handler: Handler;
  /** Undefined if the schedule has no state yet; the attempt then writes one. */
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

  has(id: string): boolean {
    return this.#pending.has(id);
  }

  /**
   * Attempts a claim. Never rejects.
   * @returns the earliest time to check the schedule again, wall clock, ms; undefined if there is no limit
   */
  async attempt(one: OccurrenceClaim): Promise<number | undefined> {
    const { id } = one.entry;
    this.#pending.add(id);
    try {
      return await this.#attemptClaim(one);
    } catch (error) {
      this.#logFailure(id, error);
      return this.#context.ports.clock.getWallTime() + AFTER_FAILURE;
    } finally {
      this.#pending.delete(id);
    }
  }

  async #attemptClaim({ entry, handler, candidate }: OccurrenceClaim): Promise<number | undefined> {
    if (candidate === undefined) {
      await writeInitialState(this.#context.ports, this.#context.cache, entry);
      return undefined;
    }
    const result = await claimOccurrence(this.#context, entry, candidate);
    if (result.kind === "missed") return result.until ?? this.#context.ports.clock.getWallTime() + AFTER_MISS;
    this.#reportOutcomes(entry, result);
    if (result.kind === "claimed") this.#start(result.claimed, handler);
    return undefined;
  }

  /** Reports the occurrences that the claim skipped, replaced or gave up. */
  #reportOutcomes(
    { id, definition }: CachedSchedule,
    { outcomes, wasFailing }: Exclude<OccurrenceClaimResult, { kind: "missed" }>,
  ): void {
    if (definition === undefined) return;
    const about = { id, type: getScheduleType(id, definition), definition };
    for (const outcome of outcomes) {
      if (outcome.result === "skipped") this.#listener({ kind: "skipped", ...about, outcome });
      else
        this.#listener({ kind: "ended", ...about, outcome, isDead: outcome.result === "lost", wasFailing });
    }
  }

  #logFailure(schedule: string, error: unknown): void {
    if (this.#context.registration.session.signal.aborted) return;
    const level = isUnavailable(error) ? "warn" : "error";
    this.#context.ports.log[level]("a claim failed", { schedule, error: String(error) });
  }
}

/**
 * Writes the state of a schedule that was created by hand without one. Its first occurrence counts from now.
 * @throws StoreError
 */
async function writeInitialState(
  ports: SchedulePorts,
  { revision, calendars }: Pick<ScheduleCache, "revision" | "calendars">,
  { id, definition, definitionMod, calendarFault }: CachedSchedule,
): Promise<void> {
  if (definition === undefined || calendarFault !== undefined) return;
  const { keys, clock } = ports;
  const value = formatDue(computeFirstDue(id, definition, clock.getWallTime(), {}, calendars));
  const txn: Txn = {
    compare: [
      guardSchema(keys),
      guardRevision(keys.schedule(id), definitionMod),
      guardRevision(keys.due(id), 0n),
      ...(listCalendarNames(definition).length === 0 ? [] : guardNotNewer(revision, keys.calendars())),
    ],
    success: [{ op: "put", key: keys.due(id), value }],
    failure: [],
  };
  await commitWithRetries(ports, txn);
}
