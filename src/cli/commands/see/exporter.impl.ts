import type { Counter } from "prom-client";
import { type MonotonicTime, subtractTime } from "../../../core/base/clock.ts";
import { EXIT, type SignalboxError } from "../../../core/base/errors.ts";
import { clean } from "../../../core/base/text.ts";
import { VERSION } from "../../../core/base/version.ts";
import { createNotifier } from "../../../core/process/notifier.ts";
import type { Keys } from "../../../core/protocol/keys.ts";
import type { WatchEvent } from "../../../core/protocol/txn.ts";
import { followEtcd } from "../../../site/observe/follow.ts";
import { SnapshotBuilder } from "../../../site/state/snapshot-builder.ts";
import {
  EXPORTER_LISTEN,
  formatListenAddress,
  parseListenAddress,
} from "../../../worker/metrics/listen-address.ts";
import { createProcessRegistry, serveMetrics } from "../../../worker/metrics/metrics-server.ts";
import { type CommandContext, createStoreCommand, InterruptedError } from "../../frame/store-command.ts";
import { createMetric, METRIC_COLLECTIONS, type MetricFamily, measureSnapshot } from "../../views/metrics.ts";
import type { ExporterFlags } from "./exporter.ts";

/** How long a rendered text is served again, in ms, so that frequent requests cost nothing. */
const CACHE_TIME_MS = 1_000;

type Prom = typeof import("prom-client");

/** Follows a snapshot in etcd and serves metrics of it. */
class ClusterMetrics {
  readonly #context: CommandContext;
  readonly #prom: Prom;
  readonly #builder: SnapshotBuilder;
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
      help: "Bytes of keys and values written, by the first part of the key, since the exporter was started.",
      labelNames: ["collection"],
      registers,
    });
    this.#lost = new prom.Counter({
      name: "signalbox_lost_changes_total",
      help: "Keys of which the watch had lost changes, since the exporter was started.",
      registers,
    });
    this.#builder = new SnapshotBuilder(context.keys, METRIC_COLLECTIONS);
    this.#since = context.clock.now();
  }

  /** Keeps the snapshot up to date. Ends only with an error. @throws StoreError; the signal's reason */
  async follow(signal: AbortSignal): Promise<never> {
    try {
      for await (const event of followEtcd(this.#context, this.#builder, signal)) {
        this.#updateIsUp(event.kind !== "away");
        if (event.kind === "read") this.#lost.inc(event.lost.length);
        if (event.kind !== "batch") continue;
        for (const [collection, bytes] of sumWrittenBytes(this.#context.keys, event.batch.events))
          this.#written.inc({ collection }, bytes);
      }
    } finally {
      this.#updateIsUp(false);
    }
    throw new Error("the watch of etcd ended without an error");
  }

  /** Renders the metrics in the text format of Prometheus. */
  async renderMetrics(): Promise<string> {
    const now = this.#context.clock.now();
    const known = this.#served;
    if (known !== undefined && known.isUp === this.#isUp && subtractTime(now, known.at) < CACHE_TIME_MS)
      return known.text;
    const text = (await renderFamilies(this.#prom, this.#buildFamilies(now))) + (await this.#own.metrics());
    this.#served = { at: now, isUp: this.#isUp, text };
    return text;
  }

  findFault(): string | undefined {
    return this.#isUp ? undefined : "etcd is unreachable";
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
  #buildFamilies(now: MonotonicTime): MetricFamily[] {
    const build: MetricFamily = {
      name: "build_info",
      help: "Version of the exporter.",
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
    return this.#isUp
      ? [...base, ...measureSnapshot(this.#builder.getSnapshot(), this.#context.clock.getWallTime())]
      : base;
  }
}

/** Renders metrics in the text format of Prometheus, without duplicate series: with one, Prometheus rejects the scrape. */
export function renderFamilies(prom: Prom, families: readonly MetricFamily[]): Promise<string> {
  const registry = new prom.Registry();
  for (const { name, help, samples } of families) {
    if (samples.length === 0) continue;
    const labelNames = [...new Set(samples.flatMap(([labels]) => Object.keys(labels)))];
    const gauge = new prom.Gauge({ name: `signalbox_${name}`, help, labelNames, registers: [registry] });
    for (const [labels, value] of samples)
      gauge.set(Object.fromEntries(Object.entries(labels).map(([key, text]) => [key, clean(text)])), value);
  }
  return registry.metrics();
}

/**
 * Sums how many bytes a watch has seen written, by collection. etcd keeps every value until it is compacted, so a key that is
 * overwritten fills the database as well as new keys do.
 */
export function sumWrittenBytes(keys: Keys, events: readonly WatchEvent[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const event of events) {
    if (event.type !== "put") continue;
    const { key, value } = event.kv;
    const collection = keys.findFirstSegment(key) ?? "other"; // the label takes no value that a user can choose
    sums.set(collection, (sums.get(collection) ?? 0) + Buffer.byteLength(key) + Buffer.byteLength(value));
  }
  return sums;
}

/** Pause before it tries again if etcd cannot be reached at the start, in ms. */
const RETRY_PAUSE_MS = 5_000;

export const execute = createStoreCommand<ExporterFlags>(
  async (context) => {
    const { listen = EXPORTER_LISTEN } = context.flags;
    const address = parseListenAddress(listen);
    const metrics = new ClusterMetrics(context, await import("prom-client"));
    const server = await serveMetrics(address, metrics, context.log);
    const notifier = createNotifier(context.io.env, { log: context.log, isAlive: () => true });
    context.printMessage(`serving metrics on ${formatListenAddress(server.address)}`);
    notifier.sendReady();
    try {
      return await followUntilEnd(metrics, context);
    } finally {
      notifier.sendStopping();
      await server.close();
      await notifier.close();
    }
  },
  { prefersGrpc: true },
);

/**
 * Follows etcd until the user or the service manager ends it.
 * @returns the exit code
 * @throws StoreError if etcd refuses
 */
async function followUntilEnd(metrics: ClusterMetrics, context: CommandContext): Promise<number> {
  for (;;) {
    try {
      await metrics.follow(context.signal);
    } catch (error) {
      if (error instanceof InterruptedError) return EXIT.ok;
      if ((error as SignalboxError).exitCode !== EXIT.unreachable) throw error;
      context.log.warn("cannot reach etcd", { error: clean((error as Error).message) });
    }
    try {
      await context.clock.sleep(RETRY_PAUSE_MS, context.signal);
    } catch {
      return EXIT.ok;
    }
  }
}
