import { isDeepStrictEqual } from "node:util";
import type { WallTime } from "../../core/base/clock.ts";
import { ConfigError, EXIT, SignalboxError, UsageError } from "../../core/base/errors.ts";
import { collectTexts, formatShortList, quoteText } from "../../core/base/text.ts";
import { guardNotNewer, guardRevision } from "../../core/protocol/guards.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import { validateName } from "../../core/protocol/names.ts";
import type { Compare, Op } from "../../core/protocol/txn.ts";
import type { Calendars } from "../../schedule/calendar/calendar.ts";
import { type Definition, formatDefinition, runsOnEveryHost } from "../../schedule/definition.ts";
import { type ChainGraph, findChainCycle, invertGraph } from "../../schedule/state/chain.ts";
import { type DueState, formatDue, type HandedEnd } from "../../schedule/state/due.ts";
import { computeFirstDue } from "../../schedule/state/due-transitions.ts";
import { formatOutcomes } from "../../schedule/state/outcome.ts";
import {
  type ActionResult,
  executeAction,
  MAX_DIRECT_OPS,
  type OperatorPorts,
  type Receipt,
  splitIntoChunks,
} from "./operator-action.ts";
import {
  guardCalendars,
  type PlannedChange,
  readAllStoredSchedules,
  readStoredSchedules,
  type ScheduleReadResult,
  type StoredSchedule,
} from "./stored-schedules.ts";

/** A change of schedules by an operator. It is decided again from the state in etcd until it is applied. */
export interface ScheduleMutation {
  /** Target in the audit record, for example `schedule backup`. */
  readonly target: string;
  /** Ids of the schedules to read; `all` if the decision depends on every schedule. */
  readonly ids: readonly string[] | "all";
  /**
   * The schedules probably do not exist, and have no calendars and chains: at first it is decided so, without a read. The guards
   * refuse it otherwise.
   */
  readonly expectsNone?: true;
  /**
   * Returns the changes to apply.
   * @throws NotFoundError, AlreadyExistsError, UsageError
   */
  decide(stored: ScheduleReadResult, now: WallTime): readonly PlannedChange[];
  /** Returns the mutation of some of the schedules. Absent if `decide` finds in etcd what is done. */
  narrow?(ids: ReadonlySet<string>): ScheduleMutation;
  /** Returns the outcome for the audit record. */
  formatOutcome(changes: readonly PlannedChange[]): string;
}

export interface MutationOptions {
  reason?: string | undefined;
  /** Revision at which the operator read the definitions. A definition with a later revision stops the mutation. */
  seen?: bigint | undefined;
  /** Takes the place of the audit record. */
  receipt?: Receipt | undefined;
}

/** `changed`: these definitions changed since they were read, and nothing was written. */
export type MutationResult =
  | { kind: "done"; changes: readonly PlannedChange[]; revision: bigint }
  | { kind: "nothing"; revision: bigint }
  | { kind: "changed"; ids: readonly string[]; revision: bigint };

/** Maximum number of attempts while others write the same keys. */
const MAX_WRITE_TRIES = 20;

/** Most users that an audit record names. */
const MAX_NAMED_USERS = 5;

/** Formats as whom commands now run, if that changes: `to run as ann, root`. */
function formatUsers(changes: readonly PlannedChange[]): string | undefined {
  const users = changes.flatMap(({ before, definition: after }) =>
    after === undefined || after.runAs === before.definition?.runAs
      ? []
      : [after.runAs ?? "the worker's user"],
  );
  return users.length === 0
    ? undefined
    : `to run as ${formatShortList([...new Set(users)], MAX_NAMED_USERS)}`;
}

/** What a mutation changes. */
interface MutationPlan {
  changes: readonly PlannedChange[];
  calendars: ScheduleReadResult["calendars"];
  /** Revision of the schedules that were read. */
  revision: bigint;
  /** Whether the changes depend on the definitions of all schedules, because they change chains. */
  hasLinks: boolean;
}

