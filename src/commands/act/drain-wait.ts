import { OVER } from "../../base/over.ts";
import { isUnavailable } from "../../etcd/retry.ts";
import { computeDrainExtent, findDrainsOfTarget, listHeldEntries } from "../../model/preview/drain-extent.ts";
import type { Claim } from "../../model/snapshot/claims.ts";
import { SnapshotBuilder } from "../../model/snapshot/snapshot-builder.ts";
import { type FollowEvent, followEtcd } from "../../observe/follow.ts";
import { type DrainTarget, hasEnded } from "../../protocol/drain.ts";
import { parseTicket } from "../../protocol/ticket.ts";
import type { KeyValue } from "../../protocol/txn.ts";
import { SCOPE_COLLECTIONS } from "../read-snapshot.ts";
import type { CommandContext } from "../store-command.ts";

/**
 * The end of a wait: the scope is empty, the time is up, or the drain was lifted or has ended by itself. `holders`
 * lists the last known holders that remain.
 */
export interface DrainWaitResult {
  kind: "empty" | "timeout" | "lifted";
  holders: readonly Claim[];
}

/** Progress while it waits. */
export type DrainWaitNews =
  | { kind: "holders"; holders: readonly Claim[] }
  | { kind: "away"; error: Error }
  | { kind: "back" };

interface DrainWaitRequest {
  target: DrainTarget;
  /** The holders when the drain was written. The watcher reads them again at once. */
  holders: readonly Claim[];
  /** Time of the clock's `now()`, in ms; undefined waits without a limit. */
  deadline?: number | undefined;
  /** Runs to ignore: when only these remain, the result is `timeout`. */
  spared?: ReadonlySet<string>;
  reportNews(news: DrainWaitNews): void;
}

const PAUSE = 500;
/** Every change is reported when at most `FEW` tickets remain, otherwise at most once per `TELL_EVERY` ms. */
const FEW = 5;
const TELL_EVERY = 1_000;
/** The first read gets at least this long, in ms, even if the deadline is shorter. */
const FIRST_LOOK = 1_000;

/**
 * Waits until nothing in the scope of a drain is held. Groups decide which hosts are in scope, and may change
 * meanwhile. While etcd is unavailable, it reports that and continues.
 * @throws the signal's reason; StoreError if etcd refuses the reads
 */
export async function waitUntilEmpty(
  context: CommandContext,
  waiting: DrainWaitRequest,
): Promise<DrainWaitResult> {
  const watch = new DrainWatcher(context, waiting);
  try {
    return await watch.run();
  } finally {
    watch.close();
  }
}

class DrainWatcher {
  readonly #context: CommandContext;
  readonly #waiting: DrainWaitRequest;
  readonly #builder: SnapshotBuilder;
  /** Aborted when the deadline passes or the drain ends by itself. */
  #alarm = new AbortController();
  #timer = new AbortController();
  #holders: readonly Claim[];
  #hasLooked = false;
  /** Keys of the held tickets. While these disappear one by one, nothing else needs to be read. */
  #held = new Set<string>();
  /** The number of holders in the last report, and its time. */
  #told = -1;
  #toldAt = Number.NEGATIVE_INFINITY;
  #isAway = false;
  /** When a vanished ticket was first seen, by the key of its mark: reading of the clock, ms. */
  readonly #vanishedSince = new Map<string, number>();

  constructor(context: CommandContext, waiting: DrainWaitRequest) {
    this.#context = context;
    this.#waiting = waiting;
    this.#holders = waiting.holders;
    this.#builder = new SnapshotBuilder(context.keys, SCOPE_COLLECTIONS);
  }

  close(): void {
    this.#timer.abort(OVER);
  }

