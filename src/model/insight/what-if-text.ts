import { formatBriefDuration } from "../../base/duration.ts";
import { formatClaimLine, formatDrainLine, formatLimitedList } from "../preview/eviction-preview-text.ts";
import type { ComparedGrant, WhatIfReport } from "./what-if.ts";

/** Formats the effects of a change, a line for each run. Not cleaned. @param wall  wall clock, ms since the epoch */
export function formatWhatIf({ ends, leaves, grants, blocked }: WhatIfReport, wall: number): string[] {
  const lines = [
    ...formatLimitedList("ends", ends, wall, (claim) => formatClaimLine(claim, wall)),
    ...formatLimitedList("leaves", leaves, wall, ({ claim, why, isPerhaps }) =>
      [formatClaimLine(claim, wall), `; ${isPerhaps ? "perhaps: " : ""}${why}`].join(""),
    ),
    ...grants.map((grant) => formatGrant(grant, wall)),
    ...formatLimitedList("never", blocked, wall, ({ claim, drains: [drain] }) => {
      const why = drain === undefined ? "" : `; ${formatDrainLine(drain)}`;
      return `${formatClaimLine(claim, wall)}${why}`;
    }),
  ];
  return lines.length === 0 ? ["no run would end, leave or be granted"] : lines;
}

function formatGrant({ claim, round, before, expected }: ComparedGrant, wall: number): string {
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