/**
 * Returns what a mutation would change now.
 * @throws the errors of `decide` and of `linkChains`; StoreError
 */
export async function previewMutation(
  ports: OperatorPorts,
  mutation: ScheduleMutation,
): Promise<MutationPlan> {
  const { ids } = mutation;
  const now = ports.clock.getWallTime();
  const stored = ids === "all" ? await readAllStoredSchedules(ports) : await readStoredSchedules(ports, ids);
  const { calendars, revision } = stored;
  const changes = mutation.decide(stored, now);
  if (!hasChainChange(changes)) return { changes, calendars, revision, hasLinks: false };
  const all = ids === "all" ? stored : await addOthers(ports, stored);
  const linked = linkChains(mutation.decide(all, now), all, now);
  return { changes: linked, calendars, revision, hasLinks: true };
}

/** Returns what a mutation changes if its schedules do not exist. @throws the errors of `decide` */
function expectNone({ clock }: OperatorPorts, mutation: ScheduleMutation): MutationPlan {
  const nothing = { revision: 0n, schedules: new Map(), calendars: new Map() };
  return { ...nothing, changes: mutation.decide(nothing, clock.getWallTime()), hasLinks: false };
}

/**
 * Adds all other schedules, without their outcome histories, to those that were read by name. Guards detect changes between the
 * two reads.
 */
async function addOthers(ports: OperatorPorts, named: ScheduleReadResult): Promise<ScheduleReadResult> {
  const { schedules } = await readAllStoredSchedules(ports);
  return { ...named, schedules: new Map([...schedules, ...named.schedules]) };
}

/**
 * Applies a mutation in one guarded transaction with its audit record: all changes or none. If a worker has changed the
 * state of a schedule meanwhile, the mutation is decided again.
 * @throws the errors of `decide`; SignalboxError 75 if others write all the time; 77; 78 if it is too much for one
 *   transaction; StoreError
 */
export async function applyMutation(
  ports: OperatorPorts,
  mutation: ScheduleMutation,
  { reason, seen, receipt }: MutationOptions = {},
): Promise<MutationResult> {
  for (let left = MAX_WRITE_TRIES; left > 0; left -= 1) {
    const plan =
      mutation.expectsNone && left === MAX_WRITE_TRIES
        ? expectNone(ports, mutation)
        : await previewMutation(ports, mutation);
    const { changes, revision } = plan;
    const newer = changes.filter(({ before }) => seen !== undefined && before.definitionMod > seen);
    if (newer.length > 0) return { kind: "changed", ids: newer.map(({ before }) => before.id), revision };
    if (changes.length === 0) return { kind: "nothing", revision };
    const result = await writePlan(ports, mutation, plan, { reason, seen: seen ?? revision, receipt });
    if (result.kind === "done") return { kind: "done", changes, revision: result.revision };
  }
  throw new SignalboxError(
    EXIT.changed,
    "nothing was changed: other clients changed these schedules at the same time; try again",
  );
}

async function writePlan(
  ports: OperatorPorts,
  mutation: ScheduleMutation,
  { changes, revision, calendars, hasLinks }: MutationPlan,
  { reason, seen, receipt }: MutationOptions & { seen: bigint },
): Promise<ActionResult> {
  const { keys } = ports;
  const ops = changes.flatMap((change) => buildOps(keys, change));
  return await executeAction(ports, {
    action: "schedule",
    target: mutation.target,
    seen,
    reason,
    receipt,
    outcome: collectTexts([mutation.formatOutcome(changes), formatUsers(changes)]).join(", "),
    compare: [
      ...buildGuards(keys, changes, revision),
      ...guardCalendars(keys, listCalendarFields(changes), calendars),
      ...(hasLinks ? guardNotNewer(revision, keys.schedules()) : []),
    ],
    ops: splitIntoChunks(keys, ops),
  });
}

/** Lists the definitions on whose calendars the changes depend. */
export function listCalendarFields(changes: readonly PlannedChange[]): Definition[] {
  return changes.flatMap(({ before, definition = before.definition, isDeleted }) =>
    isDeleted || definition === undefined ? [] : [definition],
  );
}

