import { UsageError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { type PruneCandidates, prune, readPruneCandidates } from "../../work/operate/prune.ts";
import { parseDurationFlag, parseReasonFlag } from "../command-line/flags.ts";
import { confirmAction } from "../confirm.ts";
import { createActionCommand } from "../outcome/action-command.ts";
import { createOutcome } from "../outcome/create-outcome.ts";
import type { PruneResult } from "../outcome/operation-result.ts";
import { formatPruneEnd } from "../outcome/outcome-lines.ts";

export const { execute, perform } = createActionCommand(async (context) => {
  const { call } = context;
  const [audit, hosts] = [parseDurationFlag(call, "audit"), parseDurationFlag(call, "hosts")];
  if (audit === undefined && hosts === undefined)
    throw new UsageError("--audit AGE or --hosts AGE is missing; for example: --audit 365d");
  const reason = parseReasonFlag(call);
  const computeCutoff = (age: number | undefined) =>
    age === undefined ? undefined : context.clock.getWallTime() - age;
  const found = await readPruneCandidates(context, {
    audit: computeCutoff(audit),
    hosts: computeCutoff(hosts),
  });
  const reportOutcome = (outcome: PruneResult["outcome"]) =>
    createOutcome(call, toResult(found, outcome), {
      messages: [`${describeLitter(found)}: ${formatPruneEnd(outcome)}`],
    });
  if (found.audit.count === 0 && found.hosts.length === 0) return reportOutcome("nothing");
  if (call.flags["dry-run"]) return reportOutcome("dry-run");
  const isConfirmed = await confirmAction(context, [], `Forget ${clean(describeLitter(found))}?`);
  if (!isConfirmed) return reportOutcome("declined");
  const { kind } = await prune(context, found, reason);
  return reportOutcome(kind);
});

function describeLitter({ audit, hosts }: PruneCandidates): string {
  const names = hosts.slice(0, 5).map(({ record }) => record.fqdn);
  const more = hosts.length > names.length ? `, and ${hosts.length - names.length} more` : "";
  return `${audit.count} audit records, ${hosts.length} hosts${names.length === 0 ? "" : ` (${names.join(", ")}${more})`}`;
}

function toResult({ revision, audit, hosts }: PruneCandidates, outcome: PruneResult["outcome"]): PruneResult {
  const names = hosts.map(({ record }) => record.fqdn);
  return { kind: "prune", outcome, revision, audit: audit.count, hosts: names };
}
