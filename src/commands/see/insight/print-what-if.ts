import { clean } from "../../../base/text.ts";
import type { WhatIfReport } from "../../../model/insight/what-if.ts";
import {
  formatClaimLine,
  formatDrainLine,
  formatLimitedList,
} from "../../../model/preview/eviction-preview-text.ts";
import { type Claim, findClaimTicket } from "../../../model/snapshot/claims.ts";
import { formatJsonDocument } from "../../json-output.ts";
import type { Call, CommandIo } from "../../spec.ts";

/** Prints the effects of a change. @param wall  wall clock, ms since the epoch */
export function printWhatIf(
  call: Call,
  io: CommandIo,
  { report, revision, wall }: { report: WhatIfReport; revision: bigint; wall: number },
): void {
  if (call.flags.json) io.writeOutput(formatJsonDocument({ revision, ...toWhatIfJson(report) }));
  else
    io.writeOutput(
      `${formatWhatIf(report, wall)
        .map((line) => clean(line))
        .join("\n")}\n`,
    );
}

function formatWhatIf({ ends, leaves, grants, blocked }: WhatIfReport, wall: number): string[] {
  const lines = [
    ...formatLimitedList("ends", ends, wall, (claim) => formatClaimLine(claim, wall)),
    ...formatLimitedList("leaves", leaves, wall, ({ claim, why, isPerhaps }) =>
      [formatClaimLine(claim, wall), `; ${isPerhaps ? "perhaps: " : ""}${why}`].join(""),
    ),
    ...grants.map(({ claim, round, before }) => {
      const change = before === round ? "" : `; without the change: ${formatRound(before)}`;
      return `${formatRound(round).padEnd(6)} ${formatClaimLine(claim, wall)}${change}`;
    }),
    ...formatLimitedList("never", blocked, wall, ({ claim, drains: [drain] }) => {
      const why = drain === undefined ? "" : `; ${formatDrainLine(drain)}`;
      return `${formatClaimLine(claim, wall)}${why}`;
    }),
  ];
  return lines.length === 0 ? ["no run would end, leave or be granted"] : lines;
}

function formatRound(round: number | undefined): string {
  if (round === undefined) return "never";
  return round === 0 ? "now" : `then ${round}`;
}

function toWhatIfJson({ ends, leaves, grants, blocked }: WhatIfReport): object {
  return {
    ends: ends.map(toClaimIds),
    leaves: leaves.map(({ claim, why, isPerhaps }) => ({ ...toClaimIds(claim), why, isPerhaps })),
    grants: grants.map(({ claim, round, before }) => ({
      ...toClaimIds(claim),
      round,
      before: before ?? null,
    })),
    blocked: blocked.map(({ claim, drains }) => ({
      ...toClaimIds(claim),
      drains: drains.map(({ scope, name, by, why }) => ({ scope, name, by, why })),
    })),
  };
}

function toClaimIds(claim: Claim): object {
  const { host, pid, command } = findClaimTicket(claim) ?? {};
  const queues = claim.entries.map(({ queue: { kind, name }, entry }) => ({
    kind,
    name,
    count: entry.ticket?.count,
  }));
  return { run: claim.run, host, pid, command, queues };
}
