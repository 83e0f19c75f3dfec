import { VERSION } from "../../base/version.ts";
import { Fold } from "../../model/fold.ts";
import { exposition, type Family, figure, MEASURED, measures } from "../../model/measures/index.ts";
import { follow } from "../../work/observe/follow.ts";
import type { Desk } from "../with-store.ts";

/** What was served is served again for so long, ms: whoever asks more often costs nothing. */
const FRESH = 1_000;

/** A picture that is followed, and served in figures. */
export class Gauging {
  readonly #desk: Desk;
  readonly #fold: Fold;
  /** What this process takes itself. */
  readonly #own: () => Promise<string>;
  #isUp = false;
  /** On the clock's `now()`, ms: since when it is as it is. */
  #since: number;
  #served: { at: number; isUp: boolean; text: string } | undefined;

  /** Loads what its own figures take. */
  static async create(desk: Desk): Promise<Gauging> {
    const { collectDefaultMetrics, Registry } = await import("prom-client");
    const register = new Registry();
    collectDefaultMetrics({ register });
    return new Gauging(desk, () => register.metrics());
  }

  private constructor(desk: Desk, own: () => Promise<string>) {
    this.#desk = desk;
    this.#own = own;
    this.#fold = new Fold(desk.keys, MEASURED);
    this.#since = desk.clock.now();
  }

  /** Keeps the picture up to date; ends only by throwing. @throws StoreError; the signal's reason */
  async follow(signal: AbortSignal): Promise<never> {
    try {
      for await (const { kind } of follow(this.#desk, this.#fold, signal)) this.#turn(kind !== "away");
    } finally {
      this.#turn(false);
    }
    throw new Error("following never ends by itself");
  }

  /** Prometheus' text. */
  async metrics(): Promise<string> {
    const now = this.#desk.clock.now();
    const known = this.#served;
    if (known !== undefined && known.isUp === this.#isUp && now - known.at < FRESH) return known.text;
    const text = exposition(this.#families(now)) + (await this.#own());
    this.#served = { at: now, isUp: this.#isUp, text };
    return text;
  }

  illness(): string | undefined {
    return this.#isUp ? undefined : "etcd is away";
  }

  #turn(isUp: boolean): void {
    if (isUp === this.#isUp) return;
    this.#isUp = isUp;
    this.#since = this.#desk.clock.now();
  }

  /** What was known before etcd went away is left out: Prometheus then marks it as stale, as it is. */
  #families(now: number): Family[] {
    const build: Family = {
      name: "build_info",
      help: "What serves this.",
      samples: [[{ version: VERSION }, 1]],
    };
    const up = figure(
      "up",
      "1 while what is served is followed in etcd, 0 while etcd is away.",
      Number(this.#isUp),
    );
    const since = figure(
      "up_unchanged_seconds",
      "Since when signalbox_up is what it is.",
      (now - this.#since) / 1_000,
    );
    const base = [build, up, since];
    return this.#isUp ? [...base, ...measures(this.#fold.picture(), this.#desk.clock.wall())] : base;
  }
}
