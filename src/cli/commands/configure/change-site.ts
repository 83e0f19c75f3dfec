import { isDeepStrictEqual } from "node:util";
import type { WallTime } from "../../../core/base/clock.ts";
import { clean, quoteText } from "../../../core/base/text.ts";
import { evaluateUnits } from "../../../core/fleet/arithmetic.ts";
import { applyConfigChanges, formatConfigChange, type SiteKind } from "../../../core/fleet/configuration.ts";
import { createMacros } from "../../../core/fleet/macros.ts";
import type { TotalCheck } from "../../../core/fleet/resources.ts";
import { formatCalendarChange } from "../../../site/operate/calendar-changes.ts";
import { formatOperator, readAuditSince, type SiteAction } from "../../../site/operate/operator-action.ts";
import {
  applySite,
  formatOwnedCounts,
  formatSiteCounts,
  isEmptyPlan,
  listDeletedOfOthers,
  listEffects,
  listKeptOfOthers,
  planSite,
  type SiteChanges,
  type SitePlan,
  type SiteTerms,
} from "../../../site/operate/site.ts";
import {
  countSchedules,
  createMissingSchedule,
  readAllStoredSchedules,
  type ScheduleReadResult,
} from "../../../site/operate/stored-schedules.ts";
import { buildConfiguration, buildHostMacros } from "../../../site/state/configuration.ts";
import { type ConfigImpact, computeConfigImpact } from "../../../site/state/impact.ts";
import type { Collection, Snapshot } from "../../../site/state/snapshot.ts";
import { SnapshotBuilder } from "../../../site/state/snapshot-builder.ts";
import { type ActionEnd, performAction } from "../../frame/action.ts";
import type { ActionOutcome, SiteResult } from "../../frame/outcome.ts";
import {
  QUEUE_COLLECTIONS,
  readAtRevision,
  readSnapshot,
  readSnapshotRanges,
} from "../../frame/read-snapshot.ts";
import type { ActionContext, CommandContext } from "../../frame/store-command.ts";
import { formatAffectedCount, formatAffectedRuns, formatConfigChanges } from "../../views/impact.ts";
import { listChangeNotes } from "../schedule/amend-schedules.ts";
import {
  formatPlannedChange,
  formatScheduleChange,
  toScheduleChange,
} from "../schedule/describe-schedule.ts";

export type SiteKinds = ReadonlySet<SiteKind>;

export const CONFIG_COLLECTIONS: readonly Collection[] = ["groups", "resourceConfigs"];

/** The collections that decide which runs a change of the configuration affects. */
const IMPACT_COLLECTIONS: readonly Collection[] = [...QUEUE_COLLECTIONS, "hosts"];

/**
 * Creates a check that a total can be evaluated on this host, or on any known host, since other hosts have their own
 * macros. A total that is unchanged in etcd is not checked.
 */
export function createTotalCheck({ facts }: Pick<CommandContext, "facts">, snapshot: Snapshot): TotalCheck {
  return (resource, total) => {
    if (snapshot.resources.get(resource)?.value?.total === total.trim()) return undefined;
    const here = evaluateUnits(total, createMacros(facts).lookup);
    if (!("fault" in here)) return undefined;
    const isFineSomewhere = [...snapshot.hosts].some(
      ([fqdn, record]) => !("fault" in evaluateUnits(total, buildHostMacros(fqdn, record).lookup)),
    );
    return isFineSomewhere ? undefined : here.fault;
  };
}

/** What was read of a site. Kinds that were not read are empty. */
export interface SiteRead {
  kinds: SiteKinds;
  /** Contains the runs that a change of the configuration affects. */
  snapshot: Snapshot;
  schedules: ScheduleReadResult;
  revision: bigint;
}

/**
 * Reads what a site has of some kinds: no more, because a role may have access to schedules but not to groups.
 * @param at  the revision; undefined for the current one
 */
