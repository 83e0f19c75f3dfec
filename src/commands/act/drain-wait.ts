import { isUnavailable } from "../../etcd/persist.ts";
import type { Claim } from "../../model/claims.ts";
import { Fold } from "../../model/fold.ts";
import type { Room } from "../../model/picture.ts";
import { drainsOf, extentOf, heldPlaces } from "../../model/scope.ts";
import { type DrainTarget, hasEnded } from "../../protocol/drain.ts";
import { parseTicket } from "../../protocol/ticket.ts";
import type { KeyValue } from "../../protocol/txn.ts";
import { follow, type News } from "../../work/observe/follow.ts";
import type { Desk } from "../with-store.ts";

/**
 * What has come of waiting: nobody holds anything in scope; the time is up; the drain was lifted, or ended by itself.
 * `holders`: those who remain, as far as they are known.
 */
export interface Emptying {
  kind: "empty" | "timeout" | "lifted";
  holders: readonly Claim[];
}

/** What happens meanwhile. */
export type EmptyingNews =
  | { kind: "holders"; holders: readonly Claim[] }
  | { kind: "away"; error: Error }
  | { kind: "back" };

interface Waiting {
  target: DrainTarget;
  /** As they were when the drain was put; they are looked at again at once. */
  holders: readonly Claim[];
  /** Instant on the clock, ms; undefined waits for ever. */
  deadline?: number | undefined;
  tell(news: EmptyingNews): void;
}

const ROOMS: readonly Room[] = ["locks", "resources", "groups", "drains"];
const PAUSE = 500;
/** Holders are told of one by one when so few are left, else as often as this, ms. */
const FEW = 5;
const TELL_EVERY = 1_000;
/** The first look gets this long, ms, however short the deadline. */
const FIRST_LOOK = 1_000;

/**
 * Waits until nobody holds anything in the scope of a drain. Groups decide who is in scope, and may change meanwhile.
 * Outlasts the loss of etcd, and says so.
 * @throws the signal's reason; StoreError when etcd refuses for good
 */
export async function untilEmpty(desk: Desk, waiting: Waiting): Promise<Emptying> {
  const watch = new EmptyingWatch(desk, waiting);
  try {
    return await watch.run();
  } finally {
    watch.close();
  }
}

class EmptyingWatch {
  readonly #desk: Desk;
  readonly #waiting: Waiting;
  readonly #fold: Fold;
  /** Rings when the deadline passes, or the drain ends by itself. */
  #bell = new AbortController();
  #timer = new AbortController();
  #holders: readonly Claim[];
  #hasLooked = false;
  /** Tickets that hold, by key: as they go one by one, nothing else need be looked at. */
  #held = new Set<string>();
  /** How many holders were told of last, and when. */
  #told = -1;
  #toldAt = Number.NEGATIVE_INFINITY;
  #isAway = false;

  constructor(desk: Desk, waiting: Waiting) {
    this.#desk = desk;
    this.#waiting = waiting;
    this.#holders = waiting.holders;
    this.#fold = new Fold(desk.keys, ROOMS);
  }

  close(): void {
    this.#timer.abort();
  }

  async run(): Promise<Emptying> {
    const { clock, signal } = this.#desk;
    for (;;) {
      this.#bell = new AbortController();
      this.#ringIn(Math.max(this.#left(), this.#hasLooked ? 0 : FIRST_LOOK));
      try {
        return await this.#watch(AbortSignal.any([signal, this.#bell.signal]));
      } catch (error) {
        signal.throwIfAborted();
        const isRung = this.#bell.signal.aborted; // if not for the deadline, the drain may have ended: look again
        if (!isRung && !isUnavailable(error)) throw error;
        if (!isRung) {
          this.#away(error as Error);
          await clock.sleep(Math.max(0, Math.min(PAUSE, this.#left())), signal);
        }
        if (this.#left() <= 0) return { kind: "timeout", holders: this.#remaining() };
      }
    }
  }

  async #watch(signal: AbortSignal): Promise<Emptying> {
    for await (const news of follow(this.#desk, this.#fold, signal)) {
      const verdict = this.#onNews(news);
      if (verdict !== undefined) return verdict;
    }
    throw new Error("following never ends by itself");
  }

  #onNews(news: News): Emptying | undefined {
    if (news.kind === "away") return this.#away(news.error);
    if (this.#isAway) this.#waiting.tell({ kind: "back" });
    this.#isAway = false;
    if (news.kind === "read") return this.#judge();
    const { keys } = this.#desk;
    const decisive = [keys.drains(), keys.groups()];
    let isUnclear = false;
    for (const event of news.batch.events) {
      const key = event.type === "put" ? event.kv.key : event.key;
      if (decisive.some((range) => key >= range.key && key < range.rangeEnd)) isUnclear = true;
      if (event.type === "delete" || !mayHold(event.kv)) this.#held.delete(key);
    }
    if (isUnclear || this.#held.size === 0) return this.#judge();
    this.#tellWho();
    return undefined;
  }

  #judge(): Emptying | undefined {
    const { clock } = this.#desk;
    const { target } = this.#waiting;
    const picture = this.#fold.picture();
    const { holders } = extentOf(picture, target, clock.wall());
    const drains = drainsOf(picture, target).filter((drain) => !hasEnded(drain, clock.wall()));
    if (drains.length === 0) return { kind: "lifted", holders };
    if (holders.length === 0) return { kind: "empty", holders };
    const isNew = !this.#hasLooked || holders.length !== this.#told;
    this.#hasLooked = true;
    this.#holders = holders;
    this.#held = new Set(holders.flatMap(heldPlaces).map(({ key }) => key));
    if (isNew) this.#tell(holders);
    const ends = drains.map(({ until = Number.POSITIVE_INFINITY }) => until - clock.wall() + 1);
    this.#ringIn(Math.min(this.#left(), Math.max(...ends)));
    return undefined;
  }

  /** Those who are left of the holders. */
  #remaining(): readonly Claim[] {
    if (!this.#hasLooked) return this.#holders;
    return this.#holders.filter((claim) => heldPlaces(claim).some(({ key }) => this.#held.has(key)));
  }

  /** Not for every one of thousands. */
  #tellWho(): void {
    if (this.#desk.clock.now() - this.#toldAt < TELL_EVERY && this.#held.size > FEW) return;
    const remaining = this.#remaining();
    if (remaining.length !== this.#told) this.#tell(remaining);
  }

  #tell(holders: readonly Claim[]): void {
    this.#told = holders.length;
    this.#toldAt = this.#desk.clock.now();
    this.#waiting.tell({ kind: "holders", holders });
  }

  #away(error: Error): undefined {
    if (!this.#isAway) this.#waiting.tell({ kind: "away", error });
    this.#isAway = true;
  }

  /** Instead of when it was to ring. */
  #ringIn(ms: number): void {
    this.#timer.abort();
    if (!Number.isFinite(ms)) return;
    this.#timer = new AbortController();
    const bell = this.#bell;
    const ring = () => bell.abort();
    this.#desk.clock.sleep(Math.max(0, ms), this.#timer.signal).then(ring, () => {});
  }

  #left(): number {
    return (this.#waiting.deadline ?? Number.POSITIVE_INFINITY) - this.#desk.clock.now();
  }
}

/** As `extentOf` has it: what cannot be read may be a holder's. */
function mayHold({ value }: KeyValue): boolean {
  const ticket = parseTicket(value);
  return ticket === undefined || ticket.state === "held";
}
