import type { Claim } from "../../model/claims.ts";
import type { Foresight } from "../../model/foresee.ts";
import type { Picture } from "../../model/picture.ts";

/** What an eviction did or would do, for programs. docs/json.md says what the fields mean. */
export function evictionJson(
  plan: { picture: Picture; action: string; target: string },
  { evicted, freed, next }: Foresight,
  runners: readonly object[],
  said: { outcome: string; messages: readonly string[] },
): object {
  const { picture, action, target } = plan;
  return {
    ...{ revision: picture.revision, action, target, ...said },
    evicted: evicted.map(claimJson),
    ...{ runners, freed },
    next: next.map(({ claim, drains }) => ({ ...claimJson(claim), drainedBy: drains.map(({ by }) => by) })),
  };
}

/** A run with its tickets. */
export function claimJson({ run, stands }: Claim): object {
  const ticket = stands.find(({ place }) => place.ticket !== undefined)?.place.ticket;
  const { host, pid, user, command, label } = ticket ?? {};
  return {
    ...{ run, host, pid, user, command, label },
    tickets: stands.map(({ queue, place }) => ({
      ...{ kind: queue.kind, name: queue.name, state: place.ticket?.state ?? "malformed" },
      ...{ units: place.ticket?.count, token: place.createRevision },
    })),
  };
}