export async function readSite(context: CommandContext, kinds: SiteKinds, at?: bigint): Promise<SiteRead> {
  const hasConfig = kinds.has("groups") || kinds.has("resources");
  const hasSchedules = kinds.has("calendars") || kinds.has("schedules");
  const read = (collections: Parameters<typeof readSnapshot>[1]) =>
    at === undefined ? readSnapshot(context, collections) : readSnapshotRanges(context, collections, [], at);
  const snapshot = hasConfig
    ? await read(IMPACT_COLLECTIONS)
    : new SnapshotBuilder(context.keys, []).getSnapshot();
  const schedules: ScheduleReadResult = hasSchedules
    ? await readAllStoredSchedules(context, context.signal, at)
    : { revision: snapshot.revision, schedules: new Map(), calendars: new Map() };
  const revision = hasConfig ? snapshot.revision : schedules.revision;
  return { kinds, snapshot, schedules, revision };
}

/** What a command does with a document. */
interface SiteDraft {
  action: SiteAction;
  /** As in the audit: `site`, `group web`. */
  target: string;
  document: SiteChanges;
  kinds: SiteKinds;
  /** `isSingle`: the command asks only if something is deleted, or a run or another schedule is affected. */
  terms: SiteTerms;
  /** The message if there is nothing to change. */
  nothing: string;
  /** Further notes for the operator, one sentence each. */
  notes?: readonly string[];
  /** The site as the user has opened it in an editor. */
  opened?: SiteRead;
}

/** A draft as it applies to a site, and what it affects. */
interface PreparedSite {
  context: ActionContext;
  draft: SiteDraft;
  read: SiteRead;
  plan: SitePlan;
  impact: ConfigImpact;
  /** How many runs are affected, in words; empty if none is. */
  hits: string;
}

/** Previews what a document changes, asks for confirmation and applies it. @param read  the site; default: it is read */
export async function changeSite(
  context: ActionContext,
  draft: SiteDraft,
  read?: SiteRead,
): Promise<ActionOutcome<SiteResult>> {
  const current = prepareSite(context, draft, read ?? (await readSite(context, draft.kinds)));
  return await performAction<SiteResult>(context, {
    planned: toSiteResult(current),
    compare: async () => {
      const seen = await prepareSeen(current);
      const isSame =
        seen === undefined || isDeepStrictEqual(listEffects(seen.plan), listEffects(current.plan));
      return isSame ? undefined : await refuseChange({ ...seen, since: seen.read.revision }, current);
    },
    listNotes: () => listNotes(current),
    nothing: isEmptyPlan(current.plan) ? [draft.nothing] : undefined,
    describe: (wall) => listLines(current, wall),
    sum: draft.terms.isSingle ? undefined : formatSiteCounts(current.plan),
    question: needsConfirmation(current) ? formatQuestion(current) : undefined,
    repeat: draft.opened && "--yes",
    write: (isAsked) => applyPlan(current, isAsked),
  });
}

function needsConfirmation({ draft, plan: { config, calendars, schedules }, impact }: PreparedSite): boolean {
  if (!draft.terms.isSingle) return true;
  const isDeletion = [...config, ...calendars].some(({ after }) => after === undefined);
  return isDeletion || impact.affected.length + schedules.length > 0;
}

function formatQuestion({ draft: { target, terms }, plan, hits }: PreparedSite): string {
  const what = terms.isSingle ? clean(target) : formatSiteCounts(plan);
  return `Change ${what}${hits === "" ? "" : `, which ${hits}`}?`;
}

function prepareSite(context: ActionContext, draft: SiteDraft, read: SiteRead): PreparedSite {
  const now = context.clock.getWallTime();
  const { groups, resources } = read.snapshot;
  const site = { ...read.schedules, groups, resources, revision: read.revision };
  const plan = planSite(site, draft.document, draft.terms, now);
  const impact = computeConfigImpact(read.snapshot, plan.config, now);
  return { context, draft, read, plan, impact, hits: formatAffectedCount(impact.affected) };
}

