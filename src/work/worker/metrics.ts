import type { Log } from "../../base/log.ts";
import type { WorkerEvent, WorkerListener } from "../schedule/events.ts";
import { type Address, parseListen } from "./listen.ts";
import { serveMetrics } from "./metrics-server.ts";

/** How a hook came out, to be counted. */
export type HookResult = "ok" | "failed" | "dropped";

export interface WorkerMetrics {
  readonly listener: WorkerListener;
  /** Counts a hook. */
  hook(result: HookResult): void;
  readonly address: Address;
  close(): Promise<void>;
}

export interface MetricsOptions {
  /** As `--metrics` has it: `:9464`. */
  listen: string;
  log: Log;
  /** Undefined while the worker's session is renewed; else what is wrong. */
  illness(): string | undefined;
  /** Units of leases that its tasks hold. */
  heldLeases?(): number;
}

/** Types that have series of their own; what comes later is counted as `other`. */
const MOST_TYPES = 200;
const LONGEST_TYPE = 100;
const OTHER = "other";
const LATENESS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800, 3_600, 21_600];
const DURATIONS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1_800, 3_600, 10_800, 43_200];

/**
 * Counts what a worker tells, and serves it to Prometheus. What that takes is loaded here and nowhere else.
 * @throws UsageError, ConfigError where nothing can listen there
 */
export async function metricsOf(options: MetricsOptions): Promise<WorkerMetrics> {
  const address = parseListen(options.listen);
  const prom = await import("prom-client");
  const registry = new prom.Registry();
  prom.collectDefaultMetrics({ register: registry });
  const meters = metersIn(prom, registry);
  meters.fires.set(1); // until it is told otherwise
  const { heldLeases } = options;
  if (heldLeases !== undefined) held(prom, registry, heldLeases);
  const served = { metrics: () => registry.metrics(), illness: options.illness };
  const server = await serveMetrics(address, served, options.log);
  const label = bounded();
  return {
    ...server,
    listener: (event) => count(meters, event, "type" in event ? label(event.type) : OTHER),
    hook: (result) => meters.hooks.inc({ result }),
  };
}

type Prom = typeof import("prom-client");
type Registry = InstanceType<Prom["Registry"]>;
type Meters = ReturnType<typeof metersIn>;

function metersIn(prom: Prom, registry: Registry) {
  const registers = [registry];
  const named = (name: string, help: string) => ({ name: `signalbox_worker_${name}`, help, registers });
  const counter = <T extends string>(name: string, help: string, labelNames: T[]) =>
    new prom.Counter<T>({ ...named(name, help), labelNames });
  const gauge = (name: string, help: string) => new prom.Gauge(named(name, help));
  const histogram = (name: string, help: string, buckets: number[]) =>
    new prom.Histogram({ ...named(name, help), labelNames: ["type"], buckets });
  return {
    fired: counter("fired_total", "Starts of occurrences, further attempts among them.", ["type"]),
    ended: counter("ended_total", "Starts that have ended, by how.", ["type", "result"]),
    failed: counter("failed_total", "Starts that failed or ran out of their time.", ["type"]),
    retried: counter("retried_total", "Ends after which the same occurrence is started again.", ["type"]),
    skipped: counter("skipped_total", "Occurrences that were missed and are not made up for.", ["type"]),
    dead: counter("dead_total", "Occurrences that were given up.", ["type"]),
    hooks: counter("hooks_total", "Calls of hooks, by how they came out.", ["result"]),
    late: histogram("late_seconds", "From when an occurrence was due to its start.", LATENESS),
    duration: histogram("duration_seconds", "From start to end.", DURATIONS),
    running: gauge("running", "Tasks that run now."),
    concurrency: gauge("concurrency", "Tasks that may run at once."),
    skew: gauge("clock_skew_seconds", "How far this clock is ahead of other workers'."),
    fires: gauge("clock_trusted", "1 where the clock is near enough to others' to fire, else 0."),
  };
}

function held(prom: Prom, registry: Registry, units: () => number): void {
  new prom.Gauge({
    name: "signalbox_worker_held_leases",
    help: "Units of leases that tasks hold.",
    registers: [registry],
    collect() {
      this.set(units());
    },
  });
}

/** Types come from whoever writes schedules: their number must not grow what is kept here and in Prometheus. */
function bounded(): (type: string) => string {
  const known = new Set<string>();
  return (type) => {
    if (known.has(type)) return type;
    if (known.size >= MOST_TYPES || type.length > LONGEST_TYPE) return OTHER;
    known.add(type);
    return type;
  };
}

function count(meters: Meters, event: WorkerEvent, type: string): void {
  if (event.kind === "started") {
    meters.fired.inc({ type });
    meters.late.observe({ type }, Math.max(0, event.late) / 1_000);
  }
  if (event.kind === "ended") countEnd(meters, event, type);
  if (event.kind === "skipped") meters.skipped.inc({ type }, event.outcome.count ?? 1);
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
  if (again !== undefined) meters.retried.inc({ type });
  if (isDead) meters.dead.inc({ type });
  if (startedAt !== undefined) meters.duration.observe({ type }, Math.max(0, endedAt - startedAt) / 1_000);
}
