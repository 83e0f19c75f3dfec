import { quoteText } from "../../base/text.ts";
import type { RunRefusal } from "../../commands/run/run-invocation.ts";
import type { CronlockOptions } from "./settings/cronlock-options.ts";

/**
 * Formats why nothing was run, in the tool's words if it has any for the case. @param wall  wall clock, ms since the
 * epoch
 */
export function formatCronlockRefusal(
  { tool, lock }: CronlockOptions,
  refusal: RunRefusal,
  wall: number,
): string {
  if (refusal.kind !== "busy") return `${tool} ${lock}: ${formatOtherRefusal(refusal)}`;
  const words =
    tool === "golock" ? `Lock ${lock} acquired by another process` : `Cronlock ${lock} was already acquired`;
  const { host, pid, until } = refusal.holder?.ticket ?? {};
  if (until !== undefined) return `${words} (expires in ${Math.max(0, Math.ceil((until - wall) / 1000))}s)`;
  return host === undefined ? words : `${words} (by process ${pid} on ${host})`;
}

function formatOtherRefusal(refusal: Exclude<RunRefusal, { kind: "busy" }>): string {
  switch (refusal.kind) {
    case "drained":
      return "drained by an operator";
    case "outside":
      return `this host is not in group ${quoteText(refusal.group)}`;
    case "timeout":
      return `the wait timed out; ${refusal.why}`;
    case "evicted":
      return `removed from the queue by ${quoteText(refusal.by)}`;
    default:
      return "the session expired while waiting";
  }
}
