import { formatBriefDuration } from "../../core/base/clock.ts";
import { createFindingBuilder, type Finding } from "../../core/base/finding.ts";

/** The range, in ms, that contains the wall clock of a member minus the wall clock of this host. */
export interface ClockOffset {
  endpoint: string;
  least: number;
  most: number;
}

/** From this difference on, a clock is reported, ms. */
const MIN_REPORTED_DIFFERENCE_MS = 5_000;

/**
 * Compares this host's wall clock with the clocks of etcd's members, if they report a time (over plain HTTP, with a
 * resolution of one second). If most members differ, the finding is about this host's clock.
 */
export function judgeOwnClock(offsets: readonly ClockOffset[]): Finding[] {
  const about = createFindingBuilder("clock", "clock of this host");
  if (offsets.length === 0) return [about.ok("not compared: no member reports its time")];
  const apart = offsets.filter((offset) => computeClockDistance(offset) > MIN_REPORTED_DIFFERENCE_MS);
  const [first] = apart;
  if (first === undefined) {
    const detail = `within ${formatBriefDuration(MIN_REPORTED_DIFFERENCE_MS)} of ${offsets.length === 1 ? "the member's" : `those of ${offsets.length} members`}`;
    return [about.ok(detail)];
  }
  const remedy =
    "compare the clocks (ntp, chrony): drains and grace end by them, locks do not depend on them";
  const isMost = apart.length * 2 > offsets.length;
  if (isMost) return [about.warning(`${formatOffset(first)} (${first.endpoint})`, remedy)];
  return apart.map((offset) =>
    createFindingBuilder("clock", `clock of ${offset.endpoint}`).warning(
      `this host's is ${formatOffset(offset)}`,
      remedy,
    ),
  );
}

/** Returns the smallest possible difference of the clocks, ms. */
export function computeClockDistance({ least, most }: ClockOffset): number {
  if (least > 0) return least;
  return most < 0 ? -most : 0;
}

function formatOffset(offset: ClockOffset): string {
  const way = offset.least > 0 ? "behind" : "ahead of";
  return `${formatBriefDuration(computeClockDistance(offset))} or more ${way} that of etcd's member`;
}
