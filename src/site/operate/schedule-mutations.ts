import { isDeepStrictEqual } from "node:util";
import { formatIso, type WallTime } from "../../core/base/clock.ts";
import { SignalboxError, UsageError } from "../../core/base/errors.ts";
import { pickDefined } from "../../core/base/pick-defined.ts";
import { quoteShellWord } from "../../core/base/shell.ts";
import { formatShortList, quoteText } from "../../core/base/text.ts";
import { validateName } from "../../core/protocol/names.ts";
import { findBlackout, listBlackouts } from "../../schedule/calendar/blackout.ts";
import { type Calendars, formatDay, NO_CALENDARS, toDay } from "../../schedule/calendar/calendar.ts";
import { buildDayRule, listCalendarNames } from "../../schedule/calendar/day-rule.ts";
import { getZoneOffset } from "../../schedule/cron/offsets.ts";
import {
  checkDefinition,
  type Definition,
  getPause,
  getScheduleType,
  isOnce,
  isPaused,
  runsOnEveryHost,
} from "../../schedule/definition.ts";
import { AlreadyExistsError, NotFoundError } from "../../schedule/errors.ts";
import { formatCronText, type Plan, parsePlan } from "../../schedule/plan.ts";
import { createBackfill, MAX_BACKFILL, MAX_BACKFILL_PARALLEL } from "../../schedule/state/backfill.ts";
import { cancelOccurrences, isRemovedAfter } from "../../schedule/state/complete-occurrence.ts";
import { buildStateName, type DueState, type OpenOccurrence } from "../../schedule/state/due.ts";
import {
  addTriggeredRun,
  computeFirstDue,
  computeModifiedDue,
  computeResumedDue,
  type FirstOccurrenceOptions,
  hasSameTimes,
  MAX_OPEN_OCCURRENCES,
  type TriggeredRun,
} from "../../schedule/state/due-transitions.ts";
import { canOverlap } from "../../schedule/state/next-candidate.ts";
import { addOutcomes, type OccurrenceOutcome } from "../../schedule/state/outcome.ts";
import { createTiming } from "../../schedule/timing.ts";
import { isSplitOrJoined, type ScheduleMutation } from "./schedule-mutation.ts";
import {
  createMissingSchedule,
  getShownDue,
  type PlannedChange,
  type ScheduleReadResult,
  type StoredSchedule,
} from "./stored-schedules.ts";

// Mutations of schedules by operators and programs, to preview or apply. Instants in ms since the epoch.

/**
 * Adds a schedule.
 * @throws UsageError for an invalid name; CronError, ConfigError for an invalid definition. Its `decide` throws a UsageError if the
 *   schedule would never fire
 */
export function buildAddMutation(
  id: string,
  definition: Definition,
  first: FirstOccurrenceOptions = {},
): ScheduleMutation {
  return buildWholeMutation(id, definition, first, "added", () => {
    throw new AlreadyExistsError(
      `schedule ${quoteText(id)} already exists; change it with: signalbox schedule edit ${quoteShellWord(id)}`,
    );
  });
}

/** A schedule to add, and its first occurrence. */
export interface ScheduleAddition {
  definition: Definition;
  first: FirstOccurrenceOptions;
}

/**
 * Adds many schedules, by id.
 * @throws as `buildAddMutation`, with a message that names all that are refused; so does its `decide`
 */
export function buildAddManyMutation(additions: ReadonlyMap<string, ScheduleAddition>): ScheduleMutation {
  const mutations = mapSchedules(additions, ({ definition, first }, id) =>
    buildAddMutation(id, definition, first),
  );
  return {
    ...describeMutation([...additions.keys()], () => "added"),
    decide: (stored, now) => [...mapSchedules(mutations, (one) => one.decide(stored, now)).values()].flat(),
    narrow: (ids) => buildAddManyMutation(new Map([...additions].filter(([id]) => ids.has(id)))),
  };
}

/** Largest number of schedules in an error. */
const MAX_NAMED_FAULTS = 10;

