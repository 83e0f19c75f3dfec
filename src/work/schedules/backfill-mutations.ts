import { UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { createBackfill, MAX_BACKFILL, MAX_BACKFILL_PARALLEL } from "../../schedule/state/backfill.ts";
import { computeFirstDue } from "../../schedule/state/due-transitions.ts";
import { canOverlap } from "../../schedule/state/next-candidate.ts";
import { createTiming } from "../../schedule/timing.ts";
import { buildEachMutation, type ReadableSchedule, requireReadable } from "./each-mutation.ts";
import type { ScheduleMutation } from "./schedule-mutation.ts";

/** Which past occurrences to run. Instants in ms since the epoch. */
export interface BackfillOptions {
  from: number;
  to: number;
  /** How many at a time. */
  parallel: number;
}

/** Runs the occurrences of a past time, in order, beside the plan. A backfill that is under way must end before. */
export function buildBackfillMutation(id: string, options: BackfillOptions): ScheduleMutation {
  const formatOutcome = () =>
    `backfill from ${new Date(options.from).toISOString()} to ${new Date(options.to).toISOString()}`;
  return buildEachMutation([id], formatOutcome, (stored, now, calendars) => {
    const before = requireReadable(stored);
    const due = before.due ?? computeFirstDue(id, before.definition, now, {}, calendars);
    if (due.backfill !== undefined)
      throw new UsageError(
        `a backfill of schedule ${quoteText(id)} is under way: wait for its end, or: signalbox schedule backfill ${id} --cancel`,
      );
    checkBackfill(before, options, now);
    const backfill = createBackfill(createTiming(id, before.definition, calendars), options, now);
    if (backfill === undefined || backfill.total > MAX_BACKFILL)
      throw new UsageError(
        backfill === undefined
          ? `schedule ${quoteText(id)} has no occurrence in this time`
          : `a backfill is at most ${MAX_BACKFILL} occurrences; do it in parts`,
      );
    return [{ before, due: { ...due, backfill } }];
  });
}

function checkBackfill({ id, definition }: ReadableSchedule, options: BackfillOptions, now: number): void {
  const { from, to, parallel } = options;
  if (from > to || to > now)
    throw new UsageError(
      `--from must not be after --to, nor --to after now; got ${new Date(from).toISOString()} and ${new Date(to).toISOString()}`,
    );
  if (parallel > MAX_BACKFILL_PARALLEL)
    throw new UsageError(`--parallel must be at most ${MAX_BACKFILL_PARALLEL}; got ${parallel}`);
  if (parallel > 1 && !canOverlap(definition))
    throw new UsageError(
      `runs of schedule ${quoteText(id)} must not overlap, so --parallel must be 1; got ${parallel}. To allow it: signalbox schedule edit ${id} --overlap allow`,
    );
}

/** Ends backfills. Occurrences that were started run to their end. */
export function buildBackfillCancellation(ids: readonly string[]): ScheduleMutation {
  const formatOutcome = () => "backfill canceled";
  return buildEachMutation(ids, formatOutcome, (before) => {
    if (before.due?.backfill === undefined) return [];
    const { backfill: _, ...due } = before.due;
    return [{ before, due }];
  });
}
