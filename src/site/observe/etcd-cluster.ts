import { mapAtMost } from "../../core/base/wait.ts";
import { type MemberMetrics, readMemberMetrics } from "../../core/etcd/member-metrics.ts";
import type { StoreOptions } from "../../core/etcd/options.ts";
import { type MemberStatus, StoreError } from "../../core/etcd/store.ts";
import type { ParsedKey } from "../../core/protocol/keys.ts";
import type { ClusterMember } from "../../core/protocol/member.ts";
import type { KeyValue } from "../../core/protocol/txn.ts";
import type { ObserverPorts } from "./ports.ts";
import type { SessionTimeToLive } from "./runner-liveness.ts";

/** The members of a cluster, as far as they could be read. */
export interface ClusterReading {
  /** The members of the cluster, as one of them knows them, or why no member says it. */
  roster: readonly ClusterMember[] | StoreError;
  /** One for each endpoint. */
  statuses: readonly MemberStatus[];
  /** What members publish outside the API, by endpoint. */
  metrics: ReadonlyMap<string, MemberMetrics>;
}

/**
 * Asks all members at the same time. A member that does not answer delays the result by the timeout of an attempt, and does
 * not make it fail.
 * @throws the signal's reason
 */
export async function readCluster(
  { store, clock }: Pick<ObserverPorts, "store" | "clock">,
  { tls }: Pick<StoreOptions, "tls">,
  signal: AbortSignal,
): Promise<ClusterReading> {
  const [statuses, roster] = await Promise.all([
    store.readMemberStatuses(signal),
    store.listMembers(signal).catch((error: unknown) => {
      signal.throwIfAborted();
      if (error instanceof StoreError) return error;
      throw error;
    }),
  ]);
  const present = statuses.filter((status) => status.ok || status.error.kind !== "unavailable");
  const metrics = await Promise.all(
    present.map(
      async ({ endpoint }) =>
        [endpoint, await readMemberMetrics(endpoint, tls, clock.getWallTime, signal)] as const,
    ),
  );
  return { roster, statuses, metrics: new Map(metrics) };
}

/** Requests at the same time. */
const AT_ONCE = 8;
/** Keys of a session that are returned; the others are only counted. */
const MOST_KEYS = 100;

/** The keys that say whose a session is, the best first. */
const OWNER_KEYS: readonly ParsedKey["kind"][] = [
  "agentSession",
  "worker",
  "lock",
  "resource",
  "running",
  "outputRequest",
];

/** A session of signalbox or of another program. */
interface SessionReading {
  id: bigint;
  /** Undefined if it has ended meanwhile. */
  time: SessionTimeToLive;
  keys: readonly string[];
  /** Number of keys, with those that are not returned. */
  keyCount: number;
  /** The key of signalbox that says whose the session is. */
  owner: KeyValue | undefined;
  /** Why its keys could not be read. */
  fault: string | undefined;
}

type SessionPorts = Pick<ObserverPorts, "store" | "keys">;

/**
 * Reads the sessions of all programs. Each is asked for by itself, so only the first ones are: those that end soonest, if the member that
 * answers is the leader.
 * @returns how many there are; and the first `limit` of them
 * @throws StoreError, the signal's reason
 */
export async function readSessions(
  ports: SessionPorts,
  limit: number,
  signal: AbortSignal,
): Promise<{ count: number; sessions: SessionReading[] }> {
  const ids = await ports.store.listSessions(signal);
  const sessions = await mapAtMost(ids.slice(0, limit), AT_ONCE, (id) => readSession(ports, id, signal));
  return { count: ids.length, sessions };
}

async function readSession(ports: SessionPorts, id: bigint, signal: AbortSignal): Promise<SessionReading> {
  const time = await ports.store.readTimeToLive(id, signal);
  try {
    const keys = await ports.store.listSessionKeys(id, signal);
    const owner = await readOwner(ports, keys, signal);
    return { id, time, keys: keys.slice(0, MOST_KEYS), keyCount: keys.length, owner, fault: undefined };
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== "permission") throw error;
    return { id, time, keys: [], keyCount: 0, owner: undefined, fault: error.message };
  }
}

async function readOwner(
  { store, keys }: SessionPorts,
  owned: readonly string[],
  signal: AbortSignal,
): Promise<KeyValue | undefined> {
  const byKind = new Map(owned.map((key) => [keys.parse(key).kind, key]));
  const [key] = OWNER_KEYS.flatMap((kind) => byKind.get(kind) ?? []);
  return key === undefined ? undefined : (await store.readRange({ key }, signal)).kvs[0];
}