/**
 * Converts each of several schedules.
 * @throws the first SignalboxError of `convert`, with a message that names all schedules for which it throws one
 */
export function mapSchedules<T, R>(
  byId: ReadonlyMap<string, T>,
  convert: (value: T, id: string) => R,
): Map<string, R> {
  const converted = new Map<string, R>();
  const faults: { id: string; error: SignalboxError }[] = [];
  for (const [id, value] of byId)
    try {
      converted.set(id, convert(value, id));
    } catch (error) {
      if (!(error instanceof SignalboxError)) throw error;
      faults.push({ id, error });
    }
  const [first] = faults;
  if (first === undefined) return converted;
  const lines = faults.slice(0, MAX_NAMED_FAULTS).map(({ id, error: { message } }) => {
    const name = quoteText(id);
    return message.includes(name) ? message : `schedule ${name}: ${message}`;
  });
  const more = faults.length > lines.length ? ` and ${faults.length - lines.length} more` : "";
  first.error.message = `${lines.join("; ")}${more}`;
  throw first.error;
}

/** Builds a mutation that adds a schedule. @param change  decides what happens if it exists */
function buildWholeMutation(
  id: string,
  definition: Definition,
  first: FirstOccurrenceOptions,
  what: string,
  change: (before: StoredSchedule, now: WallTime, calendars: Calendars) => PlannedChange[],
): ScheduleMutation {
  validateName("schedule", id);
  checkDefinition(definition);
  return {
    ...describeMutation([id], () => what),
    decide: ({ schedules, calendars }, now) => {
      const before = schedules.get(id) ?? createMissingSchedule(id);
      if (before.definitionMod > 0n) return change(before, now, calendars);
      const due = computeFirstDue(id, definition, now, first, calendars);
      return [{ before, definition, due: checkFires(id, definition, due, now) }];
    },
  };
}

/**
 * Changes the definitions of existing schedules. A definition that stays the same is not written.
 * @param change returns the new definition; `before` is undefined if the stored definition cannot be read
 */
export function buildModifyMutation(
  ids: readonly string[],
  change: (before: Definition | undefined, id: string) => Definition,
  first: FirstOccurrenceOptions = {},
): ScheduleMutation {
  return buildEachMutation(
    ids,
    () => "changed",
    (before, now, calendars) => {
      const definition = checkDefinition(change(before.definition, before.id));
      return buildDefinitionChange(before, definition, now, first, calendars);
    },
  );
}

/** Deletes schedules with their state and outcome history. Running tasks continue; their outcomes are not stored. */
export function buildDeleteMutation(ids: readonly string[]): ScheduleMutation {
  return buildEachMutation(
    ids,
    () => "deleted",
    (before) => [{ before, isDeleted: true }],
  );
}

/** Deletes the states and the outcomes of schedules on a host. Its `decide` throws a NotFoundError if one has none there. */
export function buildHostDeleteMutation(ids: readonly string[], host: string): ScheduleMutation {
  return buildEachMutation(
    ids,
    () => `deleted on ${host}`,
    ({ id, hosts = [] }) => {
      const part = hosts.find((one) => one.host === host);
      if (part !== undefined) return [{ before: part, isDeleted: true }];
      const known = formatShortList(
        hosts.flatMap((one) => one.host ?? []),
        SHOWN_HOSTS,
      );
      throw new NotFoundError(
        `schedule ${quoteText(id)} has no state on host ${quoteText(host)}; it has ${known === "" ? "none on any host" : `them on ${known}`}`,
      );
    },
  );
}

/**
 * Pauses schedules: they fire only when triggered. Running tasks continue.
 * @param pause.until the schedules fire again by themselves at this instant
 */
