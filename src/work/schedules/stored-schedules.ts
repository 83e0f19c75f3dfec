import { findFirstKey, type KeyValue } from "../../protocol/txn.ts";
import { type Definition, parseDefinition } from "../../schedule/definition.ts";
import { type DueState, parseDue } from "../../schedule/state/due.ts";
import { type OutcomeHistory, parseOutcomes } from "../../schedule/state/outcome.ts";
import { type ObserverPorts, retryUntilConnectTimeout } from "../observe/ports.ts";
import { load } from "../observe/read.ts";

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

/**
 * Schedules by id: the requested ones, or all. The result of reading requested ids includes schedules that do not
 * exist.
 */
export interface ScheduleReadResult {
  /** Revision of the oldest read. */
  readonly revision: bigint;
  readonly schedules: ReadonlyMap<string, StoredSchedule>;
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
  const wanted = [...new Set(ids)];
  for (let from = 0; from < wanted.length; from += TOGETHER) {
    const some = wanted.slice(from, from + TOGETHER);
    const { revision, results } = await readScheduleChunk(ports, some, signal);
    first ??= revision;
    const getKey = (index: number) => findFirstKey(results[index]);
    for (const [index, id] of some.entries())
      schedules.set(
        id,
        parseStoredSchedule(id, getKey(3 * index), getKey(3 * index + 1), getKey(3 * index + 2)),
      );
  }
  return { revision: first ?? 0n, schedules };
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
  for (let from = 0; from < ids.length; from += TOGETHER) {
    const some = ids.slice(from, from + TOGETHER);
    const wanted = some.flatMap((id) => [keys.schedule(id), keys.due(id), keys.running(id)]);
    const { results } = await readKeys(ports, wanted, signal);
    for (const result of results) if (result.op === "range") yield* result.kvs;
  }
}

async function readScheduleChunk(
  ports: ObserverPorts,
  ids: readonly string[],
  signal: AbortSignal | undefined,
) {
  const { keys } = ports;
  const wanted = ids.flatMap((id) => [keys.schedule(id), keys.due(id), keys.outcomes(id)]);
  return await readKeys(ports, wanted, signal);
}

async function readKeys(ports: ObserverPorts, wanted: readonly string[], signal: AbortSignal | undefined) {
  const { store } = ports;
  const success = wanted.map((key) => ({ op: "range", key }) as const);
  return await retryUntilConnectTimeout(
    ports,
    (call) => store.commitTxn({ compare: [], success, failure: [] }, call),
    signal,
  );
}

/**
 * Reads every schedule at one revision, without outcome histories.
 * @throws StoreError
 */
export async function readAllStoredSchedules(
  ports: ObserverPorts,
  signal?: AbortSignal,
): Promise<ScheduleReadResult> {
  const { keys } = ports;
  const definitions = new Map<string, KeyValue>();
  const dues = new Map<string, KeyValue>();
  const revision = await load(
    ports,
    {
      ranges: [keys.schedules(), keys.dues()],
      begin: () => {
        definitions.clear();
        dues.clear();
      },
      add: (kv) => {
        const parsed = keys.parse(kv.key);
        if (parsed.kind === "schedule") definitions.set(parsed.name, kv);
        if (parsed.kind === "due") dues.set(parsed.name, kv);
      },
      finish: () => {},
    },
    { signal },
  );
  const seen = [...definitions].map(
    ([id, kv]) => [id, parseStoredSchedule(id, kv, dues.get(id), undefined)] as const,
  );
  return { revision, schedules: new Map(seen) };
}

function parseStoredSchedule(
  id: string,
  definition: KeyValue | undefined,
  due: KeyValue | undefined,
  outcomes: KeyValue | undefined,
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
