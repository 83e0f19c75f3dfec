import { isDeepStrictEqual } from "node:util";
import type { WallTime } from "../../core/base/clock.ts";
import { ConfigError, EXIT, SignalboxError } from "../../core/base/errors.ts";
import { pluralize, quoteText } from "../../core/base/text.ts";
import {
  type ConfigChange,
  compareByCodeUnit,
  formatChangeCount,
  type GroupChange,
  hasSameMembers,
  isSameResource,
  normalizeMembers,
  normalizeResource,
  type ResourceChange,
} from "../../core/fleet/configuration.ts";
import { serializeGroup } from "../../core/fleet/groups.ts";
import { type ResourceConfig, serializeResourceConfig } from "../../core/fleet/resources.ts";
import { guardNotNewer, guardRevision } from "../../core/protocol/guards.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import type { Compare, Op } from "../../core/protocol/txn.ts";
import { type Calendar, type Calendars, formatCalendar } from "../../schedule/calendar/calendar.ts";
import { findCalendarFault, listCalendarNames } from "../../schedule/calendar/day-rule.ts";
import { type Definition, runsOnEveryHost } from "../../schedule/definition.ts";
import {
  computeFirstDue,
  computeRecalculatedDue,
  computeResumedDue,
  type FirstOccurrenceOptions,
} from "../../schedule/state/due-transitions.ts";
import { type CalendarChange, createUsedError, listUsers } from "./calendar-changes.ts";
import {
  computeBytes,
  executeAction,
  MAX_BYTES,
  MAX_CHANGES,
  MAX_DIRECT_OPS,
  type OperatorPorts,
  type SiteAction,
  splitIntoChunks,
} from "./operator-action.ts";
import {
  buildGuards,
  buildOps,
  hasChainChange,
  isSplitOrJoined,
  linkChains,
  listCalendarFields,
  listWrittenStateGuards,
} from "./schedule-mutation.ts";
import { buildDefinitionChange, getStateName } from "./schedule-mutations.ts";
import {
  countSchedules,
  createMissingSchedule,
  guardCalendars,
  type PlannedChange,
  type ScheduleReadResult,
  type StoredCalendar,
  type StoredSchedule,
} from "./stored-schedules.ts";

export interface DocumentedGroup {
  members: readonly string[];
  source?: string;
}

/**
 * `isWhole`: the entry has the whole configuration of the resource. Otherwise, as in switchman's list of names, it only
 * has the order.
 */
export interface DocumentedResource {
  isWhole: boolean;
  config: ResourceConfig;
}

/**
 * What a site is to have, by name. A kind that is undefined stays as it is.
 * @typeParam Gone  undefined if it can have names that are to be deleted
 */
export interface SiteDocument<Gone = never> {
  groups?: ReadonlyMap<string, DocumentedGroup | Gone>;
  resources?: ReadonlyMap<string, DocumentedResource | Gone>;
  calendars?: ReadonlyMap<string, Calendar | Gone>;
  schedules?: ReadonlyMap<string, Definition | Gone>;
}

/** What is to change. */
export type SiteChanges = SiteDocument<undefined>;

/** A stored group or resource; it has no value if it cannot be read. */
interface StoredConfig<T> {
  readonly modRevision: bigint;
  readonly value?: T | undefined;
  readonly source?: string;
}

/** What a site has. The revision is that of the oldest read. */
interface StoredSite extends ScheduleReadResult {
  readonly groups: ReadonlyMap<string, StoredConfig<readonly string[]>>;
  readonly resources: ReadonlyMap<string, StoredConfig<ResourceConfig>>;
}

/** State of a schedule in the source of an import: its next occurrence and when it may be claimed. */
export interface SchedulePosition {
  next: number;
  runAt: WallTime;
}

/** When schedules run first, by id. */
export interface FirstRuns {
  /** State of the schedules, if the source has it. A schedule that is as far or further here is not moved. */
  positions?: ReadonlyMap<string, SchedulePosition>;
  /** Options for the first occurrences of the schedules that do not exist yet. */
  firsts?: ReadonlyMap<string, FirstOccurrenceOptions>;
}

