import type { PastRun } from "../../../protocol/history.ts";
import type { Grant } from "../claim/acquire.ts";
import type { HistoryUpdate } from "./history-append.ts";

/** How the work that held a claim ended. */
interface ClaimEnd {
  /** Exit code; 0 for success. */
  exit: number;
  reason: string | undefined;
  /** The end of the output, if it was kept. */
  tail?: string | undefined;
}

/** Builds the history entry of a claim that ends now; undefined when no history is kept. */
export function buildHistoryUpdate(
  grant: Grant,
  { exit, reason, tail }: ClaimEnd,
): HistoryUpdate | undefined {
  const { ports, request } = grant.attempt;
  if (!request.history || request.lock === undefined) return undefined;
  const { attempt, grantedAt, places } = grant;
  const { host, pid, command, label } = request.identity;
  const endedAt = ports.clock.getWallTime();
  const past: PastRun = {
    run: attempt.run,
    host,
    pid,
    command,
    exit,
    ...(label !== undefined && { label }),
    ...(reason !== undefined && { reason }),
    ...(tail !== undefined && { tail }),
    token: String(places[0]?.createRevision),
    enqueuedAt: attempt.enqueuedAt,
    grantedAt,
    endedAt,
    waited: grantedAt - attempt.enqueuedAt,
    held: endedAt - grantedAt,
  };
  return { key: ports.keys.history(request.lock), past, known: grant.history };
}
