import { EXIT } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { canonicalizeHost, type Groups, listGroupHosts } from "../../fleet/groups.ts";
import { type Drain, hasEnded } from "../../protocol/drain.ts";
import type { Ticket } from "../../protocol/ticket.ts";
import { type Claim, isHolder } from "../snapshot/claims.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { formatShortList } from "../views/short-list.ts";

/** The effect of group changes on hosts that enter or leave a drained group. */
interface DrainImpact {
  judge(claim: Claim, ticket: Ticket): ImpactVerdict | undefined;
  notes: readonly string[];
}

/** Maximum number of hosts listed by name. */
const MANY = 3;

/** Computes the effect of group changes. @param wall  ms since the epoch; expired drains have no effect */
export function computeDrainImpact(
  snapshot: Snapshot,
  before: Groups,
  after: Groups,
  wall: number,
): DrainImpact {
  const drains = [...snapshot.drains.values()].filter((one) => one.scope === "group" && !hasEnded(one, wall));
  const shifts = drains.map((drain) => {
    const [was, is] = [buildHostSet(before, drain.name), buildHostSet(after, drain.name)];
    return {
      drain,
      entered: subtractHosts(is, was),
      left: subtractHosts(was, is),
      isGone: before.has(drain.name) && !after.has(drain.name),
    };
  });
  const newly = new Map(
    shifts.flatMap(({ drain, entered }) => entered.map((host) => [host, drain] as const)),
  );
  return {
    notes: shifts.flatMap(({ drain, entered, left, isGone }) => [
      ...(isGone ? [`${formatDrainSentence(drain)}; without the group, the drain stops nothing`] : []),
      ...(entered.length > 0
        ? [`${formatDrainSentence(drain)}; nothing starts any more on ${formatShortList(entered, MANY)}`]
        : []),
      ...(left.length > 0 && !isGone
        ? [`${formatDrainSentence(drain)}; it no longer applies to ${formatShortList(left, MANY)}`]
        : []),
    ]),
    judge(claim, { host }) {
      const drain = newly.get(canonicalizeHost(host));
      if (drain === undefined || isHolder(claim)) return undefined;
      const why = `its host becomes part of the drained group ${quoteText(drain.name)}; it leaves unless it waits (--wait)`;
      return { fate: "perhaps", exit: EXIT.busy, why };
    },
  };
}

function buildHostSet(groups: Groups, name: string): Set<string> {
  return new Set(groups.has(name) ? listGroupHosts(groups, name).map(canonicalizeHost) : []);
}

function subtractHosts(hosts: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...hosts].filter((host) => !others.has(host)).sort();
}

function formatDrainSentence({ name, by }: Drain): string {
  return `group ${quoteText(name)} is drained by ${by}`;
}

/**
 * A run that a configuration change affects. `ended`: its command is terminated. `leaves`: it waits, and gives up.
 * `perhaps`: it waits, and may give up; its tickets do not show enough to decide.
 */
export interface AffectedRun {
  readonly claim: Claim;
  readonly fate: "ended" | "leaves" | "perhaps";
  /** Its exit code, unless its options set another one. */
  readonly exit: number;
  readonly why: string;
}

/** The effect on a run, and the reason. */
export type ImpactVerdict = Omit<AffectedRun, "claim">;

/** Worst first. */
export const FATES: readonly AffectedRun["fate"][] = ["ended", "leaves", "perhaps"];