export function buildOps(keys: Keys, { before, isDeleted, ...after }: PlannedChange): Op[] {
  const { id, host, outcomesMod } = before;
  // A definition that cannot be read may have had hosts.
  const hasHosts = host === undefined && (before.hosts !== undefined || before.definition === undefined);
  const forgetsHosts = isDeleted ? hasHosts : isSplitOrJoined(before, after.definition);
  const ranges = forgetsHosts ? Object.values(keys.getHostStateRanges(id)) : [];
  const forgotten = ranges.map((range): Op => ({ op: "delete", ...range }));
  if (isDeleted) {
    const { outcomes, resultSession: session } = after;
    const kept = session !== undefined && outcomes !== undefined ? { outcomes, session } : undefined;
    const states = [keys.due(id, host), ...(kept === undefined ? [keys.outcomes(id, host)] : [])];
    const own = host === undefined ? [keys.schedule(id), ...states] : states;
    return [
      ...own.map((key): Op => ({ op: "delete", key })),
      ...(kept === undefined
        ? []
        : [
            {
              op: "put",
              key: keys.outcomes(id, host),
              value: formatOutcomes(kept.outcomes),
              session: kept.session,
            } as const,
          ]),
      ...forgotten,
    ];
  }
  const { definition, due, outcomes } = after;
  return [
    ...(definition ? [createPut(keys.schedule(id), formatDefinition(definition))] : []),
    ...(due ? [createPut(keys.due(id, host), formatDue(due))] : []),
    ...(outcomes && (outcomesMod > 0n || outcomes.runs.length + outcomes.dead.length > 0)
      ? [createPut(keys.outcomes(id, host), formatOutcomes(outcomes))]
      : []),
    ...forgotten,
  ];
}

/**
 * Returns whether a schedule comes to run on every host, or on one again: the states of hosts are then deleted. Those of a new
 * schedule are what an earlier version has left, which deletes schedules without them.
 */
export function isSplitOrJoined(
  { definition: before, fault }: StoredSchedule,
  after: Definition | undefined,
): boolean {
  return after !== undefined && fault === undefined && runsOnEveryHost(before) !== runsOnEveryHost(after);
}

const createPut = (key: string, value: string): Op => ({ op: "put", key, value });

/**
 * Builds guards for everything that the decision depends on. If there are too many keys to compare one by one, no
 * definition and no audit record may be newer than the read; every action of an operator has an audit record, so this
 * also detects deletions. Workers write the states all the time: then only the states that the mutation writes are
 * compared, and all states only if those are too many as well.
 */
export function buildGuards(keys: Keys, planned: readonly PlannedChange[], revision: bigint): Compare[] {
  const changes = planned.filter(({ isUnique }) => !isUnique);
  const schedules = new Map(changes.map(({ before }) => [before.id, before.definitionMod]));
  const definitions = [...schedules].map(([id, mod]) => guardRevision(keys.schedule(id), mod));
  const decided = changes.flatMap((change) => [
    ...buildStateGuards(keys, change),
    ...guardHosts(keys, change, revision),
  ]);
  if (definitions.length + decided.length <= MAX_DIRECT_OPS) return [...definitions, ...decided];
  const written = listWrittenStateGuards(keys, changes, revision);
  return [
    ...guardNotNewer(revision, keys.schedules(), keys.audits()),
    ...(written.length <= MAX_DIRECT_OPS
      ? written
      : guardNotNewer(revision, keys.dues(), keys.outcomeHistories())),
  ];
}

/** Builds the guard against a host that begins to run a schedule while its definition changes for the known hosts. */
function guardHosts(
  keys: Keys,
  { before: { id, host, definition: before }, definition, isDeleted }: PlannedChange,
  revision: bigint,
): Compare[] {
  const isChanged = definition !== undefined || isDeleted === true;
  if (!isChanged || host !== undefined || !runsOnEveryHost(before)) return [];
  return guardNotNewer(revision, keys.getHostStateRanges(id).dues);
}

