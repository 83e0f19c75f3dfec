import { commitWithRetries, type ObserverPorts } from "../observe/ports.ts";
import { load } from "../observe/read.ts";
import { findFirstKey, type KeyValue, type Op } from "../protocol/txn.ts";
import { type Definition, parseDefinition } from "../schedule/definition.ts";
import { type DueState, parseDue } from "../schedule/state/due.ts";
import { type OutcomeHistory, parseOutcomes } from "../schedule/state/outcome.ts";
import { readCalendars, type StoredCalendar, toStoredCalendar } from "./stored-calendars.ts";

/** A schedule as read from etcd. A `mod_revision` is 0n if the key does not exist. */
export interface StoredSchedule {
  readonly id: string;
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

/** Planned change of a schedule. Fields that are not set stay unchanged. */
export interface PlannedChange {
  readonly before: StoredSchedule;
  readonly definition?: Definition;
  readonly due?: DueState;
  readonly outcomes?: OutcomeHistory;
  readonly isDeleted?: true;
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
  /** All calendars. */
  readonly calendars: ReadonlyMap<string, StoredCalendar>;
}

/** Schedules per transaction: three keys each, and etcd accepts 128 operations. */
const TOGETHER = 40;

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
  // Read last: guards on the calendars that a change uses detect what changes between the reads.
  return { revision: first ?? 0n, schedules, calendars: await readCalendars(ports, signal) };
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
  for (let from = 0; from < ids.length; from += TOGETHER) {
    const some = ids.slice(from, from + TOGETHER);
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
  const calendars = new Map<string, StoredCalendar>();
  const revision = await load(
    ports,
    {
      ranges: [keys.schedules(), keys.dues(), keys.calendars()],
      begin: () => {
        definitions.clear();
        dues.clear();
        calendars.clear();
      },
      add: (kv) => {
        const parsed = keys.parse(kv.key);
        if (parsed.kind === "schedule") definitions.set(parsed.name, kv);
        if (parsed.kind === "due") dues.set(parsed.name, kv);
        if (parsed.kind === "calendar") calendars.set(parsed.name, toStoredCalendar(kv));
      },
      finish: () => {},
    },
    { signal, revision: at },
  );
  const seen = [...definitions].map(([id, kv]) => [id, parseStoredSchedule(id, kv, dues.get(id))] as const);
  return { revision, schedules: new Map(seen), calendars };
}

function parseStoredSchedule(
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
