import { type RangeRead, StoreError } from "../../core/etcd/store.ts";
import type { KeyValue } from "../../core/protocol/txn.ts";
import type { ObserverPorts } from "./ports.ts";
import { readSessionLiveness, type SessionTimeToLive } from "./runner-liveness.ts";

/** A key as etcd has it. */
export interface RawKey extends KeyValue {
  /** The time to live of its session; undefined if it has none or the session is gone, null if that could not be read. */
  lease: SessionTimeToLive;
}

/** An earlier value of a key, or why there is none. */
type EarlierValue = { kv: KeyValue } | { end: "created" | "compacted" };

type RawPorts = Pick<ObserverPorts, "store">;

/**
 * Reads keys as they are, all at one revision.
 * @param limit  maximum number of keys
 * @throws StoreError, the signal's reason
 */
export async function readRawKeys(
  ports: RawPorts,
  ranges: readonly RangeRead[],
  { limit, signal }: { limit: number; signal: AbortSignal },
): Promise<{ revision: bigint; entries: RawKey[]; hasMore: boolean }> {
  let revision: bigint | undefined;
  const found: KeyValue[] = [];
  let hasMore = false;
  for (const range of ranges) {
    const left = limit - found.length;
    if (left <= 0) {
      hasMore = true;
      break;
    }
    const page = await ports.store.readRange({ ...range, revision, limit: left }, signal);
    revision ??= page.revision;
    found.push(...page.kvs);
    hasMore ||= page.more;
  }
  const leases = await readSessionLiveness(
    ports,
    found.map(({ session }) => session),
    signal,
  );
  return {
    revision: revision ?? 0n,
    entries: found.map((kv) => ({ ...kv, lease: leases.get(kv.session) })),
    hasMore,
  };
}

/**
 * Reads the value that a key had before this one.
 * @param binaryValues  as in `RangeRead`
 * @throws StoreError other than `compacted`, the signal's reason
 */
export async function readEarlierValue(
  { store }: RawPorts,
  { key, modRevision, createRevision }: KeyValue,
  signal: AbortSignal,
  binaryValues = false,
): Promise<EarlierValue> {
  if (modRevision <= createRevision) return { end: "created" };
  try {
    const { kvs } = await store.readRange({ key, revision: modRevision - 1n, binaryValues }, signal);
    const [kv] = kvs;
    return kv === undefined ? { end: "created" } : { kv };
  } catch (error) {
    if (error instanceof StoreError && error.kind === "compacted") return { end: "compacted" };
    throw error;
  }
}