export function buildPauseMutation(
  ids: readonly string[],
  pause: { by: string; until?: WallTime | undefined; why?: string | undefined },
): ScheduleMutation {
  const { by, until, why } = pause;
  const formatOutcome = () => (until === undefined ? "paused" : `paused until ${formatIso(until)}`);
  return buildEachMutation(ids, formatOutcome, (stored, now) => {
    const before = requireReadable(stored);
    const isAgain = isPaused(before.definition, before.due, now);
    const old = isAgain ? getPause(before.definition, before.due) : undefined;
    if (isAgain && old?.until === until && old?.why === why) return [];
    if (until !== undefined && until <= now)
      throw new UsageError(`a pause must end in the future; got ${formatIso(until)}`);
    const word = { by, at: old?.at ?? now, ...pickDefined({ until, why }) };
    const endOwn = (part: StoredSchedule): PlannedChange => ({
      before: part,
      ...(part.due?.pause !== undefined && { due: removeOwnPause(part.due) }),
    });
    const parts = (before.hosts ?? []).map(endOwn).filter(({ due }) => due !== undefined);
    return [{ ...endOwn(before), definition: { ...before.definition, pause: word } }, ...parts];
  });
}

/** Removes the pause that a schedule has set itself: it would outlast the one of an operator. */
function removeOwnPause({ pause: _, ...due }: DueState): DueState {
  return due;
}

/** Resumes schedules from now on. Occurrences that the pause prevented do not run. */
export function buildResumeMutation(ids: readonly string[]): ScheduleMutation {
  const formatOutcome = () => "resumed";
  return buildEachMutation(ids, formatOutcome, (stored, now, calendars) => {
    const before = requireReadable(stored);
    const { pause, ...definition } = before.definition;
    const parts = [before, ...(before.hosts ?? [])].filter(({ due }) =>
      isPaused(before.definition, due, now),
    );
    return parts.flatMap((part): PlannedChange[] => {
      const { due } = part;
      const resumed = due && computeResumedDue(getStateName(part), definition, due, now, calendars);
      const change = {
        before: part,
        ...(part === before && pause !== undefined && { definition }),
        ...(resumed !== undefined && resumed !== due && { due: resumed }),
      };
      return change.definition === undefined && change.due === undefined ? [] : [change];
    });
  });
}

/** Number of hosts in a message. */
const SHOWN_HOSTS = 5;

/** Dead letters by their scheduled times, ms since the epoch, or all. */
type DeadLetterChoice = readonly (number | "all")[];

/** What a triggered run gets. */
interface TriggerOptions extends Pick<TriggeredRun, "data" | "env"> {
  /** Dead letters to run again. Their data and variables are kept unless others are given. */
  dead?: DeadLetterChoice | undefined;
  /** The trace of the caller, as variables. A variable of `env` with the same name replaces one of these. */
  trace?: Readonly<Record<string, string>> | undefined;
  /** Whether it runs also on a day that the calendars of the schedule exclude. */
  ignoresCalendars?: boolean | undefined;
}

/** Maximum size of the data and the variables of a run, characters of JSON. The state of a schedule has up to 100. */
const MAX_INPUT = 8_192;

/**
 * Triggers one more run of each schedule at once, independent of the plan. Paused schedules run as well.
 * @throws UsageError if the data and the variables are too long. Its `decide` throws a UsageError if calendars exclude this day, a
 *   ConfigError if one is missing; dead letters run all the same
 */
export function buildTriggerMutation(ids: readonly string[], options: TriggerOptions = {}): ScheduleMutation {
  const { data, env, dead } = options;
  const size = JSON.stringify([data, env]).length;
  if (size > MAX_INPUT)
    throw new UsageError(
      `data and variables of a run must be at most ${MAX_INPUT} characters as JSON; got ${size}`,
    );
  return buildEachMutation(
    ids,
    () => (dead === undefined ? "triggered" : `triggered again: ${formatChoice(dead)}`),
    (before, now, calendars) =>
      chooseParts(requireReadable(before), dead).map(({ part, choice }) =>
        buildTriggerChange(part, now, { ...options, dead: choice }, calendars),
      ),
  );
}

