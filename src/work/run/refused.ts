import { quoted } from "../../base/text.ts";
import type { ClaimPorts, ClaimRequest, RunRequest } from "./request.ts";
import type { Refusal } from "./step.ts";
import { describeDrain, describePlace } from "./wake.ts";

/**
 * Says, to the log only, why nothing was run: cron mails whatever is printed, and being busy is no news.
 * @returns the exit code
 */
export function refused({ log }: ClaimPorts, request: RunRequest, refusal: Refusal): number {
  log.info(`nothing was run: ${describeRefusal(request, refusal)}`);
  return request.busyExitCode;
}

/** A refusal as a clause. */
export function describeRefusal(request: ClaimRequest, refusal: Refusal): string {
  switch (refusal.kind) {
    case "busy":
      return `lock ${quoted(request.lock ?? "")} is ${refusal.holder ? describePlace(refusal.holder) : "taken"}`;
    case "drained":
      return refusal.drains.map(describeDrain).join("; ");
    case "outside":
      return `host ${quoted(request.identity.host)} is not in group ${quoted(refusal.group)}`;
    case "timeout":
      return `the wait timed out; ${refusal.why}`;
    case "evicted":
      return `removed from the queue by ${quoted(refusal.by)}`;
    case "gone":
    case "lapsed":
      return "the session expired while waiting";
  }
}
