import type { WallTime } from "../../core/base/clock.ts";
import { EXIT } from "../../core/base/errors.ts";
import { memoize } from "../../core/base/memoize.ts";
import { canonicalizeHost, collectTexts, formatShortList, quoteText } from "../../core/base/text.ts";
import type { ConfigChange, GroupChange } from "../../core/fleet/configuration.ts";
import { findMembership, type Groups, listGroupHosts, listGroupNotes } from "../../core/fleet/groups.ts";
import { isHolding } from "../../core/protocol/admission.ts";
import { hasEnded } from "../../core/protocol/drain.ts";
import type { Ticket } from "../../core/protocol/ticket.ts";
import { buildClaims, type Claim, findClaimTicket, isHolder } from "./claims.ts";
import { createTotalLookup, type HostTotal } from "./configuration.ts";
import { buildGroupMembers, findNamedQueue, type Snapshot } from "./snapshot.ts";

/** The effect of a configuration change on current runs. */
export interface ConfigImpact {
  readonly affected: readonly AffectedRun[];
  /** Further notes for the operator, one sentence each. */
  readonly notes: readonly string[];
}

type ImpactRule = (claim: Claim, ticket: Ticket) => ImpactVerdict | undefined;

/**
 * Computes the effect of configuration changes on current runs.
 * @param snapshot  with locks, resources, configuration, drains and hosts
 */
export function computeConfigImpact(
  snapshot: Snapshot,
  changes: readonly ConfigChange[],
  wall: WallTime,
): ConfigImpact {
  const before = buildGroupMembers(snapshot);
  const after = applyGroupChanges(before, changes);
  const shifts = computeDrainImpact(snapshot, before, after, wall);
  const judges = [createGroupRule(before, after, changes), createTotalRule(snapshot, changes), shifts.judge];
  const affected = [...buildClaims(snapshot).values()].flatMap((claim): AffectedRun[] => {
    const ticket = findClaimTicket(claim);
    if (ticket === undefined) return [];
    const verdicts = judges.flatMap((judge) => judge(claim, ticket) ?? []);
    const [worst] = verdicts.sort((a, b) => RUN_FATES.indexOf(a.fate) - RUN_FATES.indexOf(b.fate));
    return worst === undefined ? [] : [{ claim, ...worst }];
  });
  const notes = [
    ...listConfigNotes(snapshot, before, after, changes),
    ...shifts.notes,
    ...listOvercommitted(snapshot, changes),
  ];
  return { affected: affected.sort((a, b) => RUN_FATES.indexOf(a.fate) - RUN_FATES.indexOf(b.fate)), notes };
}

function applyGroupChanges(before: Groups, changes: readonly ConfigChange[]): Map<string, readonly string[]> {
  const after = new Map(before);
  for (const change of changes) {
    if (change.kind !== "group") continue;
    if (change.after === undefined) after.delete(change.name);
    else after.set(change.name, change.after);
  }
  return after;
}

/** Judges runs with -g GROUP whose host leaves the group. */
function createGroupRule(before: Groups, after: Groups, changes: readonly ConfigChange[]): ImpactRule {
  if (!changes.some(({ kind }) => kind === "group")) return () => undefined;
  const [was, is] = [createMembershipTest(before), createMembershipTest(after)];
  return (claim, { group, host }) => {
    if (group === undefined || !was(group, host) || is(group, host)) return undefined;
    const isThere = after.has(group);
    const why = isThere ? `its host leaves group ${quoteText(group)}` : `group ${quoteText(group)} is gone`;
    const isRunning = claim.entries.some(({ entry }) => entry.ticket?.state === "held"); // in grace, the command has ended
    if (isHolder(claim)) return isRunning ? { fate: "ended", exit: EXIT.lost, why } : undefined;
    return { fate: "leaves", exit: isThere ? EXIT.busy : EXIT.config, why };
  };
}

/** Creates a cached test whether a host is in a group: there may be many runs on few hosts. */
function createMembershipTest(groups: Groups): (group: string, host: string) => boolean {
  const createTest = memoize((group: string) =>
    memoize((host: string) => groups.has(group) && findMembership(groups, group, host) !== undefined),
  );
  return (group, host) => createTest(group)(canonicalizeHost(host));
}

/** Judges runs that wait for a resource whose total changes. */
function createTotalRule(snapshot: Snapshot, changes: readonly ConfigChange[]): ImpactRule {
  const resources = changes.filter((change) => change.kind === "resource");
  if (resources.length === 0) return () => undefined;
  const totals = createTotalLookup(snapshot, resources);
  return (claim) => {
    if (isHolder(claim)) return undefined;
    const verdicts = claim.entries.flatMap(({ queue, entry: { ticket } }) => {
      if (queue.kind !== "resource" || ticket === undefined) return [];
      const total = totals(queue.name, ticket.host);
      return (total && judgeTotal(queue.name, ticket, total.after)) ?? [];
    });
    return verdicts.find(({ fate }) => fate === "leaves") ?? verdicts[0];
  };
}