/** Number of times in the audit. */
const SHOWN_TIMES = 5;

function formatChoice(dead: DeadLetterChoice): string {
  if (dead.includes("all")) return "all dead letters";
  return formatShortList(
    dead.flatMap((time) => (time === "all" ? [] : formatIso(time))),
    SHOWN_TIMES,
  );
}

function buildTriggerChange(
  before: ReadableSchedule,
  now: WallTime,
  options: TriggerOptions,
  calendars: Calendars,
): PlannedChange {
  const { id, definition } = before;
  if (options.dead === undefined && !options.ignoresCalendars) checkDay(id, definition, now, calendars);
  const from = before.due ?? computeFirstDue(id, definition, now, {}, calendars);
  const { data, trace } = options;
  const addTrace = (env: TriggerOptions["env"]) => (trace === undefined ? env : { ...trace, ...env });
  const run = { data, env: addTrace(options.env) };
  if (options.dead === undefined) return { before, due: addRun(id, from, now, run) };
  const letters = findDeadLetters(before, options.dead);
  // An occurrence that was started by hand may have several letters: it runs once.
  const runs = new Map(letters.map((letter) => [letter.scheduled, letter]));
  let due = from;
  for (const [scheduled, letter] of runs)
    due = addRun(id, due, now, {
      scheduled,
      data: data ?? letter.data,
      env: addTrace(options.env ?? letter.env),
    });
  return removeLetters(before, letters, due);
}

/** @throws UsageError if the calendars of the schedule exclude this day, or it is in a blackout; ConfigError if one of them is missing */
function checkDay(id: string, definition: Definition, now: WallTime, calendars: Calendars): void {
  const { timezone } = definition;
  const rule = buildDayRule(definition, calendars);
  const day = toDay(now + getZoneOffset(timezone, now));
  const reason = rule?.findReason(day);
  const blackout = findBlackout(listBlackouts(definition), timezone, now);
  const when = reason === undefined ? blackout && "now" : `on ${formatDay(day)}`;
  if (when !== undefined)
    throw new UsageError(
      `schedule ${quoteText(id)} does not run ${when} (${reason ?? blackout?.text}); to run it all the same, add --ignore-calendar`,
    );
}

/** Returns whether one of the dead letters is the chosen one; for "all", whether there is any. */
function hasLetter(dead: readonly OccurrenceOutcome[], one: DeadLetterChoice[number]): boolean {
  return one === "all" ? dead.length > 0 : dead.some(({ scheduled }) => scheduled === one);
}

/** @throws NotFoundError if one of them is not there */
function findDeadLetters(
  { id, outcomes }: Pick<ReadableSchedule, "id" | "outcomes">,
  choice: DeadLetterChoice,
) {
  const { dead } = outcomes;
  const missing = choice.find((one) => !hasLetter(dead, one));
  if (missing === undefined)
    return choice.includes("all") ? dead : dead.filter(({ scheduled }) => choice.includes(scheduled));
  const which = missing === "all" ? "s" : ` of ${formatIso(missing)}`;
  throw new NotFoundError(
    `schedule ${quoteText(id)} has no dead letter${which}; see: signalbox schedule dead ${id}`,
  );
}

/** @throws UsageError if the run cannot be added */
function addRun(id: string, from: DueState, now: WallTime, run: TriggeredRun): DueState {
  const due = addTriggeredRun(from, now, run);
  if (due !== undefined) return due;
  throw new UsageError(
    from.open.length >= MAX_OPEN_OCCURRENCES
      ? `${MAX_OPEN_OCCURRENCES} runs of schedule ${quoteText(id)} already wait; no more are accepted`
      : `that run of schedule ${quoteText(id)} is already due`,
  );
}

/** The part of a schedule on a host, and the dead letters that are chosen there; or the schedule with all that are. */
interface ChosenPart {
  part: ReadableSchedule;
  choice: DeadLetterChoice | undefined;
}