/** Plans for the site as the user has seen it before: in an editor, or in a dry run. */
async function prepareSeen({ context, draft, read }: PreparedSite): Promise<PreparedSite | undefined> {
  const { opened, kinds } = draft;
  if (opened !== undefined) return prepareSite(context, draft, opened);
  const revision = context.flags["expect-revision"];
  if (revision === undefined) return undefined;
  const then = await readAtRevision(revision, read.revision, () => readSite(context, kinds, revision));
  return prepareSite(context, draft, then);
}

/** @param isAsked  whether the user was asked, and so has seen the changes */
async function applyPlan(shown: PreparedSite, isAsked: boolean): Promise<ActionEnd<SiteResult>> {
  const { context, draft } = shown;
  let fresh = shown;
  let left: { plan: SitePlan; since: bigint } = { plan: shown.plan, since: shown.read.revision };
  try {
    const end = await applySite(context, {
      action: draft.action,
      target: draft.target,
      reason: context.flags.reason,
      shown: shown.plan,
      formatOutcome: (part) => formatAuditOutcome({ ...shown, plan: part }),
      signal: context.signal,
      replan: async () => {
        const read = await readSite({ ...context, knownSnapshot: undefined }, draft.kinds);
        fresh = prepareSite(context, draft, read);
        return fresh.plan;
      },
      onPart: (rest, since) => {
        left = { plan: rest, since };
        context.printMessage(`a part is applied; left: ${formatSiteCounts(rest)}`);
      },
    });
    if (end.kind === "changed") return await refuseChange({ ...shown, ...left }, fresh);
    const { revision } = end;
    const told =
      draft.terms.isSingle && !isAsked ? listChanges(shown) : [`done: ${formatSiteCounts(shown.plan)}`];
    const messages = shown.hits === "" ? told : [...told, `this ${shown.hits}`];
    return { outcome: "done", messages, result: { revision } };
  } catch (error) {
    if (left.plan !== shown.plan)
      context.printMessage(
        `stopped half-way, not done: ${formatSiteCounts(left.plan)}; run the same command again for the rest`,
      );
    throw error;
  }
}

/** Formats what a transaction does, for its audit record. */
function formatAuditOutcome(part: PreparedSite): string {
  const { draft, plan, hits } = part;
  const { changed } = countSchedules(plan.schedules);
  const moved = changed === 0 ? [] : [`${changed} schedules move`];
  const told = draft.terms.isSingle
    ? [...listChanges({ ...part, plan: { ...plan, schedules: [] } }), ...moved].join("; ")
    : formatSiteCounts(plan);
  const all = [told, ...listDeletedOwners(part)].join("; ");
  return plan.config.length === 0 || hits === "" ? all : `${all}; ${hits}`;
}

/**
 * Refuses to do something else than was shown.
 * @param shown  its plan is what was not done, as it was planned; others have changed the site after `since`
 */
async function refuseChange(
  { context, draft, plan, read, since }: PreparedSite & { since: bigint },
  fresh: PreparedSite,
): Promise<ActionEnd<SiteResult>> {
  const { target, terms } = draft;
  const hasConfig = plan.config.length + fresh.plan.config.length > 0;
  // Groups and resources that must not have changed.
  const isInScope = (kind: string, name: string) => !terms.isSingle || target === `${kind} ${name}`;
  const authors = await readAuditSince(context, since);
  const lines = [
    ...(hasConfig ? formatConfigChanges(read.snapshot, fresh.read.snapshot, isInScope) : []),
    ...listMoved(plan, fresh.plan),
    ...authors.map(
      (one) => `changed by ${formatOperator(one)}: ${one.action}, ${one.target}: ${one.outcome}`,
    ),
  ];
  const nothing = { ...fresh, plan: { ...fresh.plan, config: [], calendars: [], schedules: [] } };
  return {
    outcome: "changed",
    messages: lines,
    result: toSiteResult(nothing),
    ...(since > read.revision && { undone: `these were not done: ${formatSiteCounts(plan)}` }),
  };
}

