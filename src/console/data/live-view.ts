import { watchHealth } from "../../cli/commands/see/live-output.ts";
import { explainError } from "../../cli/frame/command-line/execute-command.ts";
import type { PastMoment } from "../../cli/frame/past-moment.ts";
import type { CommandContext } from "../../cli/frame/store-command.ts";
import { type EtcdLoad, measureEtcdLoad } from "../../cli/views/etcd-members.ts";
import {
  addMs,
  LONG_AGO,
  type Millis,
  type MonotonicTime,
  subtractTime,
  type WallTime,
} from "../../core/base/clock.ts";
import { EXIT, getErrorMessage } from "../../core/base/errors.ts";
import type { EtcdHealth } from "../../site/observe/etcd-cluster.ts";
import { followEtcd } from "../../site/observe/follow.ts";
import { countKeys, type ReadProgress } from "../../site/observe/read.ts";
import { findEtcdFaults } from "../../site/state/etcd-findings.ts";
import { SNAPSHOT_COLLECTIONS, type Snapshot } from "../../site/state/snapshot.ts";
import { SnapshotBuilder } from "../../site/state/snapshot-builder.ts";

/** A displayed state: the live state of etcd, or that of a past revision. */
export interface ShownData {
  /** The same object as long as nothing changed. */
  readonly snapshot: Snapshot;
  readonly clusterHealth: ClusterHealth | undefined;
  /** Whether a first read is complete. Before that, the snapshot has a part of the queues at most, and revision 0. */
  readonly hasRead: boolean;
  readonly connection: ConnectionState;
  /** Set during the first read. */
  readonly progress?: ReadProgress | undefined;
  /** Set if the state is a past one. */
  readonly past?: PastMoment | undefined;
  /** Reads everything again. */
  reread(): void;
  /** Takes all received changes into the snapshot now. */
  catchUp(): void;
}

/** Whether the displayed data can be trusted. */
export interface ConnectionState {
  /**
   * `opening`: nothing was read yet. `live`: etcd answers, and the data is current. `away`: etcd does not answer; the
   * data last read stays. `refused`: etcd answers, but does not allow reading. `past`: the data is that of a past time.
   */
  kind: "opening" | "live" | "away" | "refused" | "past";
  /** Start of this state. */
  since: WallTime;
  /** The error from etcd or the network, if the state is not live. */
  fault: string | undefined;
}

/** The status of the etcd cluster. */
interface ClusterHealth {
  /** Round trip of a linearizable request, ms, in steps: small changes mean nothing, and each is written to the terminal. */
  ms: Millis;
  leader: string | undefined;
  up: number;
  total: number;
  version: string | undefined;
  /** Alarms and errors that members report. */
  faults: readonly string[];
  load: EtcdLoad;
}

/** Whether the data is current, so that changes are allowed. */
export function isLive({ kind }: ConnectionState): boolean {
  return kind === "live";
}

/** Shown in place of rows until something was read. An unread cluster is not an empty one. */
export const NOT_READ_YET = "No data yet: etcd has not been read.";

/** Time until the first picture of an unfinished first read, ms: most sites are read sooner. */
const PARTIAL_PAUSE_MS = 250;
/** Time between two such pictures, ms: they take a tenth of the time at most, and few have more rows than the one before. */
const PROGRESS_PAUSE_MS = 1_000;
const PROGRESS_PAUSE_FACTOR = 9;
const PARTIAL_GROWTH_FACTOR = 4;

/** Pause before the next request after etcd has refused one, ms. */
const AFTER_REFUSAL = 3_000;

/** Minimum time between two snapshots, ms: while the user types, and later. */
const SNAPSHOT_PAUSES_MS = { active: 200, quiet: 1_000 };

/**
 * Maximum age of the request that etcd answered last, ms. If it is older, the state is unknown. A missing answer is
 * reported sooner; this age is reached when the process was stopped or busy, or its terminal accepted no output.
 */
const MAX_ANSWER_AGE_MS = 4_000;