/**
 * Lists the parts of a schedule that have any of the chosen dead letters; all parts, if none are chosen.
 * @throws NotFoundError if one of them is on no part
 */
function chooseParts(schedule: ReadableSchedule, choice: DeadLetterChoice | undefined): ChosenPart[] {
  const parts = listParts(schedule);
  if (choice === undefined || parts.length === 1) return parts.map((part) => ({ part, choice }));
  const all = parts.flatMap(({ outcomes }) => outcomes.dead);
  findDeadLetters({ id: schedule.id, outcomes: { runs: [], dead: all } }, choice);
  return parts.flatMap((part) => {
    const there = choice.filter((one) => hasLetter(part.outcomes.dead, one));
    return there.length === 0 ? [] : [{ part, choice: there }];
  });
}

/** Deletes dead letters of schedules. They do not run again. @param choice  default: all */
export function buildBuryMutation(ids: readonly string[], choice?: DeadLetterChoice): ScheduleMutation {
  const formatOutcome = () =>
    choice === undefined ? "dead letters forgotten" : `forgotten: ${formatChoice(choice)}`;
  return buildEachMutation(ids, formatOutcome, (stored, now, calendars) =>
    chooseParts(requireReadable(stored), choice).flatMap(({ part, choice: chosen }) =>
      buildBuryChange(part, chosen, now, calendars),
    ),
  );
}

function buildBuryChange(
  before: ReadableSchedule,
  choice: DeadLetterChoice | undefined,
  now: WallTime,
  calendars: Calendars,
): PlannedChange[] {
  const { id, definition, outcomes, due } = before;
  const letters = choice === undefined ? outcomes.dead : findDeadLetters(before, choice);
  if (letters.length === 0 && due?.dead === undefined) return [];
  const from = due ?? computeFirstDue(id, definition, now, {}, calendars);
  return [removeLetters(before, letters, from)];
}

function removeLetters(
  before: StoredSchedule,
  letters: readonly OccurrenceOutcome[],
  { dead: _, ...due }: DueState,
): PlannedChange {
  const dead = before.outcomes.dead.filter((one) => !letters.includes(one));
  const counted = dead.length === 0 ? due : { ...due, dead: dead.length };
  return { before, due: counted, outcomes: { ...before.outcomes, dead } };
}

/** Returns the changes that replace the definition of a schedule; empty if nothing changes. */
export function buildDefinitionChange(
  before: StoredSchedule,
  after: Definition,
  now: WallTime,
  first: FirstOccurrenceOptions = {},
  calendars: Calendars = NO_CALENDARS,
): PlannedChange[] {
  const { id, definition, due } = before;
  const isMoved = first.start !== undefined || first.at !== undefined;
  const isSame = isDeepStrictEqual(definition, after);
  if (isSame && due !== undefined && !isMoved) return [];
  if (runsOnEveryHost(definition) || runsOnEveryHost(after))
    return buildEveryHostChange(before, after, now, first, calendars);
  const fresh = definition === undefined || due === undefined || isMoved;
  const { next: _, ...rest } = due ?? { open: [] }; // if no occurrence follows, the old one must not stay
  const next = fresh
    ? { ...rest, ...computeFirstDue(id, after, now, first, calendars), open: rest.open }
    : computeModifiedDue(id, definition, after, due, now, calendars);
  return [{ before, ...(!isSame && { definition: after }), ...(next !== due && { due: next }) }];
}

/**
 * Returns the changes of a schedule that runs on every host, or did so. Its own state says only where hosts begin that have
 * none, so it begins again now if its times change; the states of the hosts change as those of schedules. If it comes to run
 * on every host, or on one again, an occurrence that is due is kept, unless a host has started it.
 */