/** What a document may change. */
export interface SiteTerms extends FirstRuns {
  /** The source that owns everything in the document; undefined if the document may change everything. */
  owner?: string | undefined;
  /** What to do about something that belongs to another source, for the message. */
  remedy?: string;
  /** Takes over what exists and belongs to no source, or to another one. */
  adopts?: boolean;
  /**
   * Deletes what is not in the document: what belongs to the owner, or, without one, to nobody. `all`: also what belongs to
   * others.
   */
  prunes: boolean | "all";
  /** The document was made from the stored site: what it does not state is removed, what cannot be read stays. */
  isEdit?: boolean;
  /** Only what the document names matters, and not the rest of the configuration. */
  isSingle?: boolean;
}

/** What a document changes. */
export interface SitePlan {
  readonly stored: StoredSite;
  readonly config: readonly ConfigChange[];
  readonly calendars: readonly CalendarChange[];
  readonly schedules: readonly PlannedChange[];
  readonly isSingle?: boolean | undefined;
}

/**
 * Computes what a document changes.
 * @throws ConfigError if something belongs to another source, if a schedule names a calendar that does not exist, or for
 *   faults of chains; UsageError if something that is used would be deleted
 */
export function planSite(
  stored: StoredSite,
  document: SiteChanges,
  terms: SiteTerms,
  now: WallTime,
): SitePlan {
  checkOwners(stored, document, terms);
  const calendars = planCalendars(stored, document, terms);
  return {
    stored,
    config: [...planGroups(stored, document, terms), ...planResources(stored, document, terms)],
    calendars,
    schedules: planSchedules(stored, document, terms, calendars, now),
    isSingle: terms.isSingle,
  };
}

/** Returns whether a plan changes nothing. */
export function isEmptyPlan({ config, calendars, schedules }: SitePlan): boolean {
  return config.length + calendars.length + schedules.length === 0;
}

/** Formats the number of changes: `1 group set, 2 schedules added, 1 schedule changed`. */
export function formatSiteCounts({ config, calendars, schedules }: SitePlan): string {
  const gone = calendars.filter(({ after }) => after === undefined).length;
  const counts = [
    [calendars.length - gone, "calendar", "set"],
    [gone, "calendar", "deleted"],
    ...Object.entries(countSchedules(schedules)).map(([verb, count]) => [count, "schedule", verb] as const),
  ] as const;
  const told = counts.filter(([count]) => count > 0);
  return [
    ...(config.length === 0 ? [] : [formatChangeCount(config)]),
    ...told.map(([count, noun, verb]) => `${pluralize(count, noun)} ${verb}`),
  ].join(", ");
}

/** Something of one kind: its name, what is stored, and what the document has. */
type Target<S, W> = readonly [name: string, stored: S | undefined, wanted: W | undefined];

/** Lists what a document has of one kind, and what it deletes. */
function listTargets<S, W>(
  stored: ReadonlyMap<string, S>,
  wanted: ReadonlyMap<string, W | undefined> | undefined,
  canDelete: (stored: S) => boolean,
): Target<S, W>[] {
  if (wanted === undefined) return [];
  const gone = [...stored].filter(([name, one]) => !wanted.has(name) && canDelete(one));
  return [...wanted.keys(), ...gone.map(([name]) => name)]
    .sort(compareByCodeUnit)
    .map((name): Target<S, W> => [name, stored.get(name), wanted.get(name)])
    .filter(([, kept, one]) => kept !== undefined || one !== undefined);
}

/** Returns whether something that the document does not have is deleted. The owner of what cannot be read is not known. */
function canPrune({ prunes, owner, isEdit }: SiteTerms, source: string | undefined, isReadable: boolean) {
  return prunes === "all" ? isReadable || isEdit !== true : prunes && isReadable && source === owner;
}

/** Adds the source that owns something afterwards: the owner, else the one in the document, else the one that is stored. */
function addSource<T extends { source?: string }>(
  wanted: T,
  stored: string | undefined,
  terms: SiteTerms,
): T {
  const source = terms.owner ?? wanted.source ?? (terms.isEdit ? undefined : stored);
  return source === undefined ? wanted : { ...wanted, source };
}

function planGroups(stored: StoredSite, { groups }: SiteChanges, terms: SiteTerms): GroupChange[] {
  const targets = listTargets(stored.groups, groups, (one) =>
    canPrune(terms, one.source, one.value !== undefined),
  );
  return targets.flatMap(([name, kept, wanted]): GroupChange[] => {
    const before = kept && normalizeMembers(kept.value ?? []);
    if (wanted === undefined) return [{ kind: "group", name, before, after: undefined }];
    const { members, source } = addSource(wanted, kept?.source, terms);
    const after = normalizeMembers(members);
    const isSame = kept?.value !== undefined && hasSameMembers(before, after) && kept.source === source;
    return isSame ? [] : [{ kind: "group", name, before, after, ...(source !== kept?.source && { source }) }];
  });
}