/** Keeps a snapshot of etcd up to date in the background. Never throws: errors are part of `connection`. */
export class LiveView implements ShownData {
  readonly #context: CommandContext;
  readonly #builder: SnapshotBuilder;
  readonly #stop = new AbortController();
  readonly #onChange: () => void;
  readonly #getIsQuiet: () => boolean;
  #snapshot: Snapshot;
  /** The last snapshot without the faults of etcd itself. */
  #read: Snapshot | undefined;
  /** The faults of etcd itself: the same object as long as they do not change. */
  #etcdFaults: Snapshot["etcdFaults"];
  #streamState: ConnectionState;
  /** Set while requests fail. */
  #silence: { since: WallTime; error: Error } | undefined;
  #clusterHealth: ClusterHealth | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the last answered request was sent. */
  #askedAt: MonotonicTime;
  #last = LONG_AGO;
  /** How long `onChange` took for the last snapshot, ms. Slow machines get fewer snapshots. */
  #cost = 0;
  /** What the last call of `onChange` was about. */
  #published = "";
  #again = new AbortController();
  #lostChanges = 0;
  #total: number | undefined;
  /** What the first read had brought when more of it was shown last. */
  #partial: Snapshot | undefined;

  /**
   * @param onChange    called for a new snapshot, connection state or health, at most five times a second
   * @param getIsQuiet  whether the user does not type, so that fewer updates suffice
   */
  constructor(context: CommandContext, onChange: () => void, getIsQuiet = () => false) {
    this.#context = context;
    this.#onChange = onChange;
    this.#getIsQuiet = getIsQuiet;
    this.#builder = new SnapshotBuilder(context.keys, SNAPSHOT_COLLECTIONS);
    this.#snapshot = this.#builder.getSnapshot();
    this.#streamState = { kind: "opening", since: context.clock.getWallTime(), fault: undefined };
    this.#askedAt = context.clock.now();
  }