function buildEveryHostChange(
  before: StoredSchedule,
  after: Definition,
  now: WallTime,
  first: FirstOccurrenceOptions,
  calendars: Calendars,
): PlannedChange[] {
  const { id, definition, due, hosts = [] } = before;
  const { successors, arrived } = due ?? {};
  const links = { ...(successors && { successors }), ...(arrived && { arrived }) };
  const own = {
    before,
    definition: after,
    due: { ...computeFirstDue(id, after, now, first, calendars), ...links },
  };
  const isMoved = first.start !== undefined || first.at !== undefined;
  if (definition === undefined) return [own];
  if (isSplitOrJoined(before, after)) {
    const { next, runAt = now } = (isMoved ? undefined : getShownDue(before)) ?? {};
    if (next !== undefined && runAt <= now) own.due = { ...own.due, next, runAt };
    return [own];
  }
  if (due !== undefined && !isMoved && hasSameTimes(definition, after))
    own.due = computeModifiedDue(id, definition, after, due, now, calendars);
  const changed = hosts.flatMap((part): PlannedChange[] => {
    if (part.due === undefined) return [];
    const name = getStateName(part);
    const due = isMoved
      ? { ...part.due, ...computeFirstDue(name, after, now, first, calendars), open: part.due.open }
      : computeModifiedDue(name, definition, after, part.due, now, calendars);
    return due === part.due ? [] : [{ before: part, due }];
  });
  return [own, ...changed];
}

/** Returns the name from which times of a part are computed, such as its jitter. */
export function getStateName({ id, host }: StoredSchedule): string {
  return buildStateName(id, host);
}

/**
 * Builds a mutation that adds a schedule, or replaces its definition if it exists. An existing schedule keeps its state, its
 * pause and its source.
 * @param first  used only if the schedule is added
 * @throws UsageError for an invalid name; CronError, ConfigError for an invalid definition
 */
export function buildSetMutation(
  id: string,
  definition: Definition,
  first: FirstOccurrenceOptions = {},
): ScheduleMutation {
  return buildWholeMutation(id, definition, first, "set", (before, now, calendars) => {
    const { pause, source, cron } = before.definition ?? {};
    const after = { ...definition, ...pickDefined({ pause, source }) };
    const changes = buildDefinitionChange(before, after, now, {}, calendars);
    for (const { due } of changes)
      if (due !== undefined && !isDeepStrictEqual(cron, definition.cron))
        checkFires(id, definition, due, now);
    return changes;
  });
}

/** Which past occurrences to run. */
interface BackfillOptions {
  from: WallTime;
  to: WallTime;
  /** How many at a time. */
  parallel: number;
}

/** Runs the occurrences of a past time, in order, beside the plan. A backfill that is under way must end before. */
export function buildBackfillMutation(id: string, options: BackfillOptions): ScheduleMutation {
  const formatOutcome = () => `backfill from ${formatIso(options.from)} to ${formatIso(options.to)}`;
  return buildEachStateMutation([id], formatOutcome, (before, now, calendars) => {
    const due = before.due ?? computeFirstDue(id, before.definition, now, {}, calendars);
    if (due.backfill !== undefined)
      throw new UsageError(
        `a backfill of schedule ${quoteText(id)} is under way: wait for its end, or: signalbox schedule backfill ${id} --cancel`,
      );
    checkBackfill(before, options, now);
    const backfill = createBackfill(createTiming(id, before.definition, calendars), options, now);
    if (backfill === undefined || backfill.total > MAX_BACKFILL)
      throw new UsageError(
        backfill === undefined
          ? `schedule ${quoteText(id)} has no occurrence in this time`
          : `a backfill is at most ${MAX_BACKFILL} occurrences; do it in parts`,
      );
    return [{ before, due: { ...due, backfill } }];
  });
}

function checkBackfill({ id, definition }: ReadableSchedule, options: BackfillOptions, now: WallTime): void {
  const { from, to, parallel } = options;
  if (from > to || to > now)
    throw new UsageError(
      `--from must not be after --to, nor --to after now; got ${formatIso(from)} and ${formatIso(to)}`,
    );
  if (parallel > MAX_BACKFILL_PARALLEL)
    throw new UsageError(`--parallel must be at most ${MAX_BACKFILL_PARALLEL}; got ${parallel}`);
  if (parallel > 1 && !canOverlap(definition))
    throw new UsageError(
      `runs of schedule ${quoteText(id)} must not overlap, so --parallel must be 1; got ${parallel}. To allow it: signalbox schedule edit ${id} --overlap allow`,
    );
}