/** Lists guards for the states that changes write, and against hosts that begin meanwhile. */
export function listWrittenStateGuards(
  keys: Keys,
  changes: readonly PlannedChange[],
  revision: bigint,
): Compare[] {
  return changes.flatMap((change) => [
    ...(change.due === undefined ? [] : buildStateGuards(keys, change)),
    ...guardHosts(keys, change, revision),
  ]);
}

/**
 * Builds guards for the state of a schedule that is not deleted, and for its outcome history if the change writes it.
 */
function buildStateGuards(keys: Keys, { before, isDeleted, outcomes }: PlannedChange): Compare[] {
  if (isDeleted || before.definitionMod === 0n) return [];
  const outcomesGuards =
    outcomes === undefined ? [] : [guardRevision(keys.outcomes(before.id, before.host), before.outcomesMod)];
  return [guardRevision(keys.due(before.id, before.host), before.dueMod), ...outcomesGuards];
}

/** Maximum number of schedules after one. Their ids are in its state, which each of its ends writes. */
const MOST_FOLLOWERS = 1_000;
/** Maximum number of schedules before one. Its state has the end of each, with data of up to 8 KiB. */
const MOST_PREDECESSORS = 100;

/** Returns whether changes of schedules change chains, so that `linkChains` is needed. */
export function hasChainChange(changes: readonly PlannedChange[]): boolean {
  return changes.some(({ before, definition, isDeleted }) => {
    if (isDeleted) return before.definition?.after !== undefined || before.due?.successors !== undefined;
    if (definition === undefined) return false;
    const isSplit = runsOnEveryHost(definition) && before.due?.successors !== undefined;
    return isSplit || !isDeepStrictEqual(definition.after, before.definition?.after);
  });
}

/**
 * Adds to changes of schedules what makes their chains complete: the state of each schedule lists those that follow it,
 * so that the transaction that ends its run can add theirs.
 * @param stored  all schedules
 * @throws ConfigError for a missing schedule, a cycle or too many links; UsageError if a schedule that others follow
 *   would be deleted
 */
export function linkChains(
  changes: readonly PlannedChange[],
  stored: ScheduleReadResult,
  now: WallTime,
): PlannedChange[] {
  const before = buildGraph(stored);
  const after = new Map(before);
  for (const {
    before: { id },
    definition,
    isDeleted,
  } of changes)
    if (isDeleted) after.delete(id);
    else if (definition !== undefined) after.set(id, definition.after ?? []);
  const changed = changes.filter((change) => hasChainChange([change]));
  for (const change of changed) checkLinks(change, after);
  const touched = new Set(
    changed.flatMap(({ before: { id } }) => [...(before.get(id) ?? []), ...(after.get(id) ?? []), id]),
  );
  const successors = invertGraph(after);
  const isOnHost = ({ before: { host } }: PlannedChange) => host !== undefined;
  const byId = new Map(changes.filter((change) => !isOnHost(change)).map((one) => [one.before.id, one]));
  for (const id of touched) {
    const unchanged = stored.schedules.get(id);
    const change = byId.get(id) ?? (unchanged && { before: unchanged });
    const linked = change && setSuccessors(change, successors.get(id), now, stored.calendars);
    if (linked !== undefined) byId.set(id, linked);
  }
  checkFollowed([...byId.values()]);
  return [...byId.values(), ...changes.filter(isOnHost)];
}

/** Returns the ids that each schedule follows. */
function buildGraph({ schedules }: ScheduleReadResult): Map<string, readonly string[]> {
  const existing = [...schedules].filter(([, { definitionMod }]) => definitionMod > 0n);
  return new Map(existing.map(([id, { definition }]) => [id, definition?.after ?? []]));
}

function checkLinks({ before: { id, due }, definition, isDeleted }: PlannedChange, graph: ChainGraph): void {
  if (isDeleted) {
    const left = due?.successors?.find((one) => graph.get(one)?.includes(id));
    if (left !== undefined)
      throw new UsageError(
        `schedule ${quoteText(id)} cannot be deleted: schedule ${quoteText(left)} follows it; delete both, or first: signalbox schedule edit ${left} --after ''`,
      );
    return;
  }
  if (definition?.after !== undefined) checkPredecessors(id, definition.after, graph);
}

