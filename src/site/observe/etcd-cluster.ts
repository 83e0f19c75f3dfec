import { addMs, type Millis, mapAtMost, subtractTime, type WallTime } from "../../core/base/clock.ts";
import { type MemberMetrics, readMemberMetrics } from "../../core/etcd/member-metrics.ts";
import type { StoreOptions } from "../../core/etcd/options.ts";
import { type MemberStatus, runWithDeadline, StoreError } from "../../core/etcd/store.ts";
import type { ParsedKey } from "../../core/protocol/keys.ts";
import { type ClusterMember, findTopStatus } from "../../core/protocol/member.ts";
import type { KeyValue } from "../../core/protocol/txn.ts";
import type { ObserverPorts } from "./ports.ts";
import type { SessionTimeToLive } from "./runner-liveness.ts";

/** The members of a cluster, as far as they could be read. */
interface ClusterReading {
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

/** Pause after an answer, ms. An outage is therefore detected at most 2.5 s after it begins. */
const PROBE_PAUSE_MS = 1_000;

export type EtcdHealth =
  /** The cluster answers. `up`, `total` and `leader` are from the last read of the members. */
  | ({ kind: "answer" } & ProbeAnswer & ClusterSummary)
  /**
   * The cluster does not answer, or refuses; `since` is when the first failed call began
   * epoch. `reading` is that of the members, if there was one.
   */
  | { kind: "silence"; since: WallTime; error: StoreError; reading: ClusterReading | undefined };

/**
 * Reports about once a second whether etcd answers, until the caller stops. Each answer comes from a linearizable read
 * (see `probeEtcd`), so it proves that a majority of the cluster is available. A frozen member, a connection that drops
 * everything, and a minority that still serves its own data count as silence. The members are counted in parallel, so a
 * frozen member delays no report.
 * @throws the signal's reason, nothing else
 */
export async function* watchEtcdHealth(
  ports: ObserverPorts,
  { tls }: Pick<StoreOptions, "tls">,
  signal: AbortSignal,
): AsyncGenerator<EtcdHealth, never> {
  const { clock } = ports;
  const summaries = new ClusterSummaryReader(ports, tls);
  for (let since: WallTime | undefined; ; ) {
    const start = clock.getWallTime();
    const counting = summaries.readLatest(signal);
    try {
      const answer = await probeEtcd(ports, signal);
      since = undefined;
      yield { kind: "answer", ...answer, ...(await counting) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof StoreError)) throw error;
      since ??= start;
      yield { kind: "silence", since, error, reading: summaries.last?.reading };
    }
    await clock.sleep(PROBE_PAUSE_MS, signal);
  }
}

/** The members and the leader of a cluster. */
interface ClusterSummary {
  /**
   * Name of the leader, or its address if the name is unknown; undefined when there is no leader, or no member names
   * it.
   */
  leader: string | undefined;
  /** Number of members that are available (`up`) and of configured members (`total`). */
  up: number;
  total: number;
  /** The lowest version of etcd among the members. */
  version: string | undefined;
  /** Alarms and errors that members report, each once. */
  faults: readonly string[];
  /** The metrics are those of when a member was read first, and only of members that report their status. */
  reading: ClusterReading;
}

/** Timeout of the metrics, ms. They may not be available at all, and the first report waits for them. */
const METRICS_PATIENCE = 2_000;

/**
 * Reads the status of each member. Reads the list of members and what they publish once, and again when something has
 * changed: another leader, a member that does not answer or was not known.
 */
class ClusterSummaryReader {
  readonly #ports: ObserverPorts;
  readonly #tls: StoreOptions["tls"];
  #roster: readonly ClusterMember[] = [];
  readonly #metrics = new Map<string, MemberMetrics>();
  last: ClusterSummary | undefined;
  #reading: Promise<ClusterSummary> | undefined;

  constructor(ports: ObserverPorts, tls: StoreOptions["tls"]) {
    this.#ports = ports;
    this.#tls = tls;
  }