function planResources(stored: StoredSite, { resources }: SiteChanges, terms: SiteTerms): ResourceChange[] {
  const targets = listTargets(stored.resources, resources, ({ value }) =>
    canPrune(terms, value?.source, value !== undefined),
  );
  return targets.flatMap(([name, kept, wanted]): ResourceChange[] => {
    const before = kept && normalizeResource(kept.value ?? {});
    if (wanted === undefined) return [{ kind: "resource", name, before, after: undefined }];
    const config = { ...(wanted.isWhole ? {} : before), ...wanted.config };
    const after = normalizeResource(addSource(config, kept?.value?.source, terms));
    const isSame = kept?.value !== undefined && isSameResource(before, after);
    return isSame ? [] : [{ kind: "resource", name, before, after }];
  });
}

function planCalendars(stored: StoredSite, { calendars }: SiteChanges, terms: SiteTerms): CalendarChange[] {
  const targets = listTargets(stored.calendars, calendars, (one) =>
    canPrune(terms, "value" in one ? one.value.source : undefined, "value" in one),
  );
  return targets.flatMap(([name, before, wanted]): CalendarChange[] => {
    const kept = before !== undefined && "value" in before ? before.value : undefined;
    const after = wanted && addSource(wanted, kept?.source, terms);
    return after !== undefined && isDeepStrictEqual(after, kept) ? [] : [{ name, before, after }];
  });
}

function planSchedules(
  stored: StoredSite,
  { schedules }: SiteChanges,
  terms: SiteTerms,
  calendarChanges: readonly CalendarChange[],
  now: WallTime,
): PlannedChange[] {
  const calendars = applyCalendarChanges(stored.calendars, calendarChanges);
  const targets = listTargets(stored.schedules, schedules, ({ definition }) =>
    canPrune(terms, definition?.source, definition !== undefined),
  );
  const changes = targets.flatMap(([id, before, wanted]): readonly PlannedChange[] => {
    if (wanted === undefined) return before === undefined ? [] : [{ before, isDeleted: true }];
    if (before === undefined) {
      const definition = addSource(wanted, undefined, terms);
      const position = terms.positions?.get(id);
      const due = position
        ? { ...position, open: [] }
        : computeFirstDue(id, definition, now, terms.firsts?.get(id), calendars);
      return [{ before: createMissingSchedule(id), definition, due }];
    }
    const pause = wanted.pause ?? (terms.isEdit ? undefined : before.definition?.pause);
    const definition = addSource(wanted, before.definition?.source, terms);
    const after = pause === undefined ? definition : { ...definition, pause };
    const changes = resumeEdited(before, after, now, calendars);
    return advanceTo(terms.positions?.get(id), before, changes);
  });
  const moved = moveSchedules(stored, changes, calendarChanges, calendars, now);
  return hasChainChange(moved) ? linkChains(moved, { ...stored, calendars }, now) : moved;
}

/** Replaces a definition. If that ends a pause, the occurrences that it prevented do not run. */
function resumeEdited(
  before: StoredSchedule,
  after: Definition,
  now: WallTime,
  calendars: Calendars,
): readonly PlannedChange[] {
  const { definition, due, hosts = [] } = before;
  if (due === undefined || definition?.pause === undefined || after.pause !== undefined)
    return buildDefinitionChange(before, after, now, {}, calendars);
  const resume = (part: StoredSchedule): StoredSchedule => {
    if (part.due === undefined) return part;
    return { ...part, due: computeResumedDue(getStateName(part), definition, part.due, now, calendars) };
  };
  const [own, onHosts] = [resume(before), hosts.map(resume)];
  const resumed = { ...own, ...(hosts.length > 0 && { hosts: onHosts }) };
  const changes = buildDefinitionChange(resumed, after, now, {}, calendars);
  const toChange = (part: StoredSchedule, state: StoredSchedule): PlannedChange => {
    const change = changes.find((one) => one.before.host === part.host);
    const changed = change?.due ?? state.due;
    return { ...change, before: part, ...(changed !== undefined && { due: changed }) };
  };
  if (isSplitOrJoined(before, after)) return [toChange(before, own)];
  return [toChange(before, own), ...hosts.map((part, index) => toChange(part, onHosts[index] ?? part))];
}

