import type { Log } from "../../core/base/log.ts";
import type { WorkerEvent, WorkerListener } from "../events.ts";
import { parseListenAddress } from "./listen-address.ts";
import { createProcessRegistry, type MetricsServer, serveMetrics } from "./metrics-server.ts";

export type HookResult = "ok" | "failed" | "dropped" | "refused";

export interface WorkerMetrics extends MetricsServer {
  readonly countEvent: WorkerListener;
  countHook(result: HookResult): void;
}

interface MetricsOptions {
  /** Same format as `--metrics`, for example `:9464`. */
  listen: string;
  log: Log;
  /** Returns undefined while the worker's session is renewed, otherwise the reason. */
  findFault(): string | undefined;
  /** Returns the units of leases that the worker's tasks hold. */
  countHeldLeases?(): number;
}

/** Largest number of types with their own series; further types are counted as `other`. */
const MOST_TYPES = 200;
const LONGEST_TYPE = 100;
const OTHER_LABEL = "other";
const LATENESS_BUCKETS_S = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800, 3_600, 21_600];
const DURATION_BUCKETS_S = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1_800, 3_600, 10_800, 43_200];

/**
 * Counts worker events and serves the metrics to Prometheus. Loads prom-client only when it is called.
 * @throws UsageError, ConfigError when the server cannot listen there
 */
export async function startMetrics(options: MetricsOptions): Promise<WorkerMetrics> {
  const address = parseListenAddress(options.listen);
  const prom = await import("prom-client");
  const registry = createProcessRegistry(prom);
  const meters = createMeters(prom, registry);
  meters.fires.set(1); // until a clock event says otherwise
  const { countHeldLeases } = options;
  if (countHeldLeases !== undefined) registerHeldLeases(prom, registry, countHeldLeases);
  const served = { renderMetrics: () => registry.metrics(), findFault: options.findFault };
  const server = await serveMetrics(address, served, options.log);
  const label = createTypeLimiter();
  return {
    ...server,
    countEvent: (event) => countWorkerEvent(meters, event, "type" in event ? label(event.type) : OTHER_LABEL),
    countHook: (result) => meters.hooks.inc({ result }),
  };
}

type Prom = typeof import("prom-client");
type Registry = InstanceType<Prom["Registry"]>;
type Meters = ReturnType<typeof createMeters>;

function createMeters(prom: Prom, registry: Registry) {
  const registers = [registry];
  const buildOptions = (name: string, help: string) => ({
    name: `signalbox_worker_${name}`,
    help,
    registers,
  });
  const createCounter = <T extends string>(name: string, help: string, labelNames: T[]) =>
    new prom.Counter<T>({ ...buildOptions(name, help), labelNames });
  const createGauge = (name: string, help: string) => new prom.Gauge(buildOptions(name, help));
  const createHistogram = (name: string, help: string, buckets: number[]) =>
    new prom.Histogram({ ...buildOptions(name, help), labelNames: ["type"], buckets });
  return {
    fired: createCounter("fired_total", "Starts of occurrences, including further attempts.", ["type"]),
    ended: createCounter("ended_total", "Starts that have ended, by result.", ["type", "result"]),
    failed: createCounter("failed_total", "Starts that failed or exceeded their timeout.", ["type"]),
    retried: createCounter("retried_total", "Starts after which the same occurrence is started again.", [
      "type",
    ]),
    skipped: createCounter("skipped_total", "Occurrences that were missed and are not caught up.", ["type"]),
    dead: createCounter("dead_total", "Occurrences that were given up.", ["type"]),
    deviations: createCounter(
      "deviations_total",
      "Starts that took longer than expected (overrun), or succeeded sooner (too-short).",
      ["type", "deviation"],
    ),
    hooks: createCounter("hooks_total", "Calls of hooks, by result.", ["result"]),
    lost: createCounter("lost_changes_total", "Keys of which the watch had lost changes.", []),
    late: createHistogram(
      "late_seconds",
      "Time from when an occurrence was due to its start.",
      LATENESS_BUCKETS_S,
    ),
    duration: createHistogram(
      "duration_seconds",
      "Time from the start of a task to its end.",
      DURATION_BUCKETS_S,
    ),
    running: createGauge("running", "Tasks that run now."),
    concurrency: createGauge("concurrency", "Tasks that may run at once."),
    skew: createGauge("clock_skew_seconds", "How far this clock is ahead of those of other workers."),
    fires: createGauge(
      "clock_trusted",
      "1 if the clock is close enough to those of other workers to fire, else 0.",
    ),
  };
}

function registerHeldLeases(prom: Prom, registry: Registry, units: () => number): void {
  new prom.Gauge({
    name: "signalbox_worker_held_leases",
    help: "Units of leases that tasks hold.",
    registers: [registry],
    collect() {
      this.set(units());
    },
  });
}

/**
 * Limits the number of types. Types come from the authors of schedules, and must not grow the memory use here and in
 * Prometheus without limit.
 */
function createTypeLimiter(): (type: string) => string {
  const known = new Set<string>();
  return (type) => {
    if (known.has(type)) return type;
    if (known.size >= MOST_TYPES || type.length > LONGEST_TYPE) return OTHER_LABEL;
    known.add(type);
    return type;
  };
}

function countWorkerEvent(meters: Meters, event: WorkerEvent, type: string): void {
  if (event.kind === "started") {
    meters.fired.inc({ type });
    meters.late.observe({ type }, Math.max(0, event.late) / 1_000);
  }
  if (event.kind === "overrun") meters.deviations.inc({ type, deviation: "overrun" });
  if (event.kind === "ended") countEnd(meters, event, type);
  if (event.kind === "skipped") meters.skipped.inc({ type }, event.outcome.count ?? 1);
  if (event.kind === "lostChanges") meters.lost.inc(event.keys);
  if (event.kind === "load") {
    meters.running.set(event.running);
    meters.concurrency.set(event.concurrency);
  }
  if (event.kind === "clock") {
    meters.skew.set(event.skew / 1_000);
    meters.fires.set(event.state === "refuses" ? 0 : 1);
  }
}

function countEnd(
  meters: Meters,
  { outcome, again, isDead }: Extract<WorkerEvent, { kind: "ended" }>,
  type: string,
): void {
  const { result, startedAt, endedAt } = outcome;
  meters.ended.inc({ type, result });
  if (result === "failed" || result === "timeout") meters.failed.inc({ type });
  if (outcome.deviation === "too-short") meters.deviations.inc({ type, deviation: outcome.deviation });
  if (again !== undefined) meters.retried.inc({ type });
  if (isDead) meters.dead.inc({ type });
  if (startedAt !== undefined) meters.duration.observe({ type }, Math.max(0, endedAt - startedAt) / 1_000);
}
