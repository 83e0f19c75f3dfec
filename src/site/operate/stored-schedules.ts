import type { ParseResult } from "../../core/base/text.ts";
import { guardNotNewer, guardRevision } from "../../core/protocol/guards.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import {
  type Compare,
  findFirstKey,
  type KeyValue,
  listKeyValues,
  type Op,
} from "../../core/protocol/txn.ts";
import { type Calendar, parseCalendar } from "../../schedule/calendar/calendar.ts";
import { type CalendarFields, listCalendarNames } from "../../schedule/calendar/day-rule.ts";
import { type Definition, parseDefinition, runsOnEveryHost } from "../../schedule/definition.ts";
import { type DueState, parseDue } from "../../schedule/state/due.ts";
import { mergeHostStates, type ShownDue } from "../../schedule/state/host-states.ts";
import { type OutcomeHistory, parseOutcomes } from "../../schedule/state/outcome.ts";
import { commitWithRetries, type ObserverPorts, readWithRetries } from "../observe/ports.ts";
import { load } from "../observe/read.ts";

/** A schedule as read from etcd, or its part on a host. A `mod_revision` is 0n if the key does not exist. */
export interface StoredSchedule {
  readonly id: string;
  /** The host, in a part of a schedule that runs on every host: state and outcomes are those of the host. */
  readonly host?: string;
  /** The parts on hosts, by name. Absent if there are none. */
  readonly hosts?: readonly StoredSchedule[];
  readonly definitionMod: bigint;
  readonly definition?: Definition;
  /** Why the definition cannot be read. */
  readonly fault?: string;
  readonly dueMod: bigint;
  /** Also undefined if it cannot be read. */
  readonly due?: DueState;
  readonly outcomesMod: bigint;
  readonly outcomes: OutcomeHistory;
}

/** Returns the state to show: if it runs on every host, what the states of the hosts have in common. */
export function getShownDue({ due, hosts = [] }: StoredSchedule): ShownDue | undefined {
  const states = hosts.flatMap((part) => (part.due ? [[part.host ?? "", part.due] as const] : []));
  return states.length === 0 ? due : mergeHostStates(due, new Map(states));
}

/** Planned change of a schedule. Fields that are not set stay unchanged. */
export interface PlannedChange {
  readonly before: StoredSchedule;
  readonly definition?: Definition;
  readonly due?: DueState;
  readonly outcomes?: OutcomeHistory;
  readonly isDeleted?: true;
  /** With which the outcomes of what is deleted expire. Undefined: they are deleted too. */
  readonly resultSession?: bigint;
  /** It is added under a random id: nothing else can have it, so it needs no guard. */
  readonly isUnique?: true;
}

/** Counts the schedules that change: one that runs on every host changes with the states of its hosts. */
export function countSchedules(
  changes: readonly PlannedChange[],
): Record<"added" | "changed" | "deleted", number> {
  const count = (some: readonly PlannedChange[]) => new Set(some.map(({ before }) => before.id)).size;
  const deleted = count(changes.filter(({ isDeleted }) => isDeleted));
  const added = count(changes.filter(({ before }) => before.definitionMod === 0n));
  return { added, changed: count(changes) - added - deleted, deleted };
}

/** Creates a schedule that does not exist. */
export function createMissingSchedule(id: string): StoredSchedule {
  return { id, definitionMod: 0n, dueMod: 0n, outcomesMod: 0n, outcomes: { runs: [], dead: [] } };
}

/**
 * Schedules by id: the requested ones, or all. The result of reading requested ids includes schedules that do not
 * exist.
 */
export interface ScheduleReadResult {
  /** Revision of the oldest read. */
  readonly revision: bigint;
  readonly schedules: ReadonlyMap<string, StoredSchedule>;
  readonly calendars: ReadonlyMap<string, StoredCalendar>;
}

/** Schedules per transaction: three keys each, and etcd accepts 128 operations. */
const SCHEDULES_PER_TRANSACTION = 40;

/**
 * Reads some schedules. All keys of a schedule are read at one revision.
 * @throws StoreError
 */
