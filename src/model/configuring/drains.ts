import { EXIT } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import { canonicalHost, type Groups, hostsOf } from "../../fleet/groups.ts";
import { type Drain, hasEnded } from "../../protocol/drain.ts";
import type { Ticket } from "../../protocol/ticket.ts";
import { type Claim, isHolder } from "../claims.ts";
import type { Picture } from "../picture.ts";
import type { Verdict } from "./hit.ts";

/** Hosts that come under a drain of their group, or out of it, when groups change. */
export interface DrainShifts {
  judge(claim: Claim, ticket: Ticket): Verdict | undefined;
  notes: readonly string[];
}

/** @param wall  wall clock, ms since the epoch: drains that have ended stop nobody */
export function drainShifts(picture: Picture, before: Groups, after: Groups, wall: number): DrainShifts {
  const drains = [...picture.drains.values()].filter((one) => one.scope === "group" && !hasEnded(one, wall));
  const shifts = drains.map((drain) => {
    const [was, is] = [hostsIn(before, drain.name), hostsIn(after, drain.name)];
    return {
      drain,
      entered: without(is, was),
      left: without(was, is),
      isGone: before.has(drain.name) && !after.has(drain.name),
    };
  });
  const newly = new Map(
    shifts.flatMap(({ drain, entered }) => entered.map((host) => [host, drain] as const)),
  );
  return {
    notes: shifts.flatMap(({ drain, entered, left, isGone }) => [
      ...(isGone ? [`${sentence(drain)}; without the group, the drain stops nobody`] : []),
      ...(entered.length > 0 ? [`${sentence(drain)}; nothing starts any more on ${listed(entered)}`] : []),
      ...(left.length > 0 && !isGone ? [`${sentence(drain)}; that ends for ${listed(left)}`] : []),
    ]),
    judge(claim, { host }) {
      const drain = newly.get(canonicalHost(host));
      if (drain === undefined || isHolder(claim)) return undefined;
      const why = `its host comes under the drain of group ${quoted(drain.name)}; it leaves unless it waits (--wait)`;
      return { fate: "perhaps", exit: EXIT.busy, why };
    },
  };
}

function hostsIn(groups: Groups, name: string): Set<string> {
  return new Set(groups.has(name) ? hostsOf(groups, name).map(canonicalHost) : []);
}

function without(hosts: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...hosts].filter((host) => !others.has(host)).sort();
}

function sentence({ name, by }: Drain): string {
  return `group ${quoted(name)} is drained by ${by}`;
}

const MANY = 3;

function listed(hosts: readonly string[]): string {
  return hosts.length > MANY
    ? `${hosts.slice(0, MANY).join(", ")} and ${hosts.length - MANY} more`
    : hosts.join(", ");
}
