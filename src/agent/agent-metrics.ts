import type { Log } from "../base/log.ts";
import { parseListenAddress } from "../worker/metrics/listen-address.ts";
import { type MetricsServer, serveMetrics } from "../worker/metrics/metrics-server.ts";
import { createProcessRegistry } from "../worker/metrics/process-metrics.ts";
import type { AgentStatistics } from "./agent-context.ts";

/** What the metrics of an agent are computed from, when they are asked for. */
interface AgentMetricsSource {
  statistics: AgentStatistics;
  countCalls(): { held: number; waiting: number };
  sessions: { measureRenewalLag(): number; listLive(): readonly unknown[]; readonly takeovers: number };
}

/**
 * Serves the metrics of an agent to Prometheus. Loads prom-client only when it is called.
 * @param listen  as given to `--metrics`, for example `:9466`
 * @throws UsageError, ConfigError when the server cannot listen there
 */
export async function startAgentMetrics(
  listen: string,
  source: AgentMetricsSource,
  log: Log,
): Promise<MetricsServer> {
  const address = parseListenAddress(listen);
  const prom = await import("prom-client");
  const registry = createProcessRegistry(prom);
  registerCounters(prom, registry, source);
  registerGauges(prom, registry, source);
  return await serveMetrics(
    address,
    { renderMetrics: () => registry.metrics(), findFault: () => undefined },
    log,
  );
}

type Prom = typeof import("prom-client");
type Registry = InstanceType<Prom["Registry"]>;

function registerCounters(prom: Prom, registry: Registry, source: AgentMetricsSource): void {
  const { statistics, sessions } = source;
  const registers = [registry];
  new prom.Counter({
    name: "signalbox_agent_served_total",
    help: "Calls that were served to their end.",
    registers,
    collect() {
      setCounter(this, statistics.served);
    },
  });
  new prom.Counter({
    name: "signalbox_agent_declined_total",
    help: "Calls that were declined, by reason.",
    registers,
    labelNames: ["reason"],
    collect() {
      this.reset();
      for (const [reason, count] of statistics.declined) this.inc({ reason }, count);
    },
  });
  new prom.Counter({
    name: "signalbox_agent_takeovers_total",
    help: "Sessions of earlier agents that were taken over.",
    registers,
    collect() {
      setCounter(this, sessions.takeovers);
    },
  });
}

function setCounter(counter: { reset(): void; inc(value: number): void }, value: number): void {
  counter.reset();
  counter.inc(value);
}

function registerGauges(prom: Prom, registry: Registry, { countCalls, sessions }: AgentMetricsSource): void {
  const create = (name: string, help: string, read: () => number) =>
    new prom.Gauge({
      name: `signalbox_agent_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  create("held", "Calls whose command runs or is about to.", () => countCalls().held);
  create("waiting", "Calls whose command does not run yet.", () => countCalls().waiting);
  create("sessions", "Sessions that are renewed.", () => sessions.listLive().length);
  create(
    "renewal_lag_seconds",
    "How late the renewal of a session is, at most; 0 if none is late.",
    () => sessions.measureRenewalLag() / 1_000,
  );
}
