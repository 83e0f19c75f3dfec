import { EXIT } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import type { ConfigChange } from "../../fleet/changes.ts";
import { canonicalHost, type Groups, membership } from "../../fleet/groups.ts";
import { holds } from "../../protocol/admission.ts";
import type { Ticket } from "../../protocol/ticket.ts";
import { type Claim, claimsOf, isHolder } from "../claims.ts";
import { membersOf, type Picture, queueIn } from "../picture.ts";
import { drainShifts } from "./drains.ts";
import { FATES, type Hit, type Verdict } from "./hit.ts";
import { configNotes } from "./notes.ts";
import { type TotalThere, totalsOf } from "./totals.ts";

/** What a change of the configuration does to those who are there. */
export interface Impact {
  readonly hits: readonly Hit[];
  /** What else an operator should know, a sentence each. */
  readonly notes: readonly string[];
}

type Judge = (claim: Claim, ticket: Ticket) => Verdict | undefined;

/**
 * Whom changes of the configuration would hit now.
 * @param picture  with locks, resources, configuration, drains and hosts
 * @param wall     wall clock, ms since the epoch
 */
export function impactOf(picture: Picture, changes: readonly ConfigChange[], wall: number): Impact {
  const before = membersOf(picture);
  const after = groupsAfter(before, changes);
  const shifts = drainShifts(picture, before, after, wall);
  const judges = [groupJudge(before, after, changes), totalJudge(picture, changes), shifts.judge];
  const hits = [...claimsOf(picture).values()].flatMap((claim): Hit[] => {
    const ticket = claim.stands.find(({ place }) => place.ticket !== undefined)?.place.ticket;
    if (ticket === undefined) return [];
    const verdicts = judges.flatMap((judge) => judge(claim, ticket) ?? []);
    const [worst] = verdicts.sort((a, b) => FATES.indexOf(a.fate) - FATES.indexOf(b.fate));
    return worst === undefined ? [] : [{ claim, ...worst }];
  });
  const notes = [
    ...configNotes(picture, before, after, changes),
    ...shifts.notes,
    ...overcommitted(picture, changes),
  ];
  return { hits: hits.sort((a, b) => FATES.indexOf(a.fate) - FATES.indexOf(b.fate)), notes };
}

function groupsAfter(before: Groups, changes: readonly ConfigChange[]): Map<string, readonly string[]> {
  const after = new Map(before);
  for (const change of changes) {
    if (change.kind !== "group") continue;
    if (change.after === undefined) after.delete(change.name);
    else after.set(change.name, change.after);
  }
  return after;
}

/** A run with -g GROUP whose host was in it and is not any more. */
function groupJudge(before: Groups, after: Groups, changes: readonly ConfigChange[]): Judge {
  if (!changes.some(({ kind }) => kind === "group")) return () => undefined;
  const [was, is] = [memberships(before), memberships(after)];
  return (claim, { group, host }) => {
    if (group === undefined || !was(group, host) || is(group, host)) return undefined;
    const isThere = after.has(group);
    const why = isThere ? `its host leaves group ${quoted(group)}` : `group ${quoted(group)} is gone`;
    if (isHolder(claim)) return isRunning(claim) ? { fate: "ended", exit: EXIT.lost, why } : undefined;
    return { fate: "leaves", exit: isThere ? EXIT.busy : EXIT.config, why };
  };
}

/** What is in grace alone has no command any more. */
function isRunning({ stands }: Claim): boolean {
  return stands.some(({ place }) => place.ticket?.state === "held");
}

/** Whether a host is in a group; asked for many runs of few hosts. */
function memberships(groups: Groups): (group: string, host: string) => boolean {
  const known = new Map<string, boolean>();
  return (group, host) => {
    const question = `${group}\n${canonicalHost(host)}`;
    const answer =
      known.get(question) ?? (groups.has(group) && membership(groups, group, host) !== undefined);
    known.set(question, answer);
    return answer;
  };
}

/** A run that waits for a resource whose total changes. */
function totalJudge(picture: Picture, changes: readonly ConfigChange[]): Judge {
  const resources = changes.filter((change) => change.kind === "resource");
  if (resources.length === 0) return () => undefined;
  const totals = totalsOf(picture, resources);
  return (claim) => {
    if (isHolder(claim)) return undefined;
    const verdicts = claim.stands.flatMap(({ queue, place: { ticket } }) => {
      if (queue.kind !== "resource" || ticket === undefined) return [];
      const total = totals(queue.name, ticket.host);
      return (total && totalVerdict(queue.name, ticket, total.after)) ?? [];
    });
    return verdicts.find(({ fate }) => fate === "leaves") ?? verdicts[0];
  };
}

function totalVerdict(
  name: string,
  { count, total, isStated }: Ticket,
  after: TotalThere,
): Verdict | undefined {
  const leaves = (why: string): Verdict => ({ fate: "leaves", exit: EXIT.config, why });
  const resource = quoted(name);
  if (after === "unknown")
    return { ...leaves(`what there is of ${resource} on its host is not known here`), fate: "perhaps" };
  if (after === undefined)
    return isStated ? undefined : leaves(`it does not state what there is of ${resource}`);
  if (count > after) return leaves(`it asks for ${count} of ${resource}, of ${after}`);
  return isStated && total !== after ? leaves(`it states a total of ${total} of ${resource}`) : undefined;
}

/** Resources of which more is held than there will be. */
function overcommitted(picture: Picture, changes: readonly ConfigChange[]): string[] {
  return changes.flatMap((change) => {
    if (change.kind !== "resource" || !/^\d{1,15}$/.test(change.after?.total ?? "")) return [];
    const total = Number(change.after?.total);
    const places = queueIn(picture, "resource", change.name)?.places.filter(holds) ?? [];
    const held = places.reduce((sum, { ticket }) => sum + (ticket?.count ?? 0), 0);
    if (held <= total) return [];
    return `${held} units of ${quoted(change.name)} are held, of ${total}: nothing is granted until enough are back`;
  });
}
