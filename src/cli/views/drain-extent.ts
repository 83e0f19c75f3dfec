import type { WallTime } from "../../core/base/clock.ts";
import { formatShortList } from "../../core/base/text.ts";
import type { DrainTarget } from "../../core/protocol/drain.ts";
import type { Claim } from "../../site/state/claims.ts";
import type { DrainExtent, WaiterFate } from "../../site/state/drain-extent.ts";
import { formatClaimLine, formatClaimOwner, formatLimitedList } from "./claims.ts";

/** Number of names in a short list. */
const MAX_LISTED_NAMES = 5;
const FATE_TEXTS: Record<WaiterFate, string> = {
  stays: "keeps its place",
  leaves: "leaves its queues, and claims again once it may",
  depends: "keeps its place with --wait, gives up without",
};

/**
 * Formats the effect of a drain as lines of text. Texts from etcd are not cleaned.
 * @param wall  undefined leaves out ages and counts, which change as time passes
 */
export function formatDrainExtent(
  { holders, waiters, hosts }: DrainExtent,
  target: DrainTarget,
  wall: WallTime | undefined,
): string[] {
  return [
    ...(target.scope === "group"
      ? [`hosts ${hosts.length === 0 ? "none" : formatShortList(hosts, MAX_LISTED_NAMES)}`]
      : []),
    ...(holders.length === 0
      ? ["holds none"]
      : formatLimitedList("holds", holders, wall, (claim) => `${formatClaimLine(claim, wall)}; goes on`)),
    ...(waiters.length === 0
      ? ["waits none"]
      : formatLimitedList(
          "waits",
          waiters,
          wall,
          ({ claim, fate }) => `${formatClaimLine(claim, wall)}; ${FATE_TEXTS[fate]}`,
        )),
  ];
}

/** Formats the owners of claims: the first 5, and the number of the others. */
export function formatClaimOwners(claims: readonly Claim[]): string {
  return formatShortList(claims.map(formatClaimOwner), MAX_LISTED_NAMES);
}