  /** The last snapshot: the same object as long as nothing changed. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** Takes all received changes into the snapshot now, without waiting for the next update. */
  catchUp(): void {
    const whole = this.#builder.getSnapshot();
    if (whole.revision > 0n) this.#partial = undefined;
    const read = this.#partial ?? whole;
    if (read === this.#read && this.#snapshot.etcdFaults === this.#etcdFaults) return;
    this.#read = read;
    this.#snapshot = { ...read, etcdFaults: this.#etcdFaults };
  }

  get clusterHealth(): ClusterHealth | undefined {
    return this.#clusterHealth;
  }

  /** Number of keys whose changes the watch has lost since the start. */
  get lostChanges(): number {
    return this.#lostChanges;
  }

  get hasRead(): boolean {
    return this.#snapshot.revision > 0n;
  }

  get progress(): ReadProgress | undefined {
    const read = this.#builder.revisions.size;
    return this.hasRead || read === 0 ? undefined : { read, total: this.#total };
  }

  /**
   * The connection state. It is live only while the watch stream runs and requests are answered, because either can
   * fail silently.
   */
  get connection(): ConnectionState {
    const { since, error } = this.#silence ?? {};
    // The result of the first read becomes visible with the next snapshot.
    const kind = this.#streamState.kind === "live" && !this.hasRead ? "opening" : this.#streamState.kind;
    if (kind !== "live")
      return { ...this.#streamState, kind, fault: this.#streamState.fault ?? error?.message };
    if (since !== undefined && error !== undefined)
      return isAway(error)
        ? { kind: "away", since, fault: "no response" }
        : { kind: "refused", since, fault: error.message };
    const { clock } = this.#context;
    const age = subtractTime(clock.now(), this.#askedAt);
    if (age <= MAX_ANSWER_AGE_MS) return this.#streamState;
    return { kind: "away", since: clock.getWallTime() - age, fault: "no requests since" };
  }

  begin(): void {
    void this.#followChanges();
    void this.#publishFirstRead();
    void this.#watchHeartbeat();
  }

  reread(): void {
    this.#again.abort(new Error("read again"));
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stop.abort(new Error("the view was closed"));
  }

  /** Follows changes until `end` is called, and starts again after every error. */
  async #followChanges(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#again = new AbortController();
      const either = AbortSignal.any([signal, this.#again.signal]);
      try {
        for await (const news of followEtcd(this.#context, this.#builder, either)) {
          if (news.kind === "read") this.#lostChanges += news.lost.length;
          if (news.kind === "away") this.#updateStreamState("away", news.error.message);
          else this.#updateStreamState("live");
        }
      } catch (error) {
        if (signal.aborted) return;
        if (this.#again.signal.aborted) continue;
        this.#updateStreamState(isAway(error) ? "away" : "refused", getErrorMessage(error));
        await this.#context.clock.sleep(AFTER_REFUSAL, either).catch(() => {});
      }
    }
  }

  /** Publishes what the first read has brought so far, until it is complete. */
  async #publishFirstRead(): Promise<void> {
    const { clock } = this.#context;
    const sleep = (ms: Millis) => clock.sleep(ms, this.#stop.signal).catch(() => {});
    const isReading = () => this.#builder.revision === 0n && !this.#stop.signal.aborted;
    let [shown, pause] = [0, PARTIAL_PAUSE_MS];
    await sleep(pause);
    if (isReading()) this.#countKeys();
    for (; isReading(); await sleep(pause)) {
      const { read = 0 } = this.progress ?? {};
      if (read > PARTIAL_GROWTH_FACTOR * shown) {
        shown = read;
        this.#partial = this.#builder.getPartialSnapshot();
        this.catchUp();
      }
      if (read === 0) continue;
      this.#onChange();
      pause = Math.max(PROGRESS_PAUSE_MS, PROGRESS_PAUSE_FACTOR * this.#cost);
    }
  }

  #countKeys(): void {
    countKeys(this.#context, this.#builder.ranges, this.#stop).then(
      (total) => {
        this.#total = total;
      },
      () => {}, // what prevents it prevents the read too, and is reported there
    );
  }

  #updateStreamState(kind: ConnectionState["kind"], fault?: string): void {
    const since =
      kind === this.#streamState.kind ? this.#streamState.since : this.#context.clock.getWallTime();
    this.#streamState = { kind, since, fault };
    this.#scheduleUpdate();
  }

  async #watchHeartbeat(): Promise<void> {
    try {
      for await (const beat of watchHealth(this.#context, this.#stop.signal)) this.#handleBeat(beat);
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  #handleBeat(beat: EtcdHealth): void {
    if (beat.reading !== undefined) this.#updateEtcdFaults(beat.reading);
    if (beat.kind === "silence") this.#silence = beat;
    else {
      this.#silence = undefined;
      const { leader, up, total, version, faults, reading } = beat;
      const load = measureEtcdLoad(reading);
      this.#clusterHealth = { leader, up, total, version, faults, load, ms: roundDuration(beat.ms) };
      this.#askedAt = addMs(this.#context.clock.now(), -beat.ms);
    }
    // A frame of a first read takes time from it, and its next picture shows this too.
    if (beat.kind === "silence" || this.progress === undefined) this.#scheduleUpdate();
  }

  #updateEtcdFaults(reading: NonNullable<EtcdHealth["reading"]>): void {
    const found = findEtcdFaults(reading);
    if (JSON.stringify(found) !== JSON.stringify(this.#etcdFaults)) this.#etcdFaults = found;
  }

  /** Schedules one update for all changes until then. The result of the first read is shown at once. */
  #scheduleUpdate(): void {
    if (this.#stop.signal.aborted || (this.#timer !== undefined && this.hasRead)) return;
    clearTimeout(this.#timer);
    const least = this.#getIsQuiet() ? SNAPSHOT_PAUSES_MS.quiet : SNAPSHOT_PAUSES_MS.active;
    const pause = this.hasRead ? Math.max(least, 3 * this.#cost) : 0;
    const due = subtractTime(this.#last, this.#context.clock.now()) + pause;
    this.#timer = setTimeout(() => this.#publishSnapshot(), Math.max(0, due));
  }

  /**
   * Call this when a frame was built. If frames take long, the next snapshot comes later, because keys have priority.
   * @param ms  how long it took
   */
  handleFrameBuilt(ms: Millis): void {
    this.#cost = ms;
  }

  #publishSnapshot(): void {
    this.#timer = undefined;
    const before = this.#snapshot;
    this.catchUp();
    // While nobody types, a round trip that took longer is shown with the next frame.
    const ms = this.#getIsQuiet() ? undefined : this.#clusterHealth?.ms;
    const state = JSON.stringify([this.connection, { ...this.#clusterHealth, ms }]);
    if (before === this.#snapshot && state === this.#published) return;
    this.#published = state;
    this.#onChange();
    this.#last = this.#context.clock.now();
  }
}

function roundDuration(ms: number): number {
  const step = ms < 100 ? 10 : 100;
  return ms < 10 ? 0 : Math.round(ms / step) * step;
}

function isAway(error: unknown): boolean {
  return explainError(error).exitCode === EXIT.unreachable;
}

/**
 * Checks the etcd revision of each snapshot. Revisions only grow, unless etcd was restored or replaced by another
 * cluster.
 */
export class RevisionMonitor {
  #revision = 0n;

  /** @returns a message for the user if the revision is lower than the one before, otherwise undefined */
  checkRevision(revision: bigint): string | undefined {
    const before = this.#revision;
    this.#revision = revision;
    if (revision >= before) return undefined;
    return `the revision of etcd went from ${before} down to ${revision}: etcd was restored, or replaced`;
  }
}
