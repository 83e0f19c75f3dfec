import type { Drain } from "../protocol/drain.ts";
import { type DrainTarget, drainTarget } from "../protocol/drain.ts";
import { type Claim, whoIs } from "./claims.ts";
import { claimLine, drainLine, listed } from "./foresight-text.ts";
import type { Extent, Fate } from "./scope.ts";

const FATES: Record<Fate, string> = {
  stays: "keeps its place",
  leaves: "leaves its queues, and claims again once it may",
  depends: "keeps its place with --wait, gives up without",
};

/** What is drained, in words: `host web1.example.com`, `everything`. */
export function targetText(target: DrainTarget): string {
  return target.scope === "all" ? "everything" : drainTarget(target);
}

/**
 * What a drain would do, in lines for people. Texts from etcd are not cleaned.
 * @param wall  wall clock, ms since the epoch
 */
export function extentLines(
  { holders, waiters, hosts }: Extent,
  target: DrainTarget,
  wall: number,
): string[] {
  return [
    ...(target.scope === "group" ? [`hosts ${hosts.length === 0 ? "none" : shortList(hosts)}`] : []),
    ...(holders.length === 0
      ? ["holds nobody"]
      : listed("holds", holders, (claim) => `${claimLine(claim, wall)}; goes on`)),
    ...(waiters.length === 0
      ? ["waits nobody"]
      : listed("waits", waiters, ({ claim, fate }) => `${claimLine(claim, wall)}; ${FATES[fate]}`)),
  ];
}

/** Names of runs, the first few of many. */
export function whoAll(claims: readonly Claim[]): string {
  return shortList(
    claims.map(({ run, stands: [first] }) => (first === undefined ? run : whoIs(first.place))),
  );
}

function shortList(names: readonly string[]): string {
  const few = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${few} and ${names.length - 5} more` : few;
}

/** A drain with its end: `lock x is drained by ann@web1: new disks (until 2026-01-31T12:00:00Z)`. */
export function drainWithEnd(drain: Drain): string {
  return drain.until === undefined
    ? drainLine(drain)
    : `${drainLine(drain)} (until ${instantText(drain.until)})`;
}

/** An instant, to the second. @param wall  wall clock, ms since the epoch; anything, since others write it */
export function instantText(wall: number): string {
  if (!(Math.abs(wall) <= 8.64e15)) return "some time";
  return `${new Date(wall).toISOString().slice(0, -5)}Z`;
}

/** What happened to the drains of one thing between two looks, one sentence each. */
export function drainChanges(before: readonly Drain[], after: readonly Drain[]): string[] {
  const then = new Map(before.map((drain) => [drain.key, drain]));
  const now = new Set(after.map(({ key }) => key));
  const lifted = before.filter(({ key }) => !now.has(key)).map((drain) => `lifted: ${drainLine(drain)}`);
  const put = after.flatMap((drain) => {
    const known = then.get(drain.key);
    if (known?.modRevision === drain.modRevision) return [];
    return [`${known === undefined ? "new" : "changed"}: ${drainWithEnd(drain)}`];
  });
  return [...lifted, ...put];
}