/**
 * Moves a schedule that has advanced at its source since the last import: runs made there are not repeated. A schedule
 * that has ended here, or is further here, is not moved.
 */
function advanceTo(
  position: SchedulePosition | undefined,
  before: StoredSchedule,
  changes: readonly PlannedChange[],
): readonly PlannedChange[] {
  const { due } = before;
  if (position === undefined) return changes;
  if (due !== undefined && (due.next === undefined || due.next >= position.next)) return changes;
  return [{ before, ...changes[0], due: { open: [], ...due, ...position } }];
}

function applyCalendarChanges(
  stored: ReadonlyMap<string, StoredCalendar>,
  changes: readonly CalendarChange[],
): Map<string, StoredCalendar> {
  const calendars = new Map(stored);
  for (const { name, before, after } of changes)
    if (after === undefined) calendars.delete(name);
    else calendars.set(name, { value: after, mod: before?.mod ?? 0n });
  return calendars;
}

/**
 * Adds the new next occurrences of the schedules that use changed calendars.
 * @param calendars  after the change
 * @throws UsageError for a deleted calendar in use
 */
function moveSchedules(
  stored: StoredSite,
  changes: readonly PlannedChange[],
  calendarChanges: readonly CalendarChange[],
  calendars: Calendars,
  now: WallTime,
): PlannedChange[] {
  const byPart = new Map(changes.map((change) => [getStateName(change.before), change]));
  const after = new Map(stored.schedules);
  for (const { before, definition, isDeleted } of changes)
    if (isDeleted) after.delete(before.id);
    else if (definition !== undefined) after.set(before.id, { ...before, definition });
  const changed = new Set(calendarChanges.map(({ name }) => name));
  for (const { name, after: days } of calendarChanges) {
    const users = days === undefined ? listUsers({ ...stored, schedules: after }, name) : [];
    if (users.length > 0) throw createUsedError(name, users);
  }
  for (const [id, { definition }] of after) {
    const before = stored.schedules.get(id);
    if (before === undefined || definition === undefined) continue;
    if (!listCalendarNames(definition).some((name) => changed.has(name))) continue;
    if (findCalendarFault(definition, calendars) !== undefined) continue; // it does not fire
    const swap = { before: stored.calendars, after: calendars };
    for (const part of [before, ...(runsOnEveryHost(definition) ? (before.hosts ?? []) : [])]) {
      const change = byPart.get(getStateName(part)) ?? { before: part };
      const due = change.due ?? part.due;
      const next = due && computeRecalculatedDue(getStateName(part), definition, due, now, swap);
      if (next !== undefined && next !== due) byPart.set(getStateName(part), { ...change, due: next });
    }
  }
  return [...byPart.values()];
}

/** Something that a site has, and the source that owns it; undefined: nobody, or it cannot be read. */
interface OwnedThing {
  kind: keyof SiteDocument;
  name: string;
  source: string | undefined;
}

function listOwned({ groups, resources, calendars, schedules }: StoredSite): OwnedThing[] {
  const list = <S>(
    kind: OwnedThing["kind"],
    stored: ReadonlyMap<string, S>,
    getSource: (one: S) => string | undefined,
  ) => Array.from(stored, ([name, one]) => ({ kind, name, source: getSource(one) }));
  return [
    ...list("groups", groups, ({ source }) => source),
    ...list("resources", resources, ({ value }) => value?.source),
    ...list("calendars", calendars, (one) => ("value" in one ? one.value.source : undefined)),
    ...list("schedules", schedules, ({ definition }) => definition?.source),
  ];
}

/** Lists what a plan deletes and somebody else than `owner` owns. */
export function listDeletedOfOthers(
  { stored, config, calendars, schedules }: SitePlan,
  owner?: string,
): OwnedThing[] {
  const gone = new Set([
    ...config.flatMap(({ kind, name, after }) => (after === undefined ? [`${kind}s ${name}`] : [])),
    ...calendars.flatMap(({ name, after }) => (after === undefined ? [`calendars ${name}`] : [])),
    ...schedules.flatMap(({ before, isDeleted }) => (isDeleted ? [`schedules ${before.id}`] : [])),
  ]);
  return listOwned(stored).filter(
    ({ kind, name, source }) => source !== undefined && source !== owner && gone.has(`${kind} ${name}`),
  );
}

