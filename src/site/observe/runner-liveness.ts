import { mapAtMost, type Seconds } from "../../core/base/clock.ts";
import { StoreError } from "../../core/etcd/store.ts";
import type { QueueEntry, Ticket } from "../../core/protocol/ticket.ts";
import type { ObserverPorts } from "./ports.ts";

/** A key whose session tells whether its runner is alive. Without a ticket, it is that of a worker. */
export type RunnerKey = Pick<QueueEntry, "session"> & {
  ticket?: Pick<Ticket, "host" | "call"> | undefined;
};

/** The state of a session. `isShared`: it is that of an agent, and lives on when one of its runs has ended. */
type RunnerTimeToLive = (NonNullable<SessionTimeToLive> & { isShared?: boolean }) | undefined | null;

type LivenessPorts = Pick<ObserverPorts, "store" | "keys">;

/** Selects one key of each session, at most a number. */
export function selectFirstSessions(keys: Iterable<RunnerKey>, most: number): RunnerKey[] {
  const first = new Map<bigint, RunnerKey>();
  let last = 0n;
  for (const key of keys) {
    if (first.size === most) break;
    if (key.session === last) continue; // an agent has thousands of runs on a session
    last = key.session;
    if (last !== 0n && !first.has(last)) first.set(last, key);
  }
  return [...first.values()];
}

/**
 * Reads the remaining time of the sessions of runs, and which of them agents share among many runs.
 * @param keys  one for each session
 * @throws the signal's reason
 */
export async function readRunnerLiveness(
  ports: LivenessPorts,
  keys: readonly RunnerKey[],
  signal?: AbortSignal,
): Promise<Map<bigint, RunnerTimeToLive>> {
  const sessions = keys.map(({ session }) => session);
  const [found, shared] = await Promise.all([
    readSessionLiveness(ports, sessions, signal),
    findSharedSessions(ports, keys, signal),
  ]);
  return new Map(
    [...found].map(([session, left]) => [session, left && { ...left, isShared: shared.has(session) }]),
  );
}

async function findSharedSessions(
  ports: LivenessPorts,
  keys: readonly RunnerKey[],
  signal?: AbortSignal,
): Promise<ReadonlySet<bigint>> {
  const shared = new Set<bigint>();
  const called = keys.filter(({ ticket }) => ticket?.call !== undefined); // others are not of a launcher
  await Promise.all(
    called.map(async (key) => {
      if (await isShared(ports, key, signal)) shared.add(key.session);
    }),
  );
  return shared;
}

/** A session is an agent's if the agent's key is on it. A run can state another name for its host than its agent does. */
async function isShared(
  { store, keys }: LivenessPorts,
  { session, ticket }: RunnerKey,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    const key = keys.agentSession(ticket?.host ?? "", session);
    const { kvs } = await store.readRange({ key, keysOnly: true, limit: 1 }, signal);
    if (kvs.length > 0) return true;
    const own = await store.listSessionKeys(session, signal);
    return own.some((one) => keys.parse(one).kind === "agentSession");
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof StoreError)) throw error;
    return true; // it may be: its renewal then proves nothing about the run
  }
}

/** Seconds left and granted, whole numbers; undefined: the session is gone; null: the read failed. */
export type SessionTimeToLive = { left: Seconds; ttl: Seconds } | undefined | null;

/** Number of concurrent reads. */
const AT_ONCE = 8;

/**
 * Reads the remaining time of sessions. A failed read of one session does not affect the others.
 * @param sessions  0n, from a key without a session, is ignored
 * @throws the signal's reason
 */
export async function readSessionLiveness(
  ports: Pick<ObserverPorts, "store">,
  sessions: Iterable<bigint>,
  signal?: AbortSignal,
): Promise<Map<bigint, SessionTimeToLive>> {
  const wanted = [...new Set(sessions)].filter((id) => id !== 0n);
  const found = await mapAtMost(
    wanted,
    AT_ONCE,
    async (id) => [id, await readLiveness(ports, id, signal)] as const,
  );
  return new Map(found);
}

async function readLiveness(
  { store }: Pick<ObserverPorts, "store">,
  id: bigint,
  signal?: AbortSignal,
): Promise<SessionTimeToLive> {
  try {
    return await store.readTimeToLive(id, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof StoreError)) throw error;
    return null;
  }
}