/** Lists the notes. */
async function listNotes({ context, draft, plan, impact }: PreparedSite): Promise<string[]> {
  const kept = formatOwnedCounts(listKeptOfOthers(plan.stored, draft.document, draft.terms));
  const added = plan.config.flatMap(({ kind, name, after }) => (kind === "group" && after ? [name] : []));
  const found = await listChangeNotes(context, plan.schedules, new Set(added));
  return [
    ...(draft.notes ?? []),
    ...(kept === "" ? [] : [`not deleted, because it has an owner: ${kept}; to delete it too: --prune=all`]),
    ...impact.notes,
    ...found,
  ];
}

function toSiteResult({
  draft,
  plan,
  read: { revision },
  impact: { affected },
}: PreparedSite): Omit<SiteResult, "outcome"> {
  const { action, target, kinds } = draft;
  const { config, calendars } = plan;
  const hasSchedules = kinds.has("calendars") || kinds.has("schedules");
  const schedules = hasSchedules ? plan.schedules.map(toScheduleChange) : undefined;
  return { kind: "site", revision, action, target, config, calendars, schedules, affected };
}

/** Lists what is changed and what that affects, for people. @param wall  as in `formatAffectedRuns` */
function listLines(prepared: PreparedSite, wall: WallTime | undefined): string[] {
  return [
    ...listChanges(prepared),
    ...listDeletedOwners(prepared),
    ...formatAffectedRuns(prepared.impact.affected, wall),
  ];
}

/** Lists one line with the number and the owners of what is deleted and belongs to others. */
function listDeletedOwners({ draft, plan }: PreparedSite): string[] {
  const others = listDeletedOfOthers(plan, draft.terms.owner);
  return others.length === 0 ? [] : [`deletes what has other owners: ${formatOwnedCounts(others)}`];
}

function listChanges({ read, plan }: PreparedSite): string[] {
  const { groups } = applyConfigChanges(buildConfiguration(read.snapshot), plan.config);
  return [
    ...plan.config.map((change) => formatConfigChange(change, groups)),
    ...plan.calendars.map(formatCalendarChange),
    ...plan.schedules.map(formatPlannedChange),
  ];
}

/** Lists how others have changed the calendars and schedules that a plan changes. */
function listMoved(seen: SitePlan, current: SitePlan): string[] {
  const [old, now] = [listEffects(seen), listEffects(current)];
  const moved = [...new Set([...old.keys(), ...now.keys()])].filter(
    (key) => !isDeepStrictEqual(old.get(key), now.get(key)),
  );
  const listNames = (kind: string) =>
    moved.filter((key) => key.startsWith(`${kind} `)).map((key) => key.slice(kind.length + 1));
  return [
    ...listNames("calendar").map((name) => {
      const [before, after] = [seen, current].map(({ stored }) => stored.calendars.get(name));
      return formatCalendarChange({
        name,
        before,
        after: after && ("value" in after ? after.value : { days: [] }),
      });
    }),
    ...listNames("schedule").map((id) => {
      const before = seen.stored.schedules.get(id) ?? createMissingSchedule(id);
      const after = current.stored.schedules.get(id);
      if (after === undefined) return formatScheduleChange({ before, isDeleted: true });
      return formatScheduleChange({ before, ...(after.definition && { definition: after.definition }) });
    }),
  ];
}

/** Changes one group or resource. @param read  with its kind */
export async function changeConfigEntry(
  context: ActionContext,
  read: SiteRead,
  { kind, name, document }: { kind: "group" | "resource"; name: string; document: SiteChanges },
): Promise<ActionOutcome<SiteResult>> {
  const kept = read.snapshot[`${kind}s`].get(name);
  const missing = kind === "group" ? "does not exist" : "is not configured";
  const what = `${kind} ${quoteText(name)}`;
  return await changeSite(
    context,
    {
      action: kind,
      target: `${kind} ${name}`,
      document,
      kinds: read.kinds,
      terms: { prunes: false, isSingle: true },
      nothing: `${what} ${kept === undefined ? missing : "is up to date"}: nothing to change`,
      notes: kept?.fault === undefined ? [] : [`${what} could not be read: ${kept.fault}`],
    },
    read,
  );
}
