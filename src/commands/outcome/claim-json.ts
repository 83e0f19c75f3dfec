import type { Claim } from "../../model/snapshot/claims.ts";
import type { Drain } from "../../protocol/drain.ts";

/** Converts a run and its tickets to JSON. */
export function toClaimJson({ run, entries }: Claim): object {
  const ticket = entries.find(({ entry }) => entry.ticket !== undefined)?.entry.ticket;
  const { host, pid, user, command, label } = ticket ?? {};
  return {
    run,
    host,
    pid,
    user,
    command,
    label,
    tickets: entries.map(({ queue, entry }) => ({
      kind: queue.kind,
      name: queue.name,
      state: entry.ticket?.state ?? "malformed",
      units: entry.ticket?.count,
      token: entry.createRevision,
    })),
  };
}

/** Converts a drain to JSON. Times are wall clock, in ms since the epoch; `revision` is that of its last change. */
export function toDrainDocument({ scope, name, by, at, why, until, modRevision }: Drain): object {
  return { scope, name, by, at, why, until, revision: modRevision };
}