/** Lists what a prune without an owner does not delete, because somebody owns it. */
export function listKeptOfOthers(
  stored: StoredSite,
  document: SiteChanges,
  { owner, prunes }: SiteTerms,
): OwnedThing[] {
  if (prunes !== true || owner !== undefined) return [];
  return listOwned(stored).filter(
    ({ kind, name, source }) => source !== undefined && document[kind]?.has(name) === false,
  );
}

/** Counts things by owner and kind: `201 schedules of site:a, 1 group of site:b`. */
export function formatOwnedCounts(things: readonly OwnedThing[]): string {
  const byOwner = Map.groupBy(things, ({ kind, source }) => `${kind} ${source}`);
  return [...byOwner.values()]
    .flatMap((same) =>
      same.slice(0, 1).map(({ kind, source }) => `${pluralize(same.length, kind.slice(0, -1))} of ${source}`),
    )
    .join(", ");
}

/** Largest number of names in an error. */
const MAX_NAMED_CHANGES = 10;

/** @throws ConfigError that names what belongs to another source */
function checkOwners(
  stored: StoredSite,
  document: SiteChanges,
  { owner, adopts, remedy = "Rename it in the file, or take it over with --adopt" }: SiteTerms,
): void {
  if (owner === undefined || adopts === true) return;
  const others = listOwned(stored)
    .filter(({ kind, name, source }) => source !== owner && document[kind]?.has(name))
    .map(({ kind, name, source }) => {
      const whose = source === undefined ? "and was not imported" : `imported from ${quoteText(source)}`;
      return `${kind.slice(0, -1)} ${quoteText(name)} exists already, ${whose}`;
    });
  if (others.length === 0) return;
  const more = others.length > MAX_NAMED_CHANGES ? ` and ${others.length - MAX_NAMED_CHANGES} more` : "";
  throw new ConfigError(
    `${others.slice(0, MAX_NAMED_CHANGES).join("; ")}${more}; nothing was changed. ${remedy}`,
  );
}

/** A plan, its name in the audit, and how it is made again. */
export interface SiteUpdate {
  action: SiteAction;
  target: string;
  reason: string | undefined;
  /** Revision that the operator has read, if it is not that of `shown`. */
  seen?: bigint | undefined;
  /** What the operator was shown. */
  shown: SitePlan;
  /** Reads the site and plans again. */
  replan(): Promise<SitePlan>;
  /** Formats what a transaction does, for its audit record. */
  formatOutcome(part: SitePlan): string;
  signal?: AbortSignal;
  /** Called after each transaction. @param left  what is still to do */
  onPart?(left: SitePlan, revision: bigint): void;
}

/**
 * `changed`: the site has changed so that something else would be done than was shown. Parts that `onPart` has reported
 * are applied.
 */
type SiteUpdateResult = { kind: "done"; revision: bigint } | { kind: "changed" };

/** Maximum number of attempts in a row while others write the same keys. */
const MAX_WRITE_TRIES = 20;
/** Changes of schedules in a transaction when others write all the time: each key can be compared by itself. */
const MIN_CHANGES_PER_TRANSACTION = 20;

/**
 * Applies a plan in as few transactions as etcd accepts, each with guards and an audit record. If others write meanwhile,
 * the rest is planned again, and applied only if it is what was shown. When others write so often that large
 * transactions fail, smaller ones follow.
 * @throws SignalboxError 75 if others write all the time; 77; 78 if configuration and chains are too much for one
 *   transaction; StoreError
 */
export async function applySite(ports: OperatorPorts, update: SiteUpdate): Promise<SiteUpdateResult> {
  let left = update.shown;
  let { revision } = left.stored;
  let most = MAX_CHANGES;
  for (let tries = MAX_WRITE_TRIES; tries > 0; tries -= 1) {
    update.signal?.throwIfAborted();
    const [part, rest] = splitPlan(ports.keys, left, most);
    const result = await writePart(ports, update, part, revision);
    ({ revision } = result);
    if (result.kind === "done") {
      if (isEmptyPlan(rest)) return { kind: "done", revision };
      left = rest;
      tries = MAX_WRITE_TRIES + 1;
      update.onPart?.(left, revision);
      continue;
    }
    const fresh = await update.replan();
    if (!isDeepStrictEqual(listEffects(fresh), listEffects(left))) return { kind: "changed" };
    left = fresh;
    ({ revision } = fresh.stored);
    if (tries < MAX_WRITE_TRIES) most = Math.max(MIN_CHANGES_PER_TRANSACTION, Math.floor(most / 4));
  }
  throw new SignalboxError(
    EXIT.changed,
    `other clients write the same keys all the time; not done: ${formatSiteCounts(left)}; try again`,
  );
}

