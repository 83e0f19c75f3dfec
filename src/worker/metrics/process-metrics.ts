type Prom = typeof import("prom-client");

/** Gauges of prom-client that the check of Prometheus rejects: names that end in `_total` are reserved for counters. */
const MISNAMED = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

/** Creates a registry with metrics of the process: memory, processor time, event loop. */
export function createProcessRegistry({
  Registry,
  collectDefaultMetrics,
}: Prom): InstanceType<Prom["Registry"]> {
  const register = new Registry();
  collectDefaultMetrics({ register });
  for (const name of MISNAMED) register.removeSingleMetric(name);
  return register;
}
