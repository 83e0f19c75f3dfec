import { quoteText } from "../../../base/text.ts";
import type { ClaimPorts, ClaimRequest, RunRequest } from "../request.ts";
import type { ClaimRefusal } from "./step.ts";
import { describeDrain, describeQueueEntry } from "./wait-step.ts";

/**
 * Writes the reason why nothing was run to the log only: cron mails all output, and a busy lock is not worth a mail.
 * @returns the exit code
 */
export function reportRefusal({ log }: ClaimPorts, request: RunRequest, refusal: ClaimRefusal): number {
  log.info(`nothing was run: ${describeRefusal(request, refusal)}`);
  return request.busyExitCode;
}

/** Describes a refusal as a clause. */
export function describeRefusal(request: ClaimRequest, refusal: ClaimRefusal): string {
  switch (refusal.kind) {
    case "busy":
      return `lock ${quoteText(request.lock ?? "")} is ${refusal.holder ? describeQueueEntry(refusal.holder) : "taken"}`;
    case "drained":
      return refusal.drains.map(describeDrain).join("; ");
    case "outside":
      return `host ${quoteText(request.identity.host)} is not in group ${quoteText(refusal.group)}`;
    case "timeout":
      return `the wait timed out; ${refusal.why}`;
    case "evicted":
      return `removed from the queue by ${quoteText(refusal.by)}`;
    case "gone":
    case "lapsed":
      return "the session expired while waiting";
  }
}