function judgeTotal(
  name: string,
  { count, total, isStated }: Ticket,
  after: HostTotal,
): ImpactVerdict | undefined {
  const buildLeaving = (why: string): ImpactVerdict => ({ fate: "leaves", exit: EXIT.config, why });
  const resource = quoteText(name);
  if (after === "unknown")
    return { ...buildLeaving(`the total of ${resource} on its host is not known here`), fate: "perhaps" };
  if (after === undefined) return isStated ? undefined : buildLeaving(`it states no total of ${resource}`);
  if (count > after) return buildLeaving(`it asks for ${count} of ${resource}, but the total is ${after}`);
  return isStated && total !== after
    ? buildLeaving(`it states a total of ${total} of ${resource}`)
    : undefined;
}

/** Lists resources with more units held than the new total. */
function listOvercommitted(snapshot: Snapshot, changes: readonly ConfigChange[]): string[] {
  return changes.flatMap((change) => {
    if (change.kind !== "resource" || !/^\d{1,15}$/.test(change.after?.total ?? "")) return [];
    const total = Number(change.after?.total);
    const entries = findNamedQueue(snapshot, "resource", change.name)?.entries.filter(isHolding) ?? [];
    const held = entries.reduce((sum, { ticket }) => sum + (ticket?.count ?? 0), 0);
    if (held <= total) return [];
    return `${held} units of ${quoteText(change.name)} are held, but the total is ${total}: nothing is granted until enough are free`;
  });
}

/** Number of unknown hosts listed by name. Further hosts are only counted. */
const MOST_MEMBERS = 5;

/** Lists possible mistakes in group changes. Mistakes that existed before the changes are not included. */
function listConfigNotes(
  snapshot: Snapshot,
  before: Groups,
  after: Groups,
  changes: readonly ConfigChange[],
): string[] {
  const groups = changes.filter((change) => change.kind === "group");
  if (groups.length === 0) return [];
  const known = new Set(listGroupNotes(before));
  return [
    ...listGroupNotes(after).filter((note) => !known.has(note)),
    ...listReinterpretedMembers(before, after, groups),
    ...listUnknownMembers(snapshot, after, groups),
  ];
}

/** Lists members that change from a host name to a group name, or back. */
function listReinterpretedMembers(before: Groups, after: Groups, changes: readonly GroupChange[]): string[] {
  const turned = new Set(
    changes.filter(({ name }) => before.has(name) !== after.has(name)).map(({ name }) => name),
  );
  return [...after].flatMap(([name, members]) =>
    members
      .filter((member) => turned.has(member) && before.get(name)?.includes(member))
      .map((member) =>
        after.has(member)
          ? `member ${quoteText(member)} of group ${quoteText(name)} was a host; from now on it is the group`
          : `group ${quoteText(name)} still contains ${quoteText(member)}, which now counts as a host`,
      ),
  );
}

/** Lists new members that are neither a group nor a known host. */
function listUnknownMembers({ hosts }: Snapshot, after: Groups, changes: readonly GroupChange[]): string[] {
  const seen = new Set([...hosts.keys()].map(canonicalizeHost));
  const added = changes.flatMap(({ before, after: now }) =>
    (now ?? []).filter((member) => before?.includes(member) !== true && !after.has(member)),
  );
  const unknown = [...new Set(added)].filter((member) => !seen.has(canonicalizeHost(member)));
  const notes = unknown.slice(0, MOST_MEMBERS).map((member) => {
    const full = [...seen].find((host) => host.startsWith(`${canonicalizeHost(member)}.`));
    const split = member.includes(",") ? "; write members as separate words" : "";
    const hint = full === undefined ? split : `; did you mean ${quoteText(full)}?`;
    return `${quoteText(member)} is neither a group nor a host that was ever seen${hint}`;
  });
  return unknown.length > MOST_MEMBERS
    ? [...notes, `${unknown.length - MOST_MEMBERS} more members are unknown`]
    : notes;
}

/** The effect of group changes on hosts that enter or leave a drained group. */
interface DrainImpact {
  judge(claim: Claim, ticket: Ticket): ImpactVerdict | undefined;
  notes: readonly string[];
}

/** Maximum number of hosts listed by name. */
const MOST_DRAINED = 3;

/** Computes the effect of group changes. @param wall  expired drains have no effect */
function computeDrainImpact(snapshot: Snapshot, before: Groups, after: Groups, wall: WallTime): DrainImpact {
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
    notes: shifts.flatMap(({ drain: { name, by }, entered, left, isGone }) =>
      collectTexts([
        isGone && "without the group, the drain stops nothing",
        entered.length > 0 && `nothing starts any more on ${formatShortList(entered, MOST_DRAINED)}`,
        left.length > 0 && !isGone && `it no longer applies to ${formatShortList(left, MOST_DRAINED)}`,
      ]).map((effect) => `group ${quoteText(name)} is drained by ${by}; ${effect}`),
    ),
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
type ImpactVerdict = Omit<AffectedRun, "claim">;

/** Worst first. */
export const RUN_FATES: readonly AffectedRun["fate"][] = ["ended", "leaves", "perhaps"];
