import { HealthFollower } from "../cli/commands/see/live-output.ts";
import { type CommandContext, InterruptedError } from "../cli/frame/store-command.ts";
import { type MonotonicTime, subtractTime, type WallTime } from "../core/base/clock.ts";
import { EXIT } from "../core/base/errors.ts";
import { clean } from "../core/base/text.ts";
import { delegateStore, isUnavailable, type Store, StoreError } from "../core/etcd/store.ts";
import type { KeyValue } from "../core/protocol/txn.ts";
import type { EtcdHealth } from "../site/observe/etcd-cluster.ts";
import { type FollowEvent, followEtcd } from "../site/observe/follow.ts";
import { SNAPSHOT_COLLECTIONS, type Snapshot } from "../site/state/snapshot.ts";
import { SnapshotBuilder } from "../site/state/snapshot-builder.ts";

/** What is known of the site. */
export interface SiteState {
  snapshot: Snapshot;
  /** Whether everything was read once. */
  isRead: boolean;
  /** Since when the snapshot may be old; undefined while etcd answers. */
  awaySince: WallTime | undefined;
  health: EtcdHealth | undefined;
}

/** Pause before it tries again if etcd cannot be reached at the start, in ms. */
const RETRY_PAUSE_MS = 5_000;

/** Follows everything in etcd with one watch, for all viewers. */
export class SiteFollower {
  readonly #context: CommandContext;
  readonly #builder: SnapshotBuilder;
  readonly #health: HealthFollower;
  #isRead = false;
  #awaySince: WallTime | undefined;

  /** @param showsOutput  whether the snapshot has the last lines of output of runs */
  constructor(context: CommandContext, showsOutput: boolean) {
    this.#context = context;
    const Builder = showsOutput ? SnapshotBuilder : OutputlessBuilder;
    this.#builder = new Builder(context.keys, [...SNAPSHOT_COLLECTIONS, "outcomeHistories"]);
    this.#health = new HealthFollower(context);
    this.#awaySince = context.clock.getWallTime();
  }

  getState(): SiteState {
    const snapshot = this.#builder.getSnapshot();
    return { snapshot, isRead: this.#isRead, awaySince: this.#awaySince, health: this.#health.last };
  }

  /**
   * Follows etcd until the user or the service manager ends it.
   * @param prepare  is done with the first state before that is shown
   * @returns the exit code
   * @throws StoreError if etcd refuses
   */
  async follow(
    prepare: (state: SiteState) => Promise<void>,
    onEvent: (event: FollowEvent) => void,
  ): Promise<number> {
    const { clock, log, signal } = this.#context;
    while (!signal.aborted) {
      try {
        for await (const event of followEtcd(this.#context, this.#builder, signal)) {
          if (event.kind === "read" && !this.#isRead) await prepare({ ...this.getState(), isRead: true });
          this.#notice(event);
          onEvent(event);
        }
      } catch (error) {
        if (error instanceof InterruptedError) return EXIT.ok;
        if (!isUnavailable(error)) throw error;
        log.warn("cannot reach etcd", { error: clean((error as Error).message) });
      }
      this.#awaySince ??= clock.getWallTime();
      await clock.sleep(RETRY_PAUSE_MS, signal).catch(() => {});
    }
    return EXIT.ok;
  }

  #notice({ kind }: FollowEvent): void {
    if (kind === "read") this.#isRead = true;
    this.#awaySince = kind === "away" ? (this.#awaySince ?? this.#context.clock.getWallTime()) : undefined;
  }

  end(): void {
    this.#health.end();
  }
}

/** Keeps no output of runs: what is not there cannot be shown. */
class OutputlessBuilder extends SnapshotBuilder {
  protected override storeKey(kv: KeyValue): void {
    super.storeKey(removeTails(kv));
  }
}

/** Removes the last lines of output from a history. A value that cannot be read has none to show. */
function removeTails(kv: KeyValue): KeyValue {
  if (!kv.value.includes('"tail"')) return kv;
  try {
    const value = JSON.stringify(JSON.parse(kv.value, (key, part) => (key === "tail" ? undefined : part)));
    return { ...kv, value };
  } catch {
    return kv;
  }
}

/** How long an answer about a session is used again, in ms. */
const LIVENESS_TIME_MS = 2_000;
const MAX_KNOWN_ANSWERS = 5_000;

/**
 * Creates the store with which pages are rendered. It only asks which sessions live, at most every two seconds, whatever the number of
 * viewers, and not at all while etcd is away.
 */
export function createLivenessStore(store: Store, { clock }: CommandContext, isAway: () => boolean): Store {
  const known = new Map<string, { at: MonotonicTime; answer: Promise<unknown> }>();
  const ask = <T>(key: string, call: () => Promise<T>): Promise<T> => {
    if (isAway()) return Promise.reject(new StoreError("unavailable", "etcd is unreachable"));
    const now = clock.now();
    const last = known.get(key);
    if (last !== undefined && subtractTime(now, last.at) < LIVENESS_TIME_MS) return last.answer as Promise<T>;
    if (known.size >= MAX_KNOWN_ANSWERS) known.clear();
    const answer = call();
    known.set(key, { at: now, answer });
    return answer;
  };
  return delegateStore(store, {
    readTimeToLive: (id) => ask(`ttl ${id}`, () => store.readTimeToLive(id)),
    listSessionKeys: (id) => ask(`keys ${id}`, () => store.listSessionKeys(id)),
    readRange: (range) => ask(`range ${range.key}`, () => store.readRange(range)),
  });
}