/** @throws ConfigError if a schedule would follow one that runs on every host, which ends on each of them by itself */
function checkFollowed(changes: readonly PlannedChange[]): void {
  for (const { before, due = before.due, definition = before.definition, isDeleted } of changes) {
    const [follower] = isDeleted ? [] : (due?.successors ?? []);
    if (follower !== undefined && runsOnEveryHost(definition))
      throw new ConfigError(
        `schedule ${quoteText(follower)} cannot follow schedule ${quoteText(before.id)}, which runs on every host: it ends on each of them at another time`,
      );
  }
}

function checkPredecessors(id: string, after: readonly string[], graph: ChainGraph): void {
  if (after.length > MOST_PREDECESSORS || new Set(after).size < after.length)
    throw new ConfigError(
      `schedule ${quoteText(id)} must follow at most ${MOST_PREDECESSORS} different schedules; got ${after.length}: ${formatShortList(after, SHOWN_LINKS)}`,
    );
  for (const one of after) {
    validateName("schedule", one);
    if (!graph.has(one))
      throw new ConfigError(
        `schedule ${quoteText(id)} cannot follow schedule ${quoteText(one)}: there is none; add it first`,
      );
  }
  const cycle = findChainCycle(graph, id);
  if (cycle !== undefined)
    throw new ConfigError(
      `schedule ${quoteText(id)} cannot follow ${quoteText(cycle[1] ?? id)}: that is a cycle, ${formatCycle(cycle)}`,
    );
}

/** Schedules at each end of a list that a message names. */
const SHOWN_LINKS = 5;

function formatCycle(ids: readonly string[]): string {
  const left = ids.length - 2 * SHOWN_LINKS;
  const shown = left <= 1 ? ids : [...ids.slice(0, SHOWN_LINKS), `${left} more`, ...ids.slice(-SHOWN_LINKS)];
  return shown.join(" -> ");
}

/** Sets which schedules follow. Undefined if nothing changes. */
function setSuccessors(
  change: PlannedChange,
  successors: readonly string[] | undefined,
  now: WallTime,
  calendars: Calendars,
): PlannedChange | undefined {
  const { before, isDeleted } = change;
  if (isDeleted) return undefined;
  const { id } = before;
  if (successors !== undefined && successors.length > MOST_FOLLOWERS)
    throw new ConfigError(
      `at most ${MOST_FOLLOWERS} schedules can follow schedule ${quoteText(id)}; got ${successors.length}`,
    );
  const definition: Definition | undefined = change.definition ?? before.definition;
  const due = change.due ?? before.due ?? (definition && computeFirstDue(id, definition, now, {}, calendars));
  if (due === undefined) return undefined;
  const linked = replaceLinks(due, successors, definition?.after);
  return isDeepStrictEqual(linked, due) ? undefined : { ...change, due: linked };
}

/**
 * Replaces the successors, and forgets the ends of schedules that are no longer before it. Successors that are added do not get
 * an end that is being handed on.
 */
function replaceLinks(
  { successors: before = [], arrived = [], handed, ...due }: DueState,
  successors: readonly string[] | undefined,
  after: readonly string[] = [],
): DueState {
  const kept = arrived.filter(({ id }) => after.includes(id));
  const added = successors?.filter((id) => !before.includes(id)) ?? [];
  return {
    ...due,
    ...(successors !== undefined && { successors }),
    ...(kept.length > 0 && { arrived: kept }),
    ...(handed !== undefined && { handed: handed.map((end) => exceptFollowers(end, added)) }),
  };
}

function exceptFollowers(end: HandedEnd, added: readonly string[]): HandedEnd {
  const except = [...new Set([...(end.except ?? []), ...added.filter((id) => id > end.upTo)])];
  return except.length === 0 ? end : { ...end, except };
}