export async function readStoredSchedules(
  ports: ObserverPorts,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<ScheduleReadResult> {
  const schedules = new Map<string, StoredSchedule>();
  let first: bigint | undefined;
  const { keys } = ports;
  const listKeys = (id: string) => [keys.schedule(id), keys.due(id), keys.outcomes(id)];
  for await (const { some, kvs, revision } of readInChunks(ports, [...new Set(ids)], listKeys, signal)) {
    first ??= revision;
    for (const [index, id] of some.entries())
      schedules.set(id, parseStoredSchedule(id, ...kvs.slice(3 * index, 3 * index + 3)));
  }
  const split = [...schedules.values()].filter(({ definition }) => runsOnEveryHost(definition));
  for (const one of split) schedules.set(one.id, await readHosts(ports, one, signal));
  // Read last: guards on the calendars that a change uses detect what changes between the reads.
  return { revision: first ?? 0n, schedules, calendars: await readCalendars(ports, signal) };
}

/** Adds the parts on hosts. A guard on their range detects what changes between the reads. */
async function readHosts(
  ports: ObserverPorts,
  schedule: StoredSchedule,
  signal?: AbortSignal,
): Promise<StoredSchedule> {
  const { dues, outcomes } = ports.keys.getHostStateRanges(schedule.id);
  const success: Op[] = [dues, outcomes].map((range) => ({ op: "range", ...range }));
  const { results } = await commitWithRetries(ports, { compare: [], success, failure: [] }, signal);
  const kvs = results.flatMap(listKeyValues);
  return addHosts(ports, schedule, kvs);
}

/**
 * Adds the parts of a schedule that runs on every host. Those of another one were left by an earlier version.
 * @param kvs  states and outcomes of its hosts
 */
function addHosts(
  { keys }: ObserverPorts,
  schedule: StoredSchedule,
  kvs: readonly KeyValue[],
): StoredSchedule {
  if (!runsOnEveryHost(schedule.definition)) return schedule;
  const byHost = new Map<string, { due?: KeyValue; outcomes?: KeyValue }>();
  for (const kv of kvs) {
    const parsed = keys.parse(kv.key);
    if ((parsed.kind !== "due" && parsed.kind !== "outcomes") || parsed.host === undefined) continue;
    byHost.set(parsed.host, { ...byHost.get(parsed.host), [parsed.kind]: kv });
  }
  const { id, definition, definitionMod } = schedule;
  const hosts = [...byHost].map(([host, { due, outcomes }]) => ({
    host,
    ...parseStoredSchedule(id, undefined, due, outcomes),
    definitionMod,
    ...(definition !== undefined && { definition }),
  }));
  return hosts.length === 0 ? schedule : { ...schedule, hosts };
}

/** Outcomes in one reading transaction: each may have ten results of 16 KiB. */
const OUTCOMES_PER_TRANSACTION = 10;

/**
 * Reads the outcomes of schedules that were removed, as long as they are kept.
 * @param isKnown  whether a schedule exists
 * @returns by id
 * @throws StoreError
 */
export async function readKeptOutcomes(
  ports: ObserverPorts,
  isKnown: (id: string) => boolean,
): Promise<Map<string, OutcomeHistory>> {
  const { keys } = ports;
  const { kvs } = await readWithRetries(ports, { ...keys.outcomeHistories(), keysOnly: true });
  const removed = kvs.flatMap(({ key, session }) => {
    const parsed = keys.parse(key);
    const isKept = session !== 0n && parsed.kind === "outcomes" && parsed.host === undefined;
    return isKept && !isKnown(parsed.name) ? [{ id: parsed.name, key }] : [];
  });
  const found = new Map<string, OutcomeHistory>();
  for (let from = 0; from < removed.length; from += OUTCOMES_PER_TRANSACTION) {
    const some = removed.slice(from, from + OUTCOMES_PER_TRANSACTION);
    const success = some.map(({ key }): Op => ({ op: "range", key }));
    const { results } = await commitWithRetries(ports, { compare: [], success, failure: [] });
    for (const [index, { id }] of some.entries()) {
      const kv = findFirstKey(results[index]);
      if (kv !== undefined) found.set(id, parseOutcomes(kv.value)); // otherwise it has expired meanwhile
    }
  }
  return found;
}

/**
 * Reads the existing definitions, states and running keys of some schedules.
 * @throws StoreError
 */
export async function* readScheduleKeys(
  ports: ObserverPorts,
  ids: readonly string[],
  signal?: AbortSignal,
): AsyncGenerator<KeyValue> {
  const { keys } = ports;
  const listKeys = (id: string) => [keys.schedule(id), keys.due(id), keys.running(id)];
  for await (const { kvs } of readInChunks(ports, ids, listKeys, signal))
    for (const kv of kvs) if (kv !== undefined) yield kv;
}

/** Reads three keys of each schedule, in the order of the ids. A key that does not exist is undefined. */
async function* readInChunks(
  ports: ObserverPorts,
  ids: readonly string[],
  listKeys: (id: string) => string[],
  signal: AbortSignal | undefined,
) {
  for (let from = 0; from < ids.length; from += SCHEDULES_PER_TRANSACTION) {
    const some = ids.slice(from, from + SCHEDULES_PER_TRANSACTION);
    const success = some.flatMap(listKeys).map((key): Op => ({ op: "range", key }));
    const { revision, results } = await commitWithRetries(
      ports,
      { compare: [], success, failure: [] },
      signal,
    );
    yield { some, revision, kvs: results.map(findFirstKey) };
  }
}

/**
 * Reads every schedule at one revision, without outcome histories.
 * @param at  the revision; undefined for the current one
 * @throws StoreError
 */
export async function readAllStoredSchedules(
  ports: ObserverPorts,
  signal?: AbortSignal,
  at?: bigint,
): Promise<ScheduleReadResult> {
  const { keys } = ports;
  const definitions = new Map<string, KeyValue>();
  const dues = new Map<string, KeyValue>();
  const hostDues = new Map<string, KeyValue[]>();
  const calendars = new Map<string, StoredCalendar>();
  const revision = await load(
    ports,
    {
      ranges: [keys.schedules(), keys.dues(), keys.calendars()],
      begin: () => {
        definitions.clear();
        dues.clear();
        hostDues.clear();
        calendars.clear();
      },
      add: (kv) => {
        const parsed = keys.parse(kv.key);
        if (parsed.kind === "schedule") definitions.set(parsed.name, kv);
        if (parsed.kind === "due" && parsed.host === undefined) dues.set(parsed.name, kv);
        if (parsed.kind === "due" && parsed.host !== undefined) {
          const hosts = hostDues.get(parsed.name) ?? [];
          hosts.push(kv);
          hostDues.set(parsed.name, hosts);
        }
        if (parsed.kind === "calendar") calendars.set(parsed.name, toStoredCalendar(kv));
      },
      finish: () => {},
    },
    { signal, revision: at },
  );
  const seen = [...definitions].map(([id, kv]) => {
    const schedule = parseStoredSchedule(id, kv, dues.get(id));
    return [id, addHosts(ports, schedule, hostDues.get(id) ?? [])] as const;
  });
  return { revision, schedules: new Map(seen), calendars };
}

/** Converts the keys of a schedule, as they were read. */
export function parseStoredSchedule(
  id: string,
  definition?: KeyValue,
  due?: KeyValue,
  outcomes?: KeyValue,
): StoredSchedule {
  const read = definition && parseDefinition(definition.value);
  const state = due && parseDue(due.value);
  return {
    id,
    definitionMod: definition?.modRevision ?? 0n,
    ...(read && ("value" in read ? { definition: read.value } : { fault: read.fault })),
    dueMod: due?.modRevision ?? 0n,
    ...(state && "value" in state && { due: state.value }),
    outcomesMod: outcomes?.modRevision ?? 0n,
    outcomes: parseOutcomes(outcomes?.value),
  };
}

/** A calendar as read from etcd, or why it cannot be read. */
export type StoredCalendar = ParseResult<Calendar> & { readonly mod: bigint };

function toStoredCalendar({ value, modRevision }: KeyValue): StoredCalendar {
  return { ...parseCalendar(value), mod: modRevision };
}

/**
 * Reads all calendars by name.
 * @throws StoreError
 */
export async function readCalendars(
  ports: ObserverPorts,
  signal?: AbortSignal,
): Promise<Map<string, StoredCalendar>> {
  const { kvs } = await readWithRetries(ports, ports.keys.calendars(), signal);
  const calendars = new Map<string, StoredCalendar>();
  for (const kv of kvs) {
    const parsed = ports.keys.parse(kv.key);
    if (parsed.kind === "calendar") calendars.set(parsed.name, toStoredCalendar(kv));
  }
  return calendars;
}

/** Largest number of calendars that are compared one by one: etcd accepts 128 comparisons. */
const MOST_COMPARED = 30;

/**
 * Builds guards on the calendars that definitions name: each must be as it was read, also if it did not exist. If there
 * are very many, no calendar may be newer than the newest one.
 */
export function guardCalendars(
  keys: Keys,
  definitions: readonly CalendarFields[],
  calendars: ReadonlyMap<string, StoredCalendar>,
): Compare[] {
  const names = new Set(definitions.flatMap(listCalendarNames));
  if (names.size > MOST_COMPARED) {
    const mods = [...calendars.values()].map(({ mod }) => mod);
    return guardNotNewer(
      mods.reduce((most, mod) => (mod > most ? mod : most), 0n),
      keys.calendars(),
    );
  }
  return [...names].map((name) => guardRevision(keys.calendar(name), calendars.get(name)?.mod ?? 0n));
}