/**
 * Lists what the operator decides on, as values that differ if the decision would: each thing that changes, as it was
 * read and as it will be, and the whole configuration, on which it depends which runs are affected. When schedules run
 * next is not part of it: workers move that all the time.
 */
export function listEffects({
  stored,
  config,
  calendars,
  schedules,
  isSingle,
}: SitePlan): Map<string, unknown> {
  return new Map<string, unknown>([
    ...config.map(({ kind, name, ...change }) => {
      const { modRevision } = stored[`${kind}s`].get(name) ?? {};
      return [`${kind} ${name}`, { ...change, modRevision }] as const;
    }),
    ...calendars.map(({ name, before, after }) => [`calendar ${name}`, [before?.mod, after]] as const),
    ...schedules
      .filter(hasDefinition)
      .map(
        ({ before, definition }) => [`schedule ${before.id}`, [before.definitionMod, definition]] as const,
      ),
    ...(config.length === 0 || isSingle ? [] : [["configuration", listConfigRevisions(stored)] as const]),
  ]);
}

function listConfigRevisions({ groups, resources }: StoredSite): (readonly [string, bigint])[] {
  return [...groups, ...resources].map(([name, { modRevision }]) => [name, modRevision]);
}

/** Returns whether a change is that of a definition, and not only of a state. */
function hasDefinition({ definition, isDeleted }: PlannedChange): boolean {
  return definition !== undefined || isDeleted === true;
}

/** Largest number of states that move in the transaction that changes their calendar. */
const MOST_MOVED = 1_000;

/**
 * Splits a plan into what the next transaction does, and the rest. What depends on each other stays together:
 * configuration, calendars with the schedules that they move, chains, and the states of a schedule on its hosts. If calendars
 * move too many schedules, these move first: the calendars are still to change when that is planned again. Calendars are
 * deleted last.
 * @param most  changes of schedules in the transaction
 */
function splitPlan(keys: Keys, plan: SitePlan, most: number): [part: SitePlan, rest: SitePlan] {
  const defined = new Set(plan.schedules.filter(hasDefinition).map(({ before }) => before.id));
  const isTied = (change: PlannedChange) => !defined.has(change.before.id);
  const chains = hasChainChange(plan.schedules);
  const moved = chains ? [] : plan.schedules.filter(isTied);
  const mostMoved = Math.min(most, MOST_MOVED);
  if (moved.length > mostMoved) {
    const some = new Set(moved.slice(0, mostMoved));
    const rest = plan.schedules.filter((change) => !some.has(change));
    return [
      { ...plan, config: [], calendars: [], schedules: [...some] },
      { ...plan, schedules: rest },
    ];
  }
  const isFree = (change: PlannedChange) =>
    !isTied(change) && !(chains && (hasChainChange([change]) || change.due?.successors !== undefined));
  const set = plan.calendars.filter(({ after }) => after !== undefined);
  const tied = plan.schedules.filter((change) => !isFree(change));
  const first = { ...plan, calendars: set, schedules: tied };
  const room = { bytes: MAX_BYTES, changes: MAX_CHANGES - plan.calendars.length };
  const take = (ops: readonly Op[]) => {
    room.changes -= ops.length;
    room.bytes -= ops.reduce((sum, op) => sum + computeBytes(op), 0);
    return room.changes >= 0 && room.bytes >= 0;
  };
  take(buildPlanOps(keys, first));
  // The changes of one schedule stay together: of its definition, and of its states on hosts.
  const free = [...Map.groupBy(plan.schedules.filter(isFree), ({ before }) => before.id).values()];
  let changes = tied.length;
  const end = free.findIndex((parts) => {
    changes += parts.length;
    return changes > most || !take(parts.flatMap((change) => buildOps(keys, change)));
  });
  const count = end < 0 ? free.length : Math.max(end, isEmptyPlan(first) ? 1 : 0);
  const isLast = count === free.length;
  const gone = plan.calendars.filter(({ after }) => after === undefined);
  const part = {
    ...first,
    calendars: isLast ? plan.calendars : set,
    schedules: [...tied, ...free.slice(0, count).flat()],
  };
  return [part, { ...plan, config: [], calendars: isLast ? [] : gone, schedules: free.slice(count).flat() }];
}

