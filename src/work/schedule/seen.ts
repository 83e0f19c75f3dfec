import type { KeyValue, OpResult } from "../../protocol/txn.ts";
import { type Definition, parseDefinition } from "../../schedule/definition.ts";
import { type Due, parseDue } from "../../schedule/due.ts";
import { type Outcomes, parseOutcomes } from "../../schedule/outcome.ts";
import { type ObserverPorts, patiently } from "../observe/ports.ts";
import { load } from "../observe/read.ts";

/** A schedule as an operator saw it; `mod_revision`s are 0n where a key is not there. */
export interface Seen {
  readonly id: string;
  readonly definitionMod: bigint;
  readonly definition?: Definition;
  /** Why the definition cannot be read. */
  readonly fault?: string;
  readonly dueMod: bigint;
  /** Undefined as well where it cannot be read. */
  readonly due?: Due;
  readonly outcomesMod: bigint;
  readonly outcomes: Outcomes;
}

/** Schedules that were asked for, also those that are not there, or all there are, by id. */
export interface Sight {
  /** Of the oldest of the reads. */
  readonly revision: bigint;
  readonly schedules: ReadonlyMap<string, Seen>;
}

/** Schedules that are read in one transaction: three keys each, and etcd takes 128. */
const TOGETHER = 40;

/** Reads some schedules, each with all that belongs to it at one revision. @throws StoreError */
export async function readSeen(
  ports: ObserverPorts,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<Sight> {
  const schedules = new Map<string, Seen>();
  let first: bigint | undefined;
  const wanted = [...new Set(ids)];
  for (let from = 0; from < wanted.length; from += TOGETHER) {
    const some = wanted.slice(from, from + TOGETHER);
    const { revision, results } = await readSome(ports, some, signal);
    first ??= revision;
    const at = (index: number) => keyIn(results[index]);
    for (const [index, id] of some.entries())
      schedules.set(id, seenOf(id, at(3 * index), at(3 * index + 1), at(3 * index + 2)));
  }
  return { revision: first ?? 0n, schedules };
}

async function readSome(ports: ObserverPorts, ids: readonly string[], signal: AbortSignal | undefined) {
  const { keys, store } = ports;
  const wanted = ids.flatMap((id) => [keys.schedule(id), keys.due(id), keys.outcomes(id)]);
  const success = wanted.map((key) => ({ op: "range", key }) as const);
  return await patiently(ports, (call) => store.txn({ compare: [], success, failure: [] }, call), signal);
}

function keyIn(result: OpResult | undefined): KeyValue | undefined {
  return result?.op === "range" ? result.kvs[0] : undefined;
}

/** Reads every schedule at one revision, without what they remember. @throws StoreError */
export async function readAllSeen(ports: ObserverPorts, signal?: AbortSignal): Promise<Sight> {
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
      see: (kv) => {
        const parsed = keys.parse(kv.key);
        if (parsed.kind === "schedule") definitions.set(parsed.name, kv);
        if (parsed.kind === "due") dues.set(parsed.name, kv);
      },
      finish: () => {},
    },
    { signal },
  );
  const seen = [...definitions].map(([id, kv]) => [id, seenOf(id, kv, dues.get(id), undefined)] as const);
  return { revision, schedules: new Map(seen) };
}

function seenOf(
  id: string,
  definition: KeyValue | undefined,
  due: KeyValue | undefined,
  outcomes: KeyValue | undefined,
): Seen {
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
