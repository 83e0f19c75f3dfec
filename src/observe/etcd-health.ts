import { OVER } from "../base/wait.ts";
import { type ClusterMember, type MemberStatus, StoreError } from "../etcd/store.ts";
import type { ObserverPorts } from "./ports.ts";

/** Pause after an answer, ms. An outage is therefore detected at most 2.5 s after it begins. */
const EVERY = 1_000;

export type EtcdHealth =
  /** The cluster answers. `up`, `total` and `leader` are from the last read of the members. */
  | ({ kind: "answer" } & ProbeAnswer & ClusterSummary)
  /**
   * The cluster does not answer, or refuses; `since` is when the first failed call began, wall clock, ms since the
   * epoch.
   */
  | { kind: "silence"; since: number; error: StoreError };

/**
 * Reports about once a second whether etcd answers, until the caller stops. Each answer comes from a linearizable read
 * (see `probeEtcd`), so it proves that a majority of the cluster is available. A frozen member, a connection that drops
 * everything, and a minority that still serves its own data count as silence. The members are counted in parallel, so a
 * frozen member delays no report.
 * @throws the signal's reason, nothing else
 */
export async function* watchEtcdHealth(
  ports: ObserverPorts,
  signal: AbortSignal,
): AsyncGenerator<EtcdHealth, never> {
  const { clock } = ports;
  const summaries = new ClusterSummaryReader(ports);
  for (let since: number | undefined; ; ) {
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
      yield { kind: "silence", since, error };
    }
    await clock.sleep(EVERY, signal);
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
}

type AnsweringMember = Extract<MemberStatus, { ok: true }>;

/** Reads the status of each member. Reads the members' names once, and again when the leader is not among them. */
class ClusterSummaryReader {
  readonly #ports: Pick<ObserverPorts, "store">;
  #roster: readonly ClusterMember[] = [];
  #last: ClusterSummary | undefined;
  #reading: Promise<ClusterSummary> | undefined;

  constructor(ports: Pick<ObserverPorts, "store">) {
    this.#ports = ports;
  }

  /** Returns the last summary while a new one is being read; a promise only for the first one. */
  readLatest(signal: AbortSignal): ClusterSummary | Promise<ClusterSummary> {
    this.#reading ??= this.read(signal).finally(() => {
      this.#reading = undefined;
    });
    this.#reading.then(
      (summary) => {
        this.#last = summary;
      },
      () => {}, // reported where it is awaited; other callers retry
    );
    return this.#last ?? this.#reading;
  }

  /** Waits for the slowest member, or for the timeout of one that does not answer. @throws the signal's reason */
  async read(signal: AbortSignal): Promise<ClusterSummary> {
    const all = await this.#ports.store.readMemberStatuses(signal);
    const present = all.filter((one) => one.ok);
    // A member that refuses the call is available.
    const refusing = all.filter((one) => !one.ok && one.error.kind !== "unavailable");
    return {
      leader: await this.#findLeader(present, signal),
      up: present.length + refusing.length,
      total: all.length,
      version: present.map(({ version }) => version).sort(compareVersions)[0],
    };
  }

  async #findLeader(present: readonly AnsweringMember[], signal: AbortSignal): Promise<string | undefined> {
    // A member that is cut off keeps naming the last leader it had. The highest term is current.
    const newest = present.reduce<AnsweringMember | undefined>(
      (best, one) => (best === undefined || one.raftTerm > best.raftTerm ? one : best),
      undefined,
    );
    const id = newest?.leaderId ?? 0n;
    if (id === 0n) return undefined;
    const findName = () => this.#roster.find((member) => member.id === id)?.name;
    if (findName() === undefined) await this.#readMemberNames(signal);
    return findName() || present.find(({ memberId }) => memberId === id)?.endpoint;
  }

  async #readMemberNames(signal: AbortSignal): Promise<void> {
    try {
      this.#roster = await this.#ports.store.listMembers(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof StoreError)) throw error; // use the address instead
    }
  }
}

function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

/** Timeout of a probe, ms. */
const PATIENCE = 1_500;

/** The result of a probe. */
interface ProbeAnswer {
  /** Round trip, ms. */
  ms: number;
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
  const stop = new AbortController();
  const over = new AbortController();
  const abortLate = () => stop.abort(new StoreError("unavailable", `no answer within ${PATIENCE} ms`));
  void clock.sleep(PATIENCE, over.signal).then(abortLate, () => {}); // rejected: the answer arrived
  const start = clock.now();
  try {
    const either = AbortSignal.any([signal, stop.signal]);
    const { revision } = await store.readRange({ key: keys.prefix, keysOnly: true, limit: 1 }, either);
    return { ms: clock.now() - start, revision };
  } finally {
    over.abort(OVER);
  }
}
