import type { PastRun } from "../../protocol/history.ts";
import type { Grant } from "./acquire.ts";
import type { Memory } from "./remember.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";

/** How what held a claim has ended. */
export interface End {
  /** Exit code; 0 where nothing went wrong. */
  exit: number;
  reason: string | undefined;
}

/** What a lock's history keeps of a claim that ends now; undefined where none is kept. */
export function memoryOf(
  ports: ClaimPorts,
  request: ClaimRequest,
  grant: Grant,
  { exit, reason }: End,
): Memory | undefined {
  if (!request.history || request.lock === undefined) return undefined;
  const { attempt, grantedAt, places } = grant;
  const { host, pid, command, label } = request.identity;
  const endedAt = ports.clock.wall();
  const past: PastRun = {
    ...{ run: attempt.run, host, pid, command, exit },
    ...(label !== undefined && { label }),
    ...(reason !== undefined && { reason }),
    token: String(places[0]?.createRevision),
    enqueuedAt: attempt.enqueuedAt,
    grantedAt,
    endedAt,
    waited: grantedAt - attempt.enqueuedAt,
    held: endedAt - grantedAt,
  };
  return { key: ports.keys.history(request.lock), past, known: grant.history };
}