/** Ends backfills. Occurrences that were started run to their end. */
export function buildBackfillCancellation(ids: readonly string[]): ScheduleMutation {
  const formatOutcome = () => "backfill canceled";
  return buildEachStateMutation(ids, formatOutcome, (before) => {
    if (before.due?.backfill === undefined) return [];
    const { backfill: _, ...due } = before.due;
    return [{ before, due }];
  });
}

/** Who cancels, and why. */
interface CancelOptions {
  by: string;
  why?: string | undefined;
  /** With which the outcome of a job expires that is removed, by its id. */
  resultSessions?: ReadonlyMap<string, bigint> | undefined;
}

/**
 * Cancels what runs of schedules, or waits for a start: workers end what runs, the rest is dropped. A schedule that removes itself and
 * has nothing left is removed.
 */
export function buildCancelMutation(
  ids: readonly string[],
  { by, why, resultSessions }: CancelOptions,
): ScheduleMutation {
  const formatOutcome = () => "canceled";
  return buildEachStateMutation(ids, formatOutcome, (before, now, calendars) => {
    const { id, definition, outcomes } = before;
    if (before.due === undefined) return [];
    const timing = createTiming(getStateName(before), definition, calendars);
    const canceled = { by, at: now, ...pickDefined({ why }) };
    const { due, dropped } = cancelOccurrences(definition, before.due, canceled, timing);
    if (due === before.due) return [];
    const history = { ...addOutcomes(outcomes, dropped, definition), type: getScheduleType(id, definition) };
    if (isRemovedAfter(definition, { due, isOver: dropped.length > 0, isDead: false }))
      return [
        {
          before,
          isDeleted: true,
          outcomes: history,
          ...pickDefined({ resultSession: resultSessions?.get(id) }),
        },
      ];
    return [
      { before, due, ...(dropped.length > 0 && { outcomes: addOutcomes(outcomes, dropped, definition) }) },
    ];
  });
}

/** Moves what waits for a start, or for a retry, of schedules that are due once. */
export function buildMoveMutation(ids: readonly string[], at: WallTime): ScheduleMutation {
  const formatOutcome = () => `moved to ${formatIso(at)}`;
  return buildEachStateMutation(ids, formatOutcome, (before) => {
    const { id, definition, due } = before;
    const isWaiting = ({ session }: OpenOccurrence) => session === undefined;
    const hasNext = due?.next !== undefined && isOnce(definition);
    if (due === undefined || !(hasNext || due.open.some(isWaiting)))
      throw new UsageError(
        `nothing of ${quoteText(id)} waits for a start${due?.open.length ? ": it runs" : ""}; a dead letter runs again with: signalbox schedule trigger ${quoteShellWord(id)} --dead all`,
      );
    const open = due.open.map((one) => (isWaiting(one) ? { ...one, runAt: at } : one));
    return [{ before, due: { ...due, open, ...(hasNext && { runAt: at }) } }];
  });
}

type ReadableSchedule = StoredSchedule & { readonly definition: Definition };

function requireReadable(stored: StoredSchedule): ReadableSchedule {
  const { definition, fault, id } = stored;
  if (definition === undefined)
    throw new UsageError(
      `schedule ${quoteText(id)} cannot be read: ${fault ?? "it has no definition"}; repair it with: signalbox schedule edit`,
    );
  return { ...stored, definition };
}

function requireExisting({ schedules }: ScheduleReadResult, id: string): StoredSchedule {
  const schedule = schedules.get(id);
  if (schedule === undefined || schedule.definitionMod === 0n)
    throw new NotFoundError(`there is no schedule ${quoteText(id)}; see: signalbox ls schedules`);
  return schedule;
}

