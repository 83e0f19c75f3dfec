import type { Millis, WallTime } from "../../core/base/clock.ts";
import type { DueState } from "./due.ts";
import { findFreeTime } from "./due-transitions.ts";

// Boots: a schedule of `@reboot` runs once for each boot of a host. All instants in ms since the epoch.

/** A boot of a host. */
export interface Boot {
  /** The boot id of the kernel. */
  readonly id: string;
  readonly at: WallTime;
}

/** Number of boots that a host remembers. Several: hosts that share a name by mistake would else run it in turns, for ever. */
const MAX_KEPT_BOOTS = 8;

/** Returns whether a host has not noted a boot yet. */
export function isNewBoot(due: DueState, { id }: Pick<Boot, "id">): boolean {
  return due.boots?.ids.includes(id) !== true;
}

/**
 * Notes a boot in the state of a host. The schedule is then due, if the boot counts. What was due at an earlier boot has ended
 * with it, and does not run again.
 * @param lag  delay and jitter
 * @param end  end of the schedule
 */
export function addBoot(due: DueState, { id, at }: Boot, lag: Millis, end = Infinity): DueState {
  const { since = 0, ids = [] } = due.boots ?? {};
  const boots = { since, ids: [id, ...ids].slice(0, MAX_KEPT_BOOTS) };
  if (at < since) return { ...due, boots }; // a run may be under way that another plan has started in this boot
  const { next: _, ...rest } = due;
  const open = due.open.filter(({ kind }) => kind !== "due");
  const next = findFreeTime({ open }, at);
  return { ...rest, open, boots, ...(at > end ? { runAt: 0 } : { next, runAt: next + lag }) };
}