  /** Returns the last summary while a new one is being read; a promise only for the first one. */
  readLatest(signal: AbortSignal): ClusterSummary | Promise<ClusterSummary> {
    this.#reading ??= this.read(signal).finally(() => {
      this.#reading = undefined;
    });
    this.#reading.then(
      (summary) => {
        this.last = summary;
      },
      () => {}, // reported where it is awaited; other callers retry
    );
    return this.last ?? this.#reading;
  }

  /** Waits for the slowest member, or for the timeout of one that does not answer. @throws the signal's reason */
  async read(signal: AbortSignal): Promise<ClusterSummary> {
    const all = await this.#ports.store.readMemberStatuses(signal);
    const present = all.filter((one) => one.ok);
    // A member that refuses the call is available.
    const refusing = all.filter((one) => !one.ok && !isAway(one));
    const id = findTopStatus(present)?.leaderId ?? 0n; // 0: there is no leader
    const known = new Set(this.#roster.map((member) => member.id));
    const isOther = all.some((one) => (one.ok ? !known.has(one.memberId) : isAway(one)));
    await Promise.all([
      isOther || (id !== 0n && !known.has(id)) ? this.#readRoster(signal) : undefined,
      ...all.map((status) => this.#readMetrics(status, signal)),
    ]);
    const name = this.#roster.find((member) => member.id === id)?.name;
    return {
      leader: name || present.find(({ memberId }) => memberId === id)?.endpoint,
      up: present.length + refusing.length,
      total: all.length,
      version: present
        .map(({ version }) => version)
        .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))[0],
      faults: [...new Set(present.flatMap(({ errors }) => errors.map((error) => error.trim())))].sort(),
      reading: { roster: this.#roster, statuses: all, metrics: new Map(this.#metrics) },
    };
  }

  async #readRoster(signal: AbortSignal): Promise<void> {
    try {
      this.#roster = await this.#ports.store.listMembers(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof StoreError)) throw error; // use the address instead
    }
  }

  /** Those of a member that is away are forgotten: it may be started again with others. */
  async #readMetrics(status: MemberStatus, signal: AbortSignal): Promise<void> {
    const { endpoint, ok } = status;
    if (!ok) this.#metrics.delete(endpoint);
    else if (!this.#metrics.has(endpoint)) {
      const { clock } = this.#ports;
      const read = (limit: AbortSignal) => readMemberMetrics(endpoint, this.#tls, clock.getWallTime, limit);
      const until = addMs(clock.now(), METRICS_PATIENCE);
      this.#metrics.set(endpoint, await runWithDeadline(clock, until, read, signal));
    }
  }
}

function isAway(status: MemberStatus): boolean {
  return !status.ok && status.error.kind === "unavailable";
}

/** Timeout of a probe, ms. */
const PROBE_TIMEOUT_MS = 1_500;

/** The result of a probe. */
interface ProbeAnswer {
  /** Round trip, ms. */
  ms: Millis;
  /** The revision of etcd when the probe was sent, or a later one. */
  revision: bigint;
}

/**
 * Sends one cheap linearizable read: one key, without its value. Before the member answers, it confirms that a majority
 * still follows the same leader. So an answer proves that changes are possible and that `revision` is current; a member
 * that is cut off from the others, and still serves its own data, cannot answer. The probe says nothing about what
 * watches have delivered.
 * @throws StoreError `unavailable` when there is no answer within 1.5 s, independent of other timeouts
 */
export async function probeEtcd(
  { store, keys, clock }: ObserverPorts,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const start = clock.now();
  const read = (limited: AbortSignal) =>
    store.readRange({ key: keys.prefix, keysOnly: true, limit: 1 }, limited);
  const { revision } = await runWithDeadline(clock, addMs(start, PROBE_TIMEOUT_MS), read, signal);
  return { ms: subtractTime(clock.now(), start), revision };
}
