import type { Counter } from "prom-client";
import type { CommandContext } from "../cli/frame/store-command.ts";
import {
  createMetric,
  type MetricFamily,
  measureSnapshot,
  renderFamilies,
  sumWrittenBytes,
} from "../cli/views/metrics.ts";
import { type MonotonicTime, subtractTime } from "../core/base/clock.ts";
import { VERSION } from "../core/base/version.ts";
import type { FollowEvent } from "../site/observe/follow.ts";
import type { Snapshot } from "../site/state/snapshot.ts";
import { createProcessRegistry } from "../worker/metrics/metrics-server.ts";

/** How long a rendered text is served again, in ms, so that frequent requests cost nothing. */
const CACHE_TIME_MS = 1_000;

type Prom = typeof import("prom-client");

/** Metrics of the site. */
export class SiteMetrics {
  readonly #context: CommandContext;
  readonly #prom: Prom;
  /** The metrics of this process. */
  readonly #own: ReturnType<typeof createProcessRegistry>;
  readonly #written: Counter<"collection">;
  readonly #lost: Counter;
  #isUp = false;
  /** When `#isUp` last changed. */
  #since: MonotonicTime;
  #served: { at: MonotonicTime; isUp: boolean; text: string } | undefined;

  constructor(context: CommandContext, prom: Prom) {
    this.#context = context;
    this.#prom = prom;
    this.#own = createProcessRegistry(prom);
    const registers = [this.#own];
    this.#written = new prom.Counter({
      name: "signalbox_written_bytes_total",
      help: "Bytes of keys and values written, by the first part of the key, since this process was started.",
      labelNames: ["collection"],
      registers,
    });
    this.#lost = new prom.Counter({
      name: "signalbox_lost_changes_total",
      help: "Keys of which the watch had lost changes, since this process was started.",
      registers,
    });
    this.#since = context.clock.now();
  }

  /** Counts what the watch reports. */
  countEvent(event: FollowEvent): void {
    this.#updateIsUp(event.kind !== "away");
    if (event.kind === "read") this.#lost.inc(event.lost.length);
    if (event.kind !== "batch") return;
    for (const [collection, bytes] of sumWrittenBytes(this.#context.keys, event.batch.events))
      this.#written.inc({ collection }, bytes);
  }

  /** Renders the metrics in the text format of Prometheus. @param snapshot  undefined while etcd is away */
  async renderMetrics(snapshot: Snapshot | undefined): Promise<string> {
    const now = this.#context.clock.now();
    this.#updateIsUp(snapshot !== undefined);
    const known = this.#served;
    if (known !== undefined && known.isUp === this.#isUp && subtractTime(now, known.at) < CACHE_TIME_MS)
      return known.text;
    const text =
      (await renderFamilies(this.#prom, this.#buildFamilies(now, snapshot))) + (await this.#own.metrics());
    this.#served = { at: now, isUp: this.#isUp, text };
    return text;
  }

  #updateIsUp(isUp: boolean): void {
    if (isUp === this.#isUp) return;
    this.#isUp = isUp;
    this.#since = this.#context.clock.now();
  }

  /**
   * Builds the metrics. While etcd is unavailable, those of the snapshot are left out, so that Prometheus marks them as
   * stale.
   */
  #buildFamilies(now: MonotonicTime, snapshot: Snapshot | undefined): MetricFamily[] {
    const build: MetricFamily = {
      name: "build_info",
      help: "Version of signalbox serve.",
      samples: [[{ version: VERSION }, 1]],
    };
    const up = createMetric(
      "up",
      "1 while etcd is reachable and the metrics are current, 0 otherwise.",
      Number(this.#isUp),
    );
    const since = createMetric(
      "up_unchanged_seconds",
      "Seconds since signalbox_up last changed.",
      subtractTime(now, this.#since) / 1_000,
    );
    const base = [build, up, since];
    return snapshot === undefined
      ? base
      : [...base, ...measureSnapshot(snapshot, this.#context.clock.getWallTime())];
  }
}
