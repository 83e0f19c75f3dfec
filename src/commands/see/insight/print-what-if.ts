import { clean } from "../../../base/text.ts";
import type { WhatIfReport } from "../../../model/insight/what-if.ts";
import { formatWhatIf } from "../../../model/insight/what-if-text.ts";
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

function toWhatIfJson({ ends, leaves, grants, blocked }: WhatIfReport): object {
  return {
    ends: ends.map(toClaimIds),
    leaves: leaves.map(({ claim, why, isPerhaps }) => ({ ...toClaimIds(claim), why, isPerhaps })),
    grants: grants.map(({ claim, round, before, expected }) => ({
      ...toClaimIds(claim),
      round,
      before: before ?? null,
      expected: expected === undefined ? null : { p50: expected.p50, p95: expected.p95 },
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