/** Builds a mutation of states. It decides each schedule by itself; one that runs on every host, on each host that it knows. */
function buildEachStateMutation(
  given: readonly string[],
  what: () => string,
  decideOne: (before: ReadableSchedule, now: WallTime, calendars: Calendars) => readonly PlannedChange[],
): ScheduleMutation {
  return buildEachMutation(given, what, (before, now, calendars) =>
    listParts(requireReadable(before)).flatMap((part) => decideOne(part, now, calendars)),
  );
}

/** @throws UsageError if it runs on every host, and no host has a state yet */
function listParts(schedule: ReadableSchedule): readonly ReadableSchedule[] {
  if (!runsOnEveryHost(schedule.definition)) return [schedule];
  if (schedule.hosts !== undefined) return schedule.hosts.map(requireReadable);
  throw new UsageError(
    `no host runs schedule ${quoteText(schedule.id)} yet: a worker begins it within seconds, so try again; or start one on a host${schedule.definition.group === undefined ? "" : ` of the group ${schedule.definition.group}`}`,
  );
}

/** Builds a mutation that decides each schedule by itself. */
function buildEachMutation(
  given: readonly string[],
  what: () => string,
  decideOne: (before: StoredSchedule, now: WallTime, calendars: Calendars) => readonly PlannedChange[],
): ScheduleMutation {
  const ids = [...new Set(given)];
  return {
    ...describeMutation(ids, what),
    decide: (stored, now) =>
      ids.flatMap((id) => decideOne(requireExisting(stored, id), now, stored.calendars)),
  };
}

/** Maximum number of names in an audit record; further schedules are only counted. */
const MOST_NAMED = 10;

function describeMutation(
  ids: readonly string[],
  what: () => string,
): Pick<ScheduleMutation, "target" | "ids" | "formatOutcome"> {
  const [only = ""] = ids;
  const named = ids.slice(0, MOST_NAMED).join(", ");
  const rest = ids.length > MOST_NAMED ? ` and ${ids.length - MOST_NAMED} more` : "";
  return {
    ids,
    target: ids.length === 1 ? `schedule ${only}` : `schedules ${named}${rest}`,
    formatOutcome: (changes) => (ids.length === 1 ? what() : `${what()}: ${changes.length}`),
  };
}

/**
 * Checks that a schedule fires at least once by itself, unless it is only triggered.
 * @param due  its state
 * @returns the state
 * @throws UsageError that says why it would never fire
 */
export function checkFires(id: string, definition: Definition, due: DueState, now: WallTime): DueState {
  const plan = parsePlan(definition.cron);
  const isBoot = plan.kind === "boot" && (definition.end ?? now) >= now;
  if (plan.kind === "manual" || isBoot || due.next !== undefined) return due;
  throw new UsageError(
    `schedule ${quoteText(id)} would never fire: ${explainNeverFires(plan, definition, now)}`,
  );
}

function explainNeverFires(plan: Plan, definition: Definition, now: WallTime): string {
  const { cron, timezone, end } = definition;
  const isOver = plan.kind === "once" && plan.at < now;
  const [calendars, blackouts] = [listCalendarNames(definition), listBlackouts(definition)];
  if (blackouts.length > 0 && !isOver)
    return `its ${calendars.length === 0 ? "blackouts leave" : "calendars and blackouts leave"} no time: ${[...calendars, ...blackouts.map(({ text }) => text)].join(", ")}`;
  if (calendars.length > 0 && !isOver)
    return `its calendars leave no day${end === undefined ? "" : " before its end"}: ${calendars.join(", ")}`;
  if (plan.kind === "once") return `${formatIso(plan.at)} has passed`;
  if (end !== undefined)
    return `${quoteText(formatCronText(cron))} has no occurrence before its end, ${formatIso(end)}`;
  return `the clocks of ${timezone} skip ${quoteText(formatCronText(cron))} every year; use another hour, or the time zone UTC`;
}
