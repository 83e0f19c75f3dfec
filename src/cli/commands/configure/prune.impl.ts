import { UsageError } from "../../../core/base/errors.ts";
import { clean } from "../../../core/base/text.ts";
import { getTicketKey } from "../../../core/protocol/ticket.ts";
import { waitUntilGone } from "../../../site/operate/reset.ts";
import {
  getRetentionLimits,
  PRUNE_TARGET,
  type PruneCandidates,
  prune,
  readPruneCandidates,
} from "../../../site/operate/retention.ts";
import { createActionCommand, performAction } from "../../frame/action.ts";
import type { PruneResult } from "../../frame/outcome.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import type { PruneFlags } from "./prune.ts";

export const { execute, perform } = createActionCommand<PruneFlags>(async (context) => {
  const { audit, hosts, vanished: isVanishedWanted = false, expired, reason } = context.flags;
  if (audit === undefined && hosts === undefined && !isVanishedWanted && !expired)
    throw new UsageError(
      "--expired, --audit AGE, --hosts AGE or --vanished is missing; for example: --audit 365d",
    );
  const computeCutoff = (age: number | undefined) =>
    age === undefined ? undefined : context.clock.getWallTime() - age;
  const limits = expired && getRetentionLimits(context.settings);
  const cutoffs = { audit: computeCutoff(audit), hosts: computeCutoff(hosts), expired: limits };
  const found = await readPruneCandidates(context, cutoffs, isVanishedWanted);
  const litter = describeLitter(found);
  return await performAction<PruneResult>(context, {
    planned: toResult(found),
    nothing: countCandidates(found) === 0 ? [`${litter}: nothing to do`] : undefined,
    describe: () => [],
    sum: `${litter}: would be forgotten`,
    question: `Forget ${clean(litter)}?`,
    repeat: "--yes",
    write: async () => {
      await waitForCommands(context, found);
      const { kind: outcome } = await prune(context, found, reason);
      const told = outcome === "done" ? `${litter}: forgotten` : "a host was seen, or a run removed a mark";
      return { outcome, messages: [told] };
    },
  });
});

/** Waits until the command of a vanished ticket cannot be alive: at most the longest time to live. */
async function waitForCommands(
  context: CommandContext<PruneFlags>,
  { vanished }: PruneCandidates,
): Promise<void> {
  if (vanished.length === 0) return;
  const longest = Math.max(...vanished.map((entry) => entry.vanished?.ttl ?? 0));
  context.printMessage(`waiting until the commands of vanished tickets have ended, at most ${longest} s`);
  const tickets = vanished.map(({ key, createRevision }) => ({
    key: getTicketKey(key),
    createRevision,
  }));
  await waitUntilGone(context, tickets, { signal: context.signal });
}

function countCandidates({ audit, hosts, vanished, expired }: PruneCandidates): number {
  return audit.count + hosts.length + vanished.length + expired.length;
}

function describeLitter({ audit, hosts, vanished, expired }: PruneCandidates): string {
  const names = hosts.slice(0, 5).map(({ record }) => record.fqdn);
  const more = hosts.length > names.length ? `, and ${hosts.length - names.length} more` : "";
  const tickets = vanished.length === 0 ? "" : `, ${vanished.length} vanished tickets`;
  const records = expired.length === 0 ? "" : `, ${expired.length} expired records`;
  return `${audit.count} audit records, ${hosts.length} hosts${names.length === 0 ? "" : ` (${names.join(", ")}${more})`}${tickets}${records}`;
}

function toResult({
  revision,
  audit,
  hosts,
  vanished,
  expired,
}: PruneCandidates): Omit<PruneResult, "outcome"> {
  return {
    kind: "prune",
    revision,
    target: PRUNE_TARGET,
    audit: audit.count,
    hosts: hosts.map(({ record }) => record.fqdn),
    vanished: vanished.map(({ run }) => run),
    expired: expired.length,
  };
}