function buildPlanOps(keys: Keys, { stored, config, calendars, schedules }: SitePlan): Op[] {
  return [
    ...config.map((change): Op => {
      const key = buildConfigKey(keys, change);
      return change.after === undefined
        ? { op: "delete", key }
        : { op: "put", key, value: serialize(change, stored) };
    }),
    ...calendars.map(({ name, after }): Op => {
      const key = keys.calendar(name);
      return after === undefined ? { op: "delete", key } : { op: "put", key, value: formatCalendar(after) };
    }),
    ...schedules.flatMap((change) => buildOps(keys, change)),
  ];
}

/** Serializes a group or a resource. The source of a group stays unless the change has another one. */
function serialize(change: ConfigChange, { groups }: StoredSite): string {
  if (change.kind === "resource") return serializeResourceConfig(change.after ?? {});
  const source = "source" in change ? change.source : groups.get(change.name)?.source;
  return serializeGroup(change.after ?? [], source);
}

function buildConfigKey(keys: Keys, { kind, name }: Pick<ConfigChange, "kind" | "name">): string {
  return kind === "group" ? keys.group(name) : keys.resourceConfig(name);
}

async function writePart(ports: OperatorPorts, update: SiteUpdate, part: SitePlan, revision: bigint) {
  const { keys } = ports;
  return await executeAction(ports, {
    action: update.action,
    target: update.target,
    seen: update.seen ?? update.shown.stored.revision,
    reason: update.reason,
    outcome: update.formatOutcome(part),
    compare: buildPartGuards(keys, part, revision),
    ops: splitIntoChunks(keys, buildPlanOps(keys, part)),
  });
}

/**
 * Builds guards for everything that a part depends on. A deletion leaves nothing that a comparison over a range could
 * detect. With too many keys to compare one by one, the audit is therefore guarded as well: it records every change that
 * signalbox makes.
 */
function buildPartGuards(keys: Keys, part: SitePlan, revision: bigint): Compare[] {
  const { stored, config, calendars, schedules, isSingle } = part;
  const changed = new Set(calendars.map(({ name }) => name));
  const named = listCalendarFields(schedules).flatMap(listCalendarNames);
  const others = { only: named.filter((name) => !changed.has(name)) };
  const exact = [
    ...listConfigGuards(keys, part),
    ...calendars.map(({ name, before }) => guardRevision(keys.calendar(name), before?.mod ?? 0n)),
    ...guardCalendars(keys, [others], stored.calendars),
    ...buildGuards(keys, schedules, revision),
  ];
  const isMany = exact.length > MAX_DIRECT_OPS;
  const usesSchedules = calendars.length > 0 || hasChainChange(schedules);
  const ranges = [
    ...(config.length === 0 || isSingle ? [] : [keys.groups(), keys.resourceConfigs()]),
    ...(calendars.length > 0 || isMany ? [keys.calendars()] : []),
    ...(usesSchedules || isMany ? [keys.schedules()] : []),
    ...(isMany ? [keys.audits()] : []),
  ];
  const written = listWrittenStateGuards(keys, schedules, revision);
  const states = written.length <= MAX_DIRECT_OPS ? written : guardNotNewer(revision, keys.dues());
  return [...guardNotNewer(revision, ...ranges), ...(isMany ? states : exact)];
}

/** Lists guards on the whole configuration, on which it depends which runs a change affects; on what changes if it is single. */
function listConfigGuards(keys: Keys, { stored, config, isSingle }: SitePlan): Compare[] {
  if (config.length === 0) return [];
  const list = (kind: ConfigChange["kind"]) => [...stored[`${kind}s`].keys()].map((name) => ({ kind, name }));
  return (isSingle ? config : [...list("group"), ...list("resource")]).map(({ kind, name }) =>
    guardRevision(buildConfigKey(keys, { kind, name }), stored[`${kind}s`].get(name)?.modRevision ?? 0n),
  );
}
