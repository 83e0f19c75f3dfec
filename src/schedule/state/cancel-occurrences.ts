import type { WallTime } from "../../core/base/clock.ts";
import { type Definition, isOnce } from "../definition.ts";
import type { Timing } from "../timing.ts";
import type { Cancellation, DueState } from "./due.ts";
import { planAfterEnd } from "./due-transitions.ts";
import type { OccurrenceOutcome } from "./outcome.ts";

/**
 * Cancels the occurrences of a schedule that run, or wait for a start: its worker ends what runs, the others are dropped. What is due
 * once does not run any more. The later occurrences of other schedules stay.
 * @returns the new state, and the outcomes of what was dropped; `due` itself if there is nothing to cancel
 */
export function cancelOccurrences(
  definition: Definition,
  due: DueState,
  canceled: Cancellation,
  timing: Timing,
): { due: DueState; dropped: readonly OccurrenceOutcome[] } {
  const waiting = due.open.filter(({ session }) => session === undefined).map(({ scheduled }) => scheduled);
  const times = due.next !== undefined && isOnce(definition) ? [...waiting, due.next] : waiting;
  const running = due.open.filter(({ session }) => session !== undefined);
  if (times.length === 0 && running.every((one) => one.canceled !== undefined)) return { due, dropped: [] };
  const open = running.map((one) => ({ canceled, ...one }));
  const { next, ...rest } = due;
  const isKept = next !== undefined && !isOnce(definition);
  const dropped = times.map((scheduled) => buildCanceledOutcome(scheduled, canceled));
  const state = { ...rest, ...(isKept && { next }), open };
  return { due: planAfterEnd(timing, state, dropped.length > 0 ? canceled.at : undefined), dropped };
}

function buildCanceledOutcome(scheduled: WallTime, canceled: Cancellation): OccurrenceOutcome {
  return { scheduled, result: "canceled", endedAt: canceled.at, reason: formatCancellation(canceled) };
}

/** Formats it for an outcome: `canceled by ann@web1: not needed`. */
export function formatCancellation({ by, why }: Cancellation): string {
  return `canceled by ${by}${why === undefined ? "" : `: ${why}`}`;
}

/** Returns who has canceled an occurrence; undefined if nobody has. */
export function findCancellation(due: DueState | undefined, scheduled: WallTime): Cancellation | undefined {
  return due?.open.find((one) => one.scheduled === scheduled)?.canceled;
}