  async run(): Promise<DrainWaitResult> {
    const { clock, signal } = this.#context;
    for (;;) {
      this.#alarm = new AbortController();
      this.#setAlarm(Math.max(this.#computeTimeLeft(), this.#hasLooked ? 0 : FIRST_LOOK));
      try {
        return await this.#watch(AbortSignal.any([signal, this.#alarm.signal]));
      } catch (error) {
        signal.throwIfAborted();
        const isRung = this.#alarm.signal.aborted; // the drain may have ended instead: read again
        if (!isRung && !isUnavailable(error)) throw error;
        if (!isRung) {
          this.#reportAway(error as Error);
          await clock.sleep(Math.max(0, Math.min(PAUSE, this.#computeTimeLeft())), signal);
        }
        if (this.#computeTimeLeft() <= 0) return { kind: "timeout", holders: this.#listRemaining() };
      }
    }
  }

  async #watch(signal: AbortSignal): Promise<DrainWaitResult> {
    for await (const news of followEtcd(this.#context, this.#builder, signal)) {
      const verdict = this.#onNews(news);
      if (verdict !== undefined) return verdict;
    }
    throw new Error("the watch of etcd ended without an error");
  }

  #onNews(news: FollowEvent): DrainWaitResult | undefined {
    if (news.kind === "away") return this.#reportAway(news.error);
    if (this.#isAway) this.#waiting.reportNews({ kind: "back" });
    this.#isAway = false;
    if (news.kind === "read") return this.#judge();
    const { keys } = this.#context;
    const decisive = [keys.drains(), keys.groups()];
    let isUnclear = false;
    for (const event of news.batch.events) {
      const key = event.type === "put" ? event.kv.key : event.key;
      if (decisive.some((range) => key >= range.key && key < range.rangeEnd)) isUnclear = true;
      if (event.type === "delete" || !canHold(event.kv)) this.#held.delete(key);
    }
    if (isUnclear || this.#held.size === 0) return this.#judge();
    this.#reportRemaining();
    return undefined;
  }

  #judge(): DrainWaitResult | undefined {
    const { clock } = this.#context;
    const { target } = this.#waiting;
    const snapshot = this.#builder.getSnapshot();
    const extent = computeDrainExtent(snapshot, target, clock.getWallTime());
    const times = extent.holders.map((claim) => this.#measureTimeToEnd(claim));
    const holders = extent.holders.filter((_, at) => (times[at] ?? 0) > 0);
    const drains = findDrainsOfTarget(snapshot, target).filter(
      (drain) => !hasEnded(drain, clock.getWallTime()),
    );
    if (drains.length === 0) return { kind: "lifted", holders };
    if (holders.length === 0) return { kind: "empty", holders };
    const awaited = holders.filter(({ run }) => !this.#waiting.spared?.has(run));
    if (awaited.length === 0) return { kind: "timeout", holders };
    const isNew = !this.#hasLooked || holders.length !== this.#told;
    this.#hasLooked = true;
    this.#holders = holders;
    this.#held = new Set(awaited.flatMap(listHeldEntries).map(({ key }) => key));
    if (isNew) this.#reportHolders(holders);
    const ends = drains.map(({ until = Number.POSITIVE_INFINITY }) => until - clock.getWallTime() + 1);
    this.#setAlarm(Math.min(this.#computeTimeLeft(), Math.max(...ends), ...times.filter((ms) => ms > 0)));
    return undefined;
  }

  /**
   * Measures until when the command of a holder may be running, in ms from now: if all its tickets have vanished, for their
   * time to live from when that was seen.
   */
  #measureTimeToEnd(claim: Claim): number {
    const now = this.#context.clock.now();
    const times = listHeldEntries(claim).map(({ key, vanished }) => {
      if (vanished === undefined) return Number.POSITIVE_INFINITY;
      const since = this.#vanishedSince.get(key) ?? now;
      this.#vanishedSince.set(key, since);
      return since + vanished.ttl * 1000 - now;
    });
    return Math.max(...times);
  }

  /** Lists the known holders that still hold a ticket. */
  #listRemaining(): readonly Claim[] {
    if (!this.#hasLooked) return this.#holders;
    return this.#holders.filter((claim) => listHeldEntries(claim).some(({ key }) => this.#held.has(key)));
  }

  /** Reports the remaining holders, but not each of thousands. */
  #reportRemaining(): void {
    if (this.#context.clock.now() - this.#toldAt < TELL_EVERY && this.#held.size > FEW) return;
    const remaining = this.#listRemaining();
    if (remaining.length !== this.#told) this.#reportHolders(remaining);
  }

  #reportHolders(holders: readonly Claim[]): void {
    this.#told = holders.length;
    this.#toldAt = this.#context.clock.now();
    this.#waiting.reportNews({ kind: "holders", holders });
  }

  #reportAway(error: Error): undefined {
    if (!this.#isAway) this.#waiting.reportNews({ kind: "away", error });
    this.#isAway = true;
  }

  /** Replaces the alarm that was set before. */
  #setAlarm(ms: number): void {
    this.#timer.abort(OVER);
    if (!Number.isFinite(ms)) return;
    this.#timer = new AbortController();
    const bell = this.#alarm;
    const abortAlarm = () => bell.abort(OVER);
    this.#context.clock.sleep(Math.max(0, ms), this.#timer.signal).then(abortAlarm, () => {});
  }

  #computeTimeLeft(): number {
    return (this.#waiting.deadline ?? Number.POSITIVE_INFINITY) - this.#context.clock.now();
  }
}

/** Checks whether a ticket can be a holder's. As in `computeDrainExtent`, a ticket that cannot be read can. */
function canHold({ value }: KeyValue): boolean {
  const ticket = parseTicket(value);
  return ticket === undefined || ticket.state === "held";
}
