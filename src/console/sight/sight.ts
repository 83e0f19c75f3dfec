import { EXIT } from "../../base/errors.ts";
import { explained } from "../../commands/perform.ts";
import type { Desk } from "../../commands/with-store.ts";
import { Fold } from "../../model/fold.ts";
import { type Picture, ROOMS } from "../../model/picture.ts";
import { follow } from "../../work/observe/follow.ts";
import { type Beat, heartbeat } from "../../work/observe/heartbeat.ts";
import type { Pulse, Standing } from "./standing.ts";

/** Pause before etcd is asked again that has refused, ms. */
const AFTER_REFUSAL = 3_000;
/** Pictures a second, at most. */
const LEAST_PAUSE = 100;
/**
 * An answer to a question asked longer ago than this, ms, says nothing of now. Without an answer a silence is told of sooner:
 * so this process was stopped, or busy, or its terminal took nothing.
 */
const STALE = 4_000;

/**
 * What stands in etcd, kept up to date beside whoever looks at it. Never fails: what keeps it from being up to date is part
 * of what it tells.
 */
export class Sight {
  readonly #desk: Desk;
  readonly #fold: Fold;
  readonly #stop = new AbortController();
  readonly #onChange: () => void;
  #picture: Picture;
  #stream: Standing;
  #silentSince: number | undefined;
  #pulse: Pulse | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When etcd was asked what it has answered last, monotonic, ms. */
  #askedAt: number;
  #last = 0;
  /** How long the last picture took to show, ms: a slow machine gets fewer. */
  #cost = 0;
  #again = new AbortController();

  /** @param onChange  told when there is another picture or another standing, at most ten times a second */
  constructor(desk: Desk, onChange: () => void) {
    this.#desk = desk;
    this.#onChange = onChange;
    this.#fold = new Fold(desk.keys, ROOMS);
    this.#picture = this.#fold.picture();
    this.#stream = { kind: "opening", since: desk.clock.wall(), fault: undefined };
    this.#askedAt = desk.clock.now();
  }

  /** The last picture: the same object as long as nothing changed. */
  get picture(): Picture {
    return this.#picture;
  }

  get pulse(): Pulse | undefined {
    return this.#pulse;
  }

  /** Live only while both the stream of changes runs and questions are answered: either alone can be silent and dead. */
  get standing(): Standing {
    if (this.#stream.kind !== "live") return this.#stream;
    const since = this.#silentSince;
    if (since !== undefined) return { kind: "away", since, fault: "it does not answer" };
    const { clock } = this.#desk;
    const age = clock.now() - this.#askedAt;
    if (age <= STALE) return this.#stream;
    return { kind: "away", since: clock.wall() - age, fault: "it was not asked since" };
  }

  begin(): void {
    void this.#followOn();
    void this.#listen();
  }

  /** Reads everything again. */
  reread(): void {
    this.#again.abort(new Error("read again"));
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stop.abort(new Error("nobody looks any more"));
  }

  /** For as long as somebody looks, whatever etcd says. */
  async #followOn(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#again = new AbortController();
      const either = AbortSignal.any([signal, this.#again.signal]);
      try {
        for await (const { kind, ...news } of follow(this.#desk, this.#fold, either)) {
          if (kind === "away" && "error" in news) this.#turn("away", news.error.message);
          else this.#turn("live");
        }
      } catch (error) {
        if (signal.aborted) return;
        if (this.#again.signal.aborted) continue;
        const isAway = explained(error).exitCode === EXIT.unreachable;
        this.#turn(isAway ? "away" : "refused", error instanceof Error ? error.message : String(error));
        await this.#desk.clock.sleep(AFTER_REFUSAL, either).catch(() => {});
      }
    }
  }

  #turn(kind: Standing["kind"], fault?: string): void {
    const since = kind === this.#stream.kind ? this.#stream.since : this.#desk.clock.wall();
    this.#stream = { kind, since, fault };
    this.#announce();
  }

  async #listen(): Promise<void> {
    try {
      for await (const beat of heartbeat(this.#desk, this.#stop.signal)) this.#hear(beat);
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  #hear(beat: Beat): void {
    if (beat.kind === "silence") this.#silentSince = beat.since;
    else {
      this.#silentSince = undefined;
      this.#pulse = beat;
      this.#askedAt = this.#desk.clock.now() - beat.ms;
    }
    this.#announce();
  }

  /** Soon, and once for all that happens meanwhile. */
  #announce(): void {
    if (this.#timer !== undefined || this.#stop.signal.aborted) return;
    const pause = Math.max(LEAST_PAUSE, 3 * this.#cost);
    const due = this.#last + pause - this.#desk.clock.now();
    this.#timer = setTimeout(() => this.#show(), Math.max(0, due));
  }

  #show(): void {
    const start = this.#desk.clock.now();
    this.#timer = undefined;
    this.#picture = this.#fold.picture();
    this.#onChange();
    this.#last = this.#desk.clock.now();
    this.#cost = this.#last - start;
  }
}
