import { formatBriefDuration, type WallTime } from "../../core/base/clock.ts";
import {
  type ComparedGrant,
  computeGrantOrder,
  type DirectEffect,
  type WhatIfReport,
} from "../../site/state/what-if.ts";
import { formatClaimLine, formatClaimOwner, formatLimitedList } from "./claims.ts";
import { formatDrainLine } from "./drain-lines.ts";

/** Formats the effects of a change, a line for each run. Not cleaned. */
export function formatWhatIf({ ends, leaves, grants, blocked }: WhatIfReport, wall: WallTime): string[] {
  const lines = [
    ...formatLimitedList("ends", ends, wall, (claim) => formatClaimLine(claim, wall)),
    ...formatLimitedList(
      "leaves",
      leaves,
      wall,
      ({ claim, why, isPerhaps }) => `${formatClaimLine(claim, wall)}; ${isPerhaps ? "perhaps: " : ""}${why}`,
    ),
    ...grants.map((grant) => formatGrant(grant, wall)),
    ...formatLimitedList("never", blocked, wall, ({ claim, drains: [drain] }) => {
      const why = drain && `; ${formatDrainLine(drain)}`;
      return `${formatClaimLine(claim, wall)}${why ?? ""}`;
    }),
  ];
  return lines.length === 0 ? ["no run would end, leave or be granted"] : lines;
}

function formatGrant({ claim, round, before, expected }: ComparedGrant, wall: WallTime): string {
  const change = before === round ? "" : `; without the change: ${formatRound(before)}`;
  const when =
    expected === undefined
      ? ""
      : `; expected in ${formatBriefDuration(expected.p50)} to ${formatBriefDuration(expected.p95)}`;
  return `${formatRound(round).padEnd(6)} ${formatClaimLine(claim, wall)}${when}${change}`;
}

function formatRound(round: number | undefined): string {
  if (round === undefined) return "never";
  return round === 0 ? "now" : `then ${round}`;
}

/** Number of runs that the line names. */
export const MAX_NAMED_RUNS = 3;

/**
 * Formats in one line which runs are granted after a change, in this order. Not cleaned.
 * @returns undefined if nobody waits in the queues of the change
 */
export function formatNextGrants({ after, queueIds }: DirectEffect, wall: WallTime): string | undefined {
  const { grants, blocked } = computeGrantOrder(after, queueIds, wall, MAX_NAMED_RUNS + 1);
  if (grants.length === 0 && blocked.length === 0) return undefined;
  if (grants.length === 0) return "then granted: none of the waiting runs";
  const names = grants
    .slice(0, MAX_NAMED_RUNS)
    .map(({ claim, round }) => `${formatClaimOwner(claim)}${round === 0 ? " at once" : ""}`);
  return `then granted: ${names.join(", ")}${grants.length > MAX_NAMED_RUNS ? " and more (i shows all)" : ""}`;
}
