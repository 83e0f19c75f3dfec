import { parseListenAddress } from "../worker/metrics/listen-address.ts";
import { type MetricsServer, serveMetrics } from "../worker/metrics/metrics-server.ts";
import { createProcessRegistry } from "../worker/metrics/process-metrics.ts";
import type { Agent } from "./agent.ts";
import type { AgentContext } from "./agent-context.ts";

/**
 * Serves the metrics of an agent to Prometheus. Loads prom-client only when it is called.
 * @param listen  as given to `--metrics`, for example `:9466`
 * @throws UsageError, ConfigError when the server cannot listen there
 */
export async function startAgentMetrics(
  listen: string,
  { statistics, sessions, log }: AgentContext,
  agent: Agent,
): Promise<MetricsServer> {
  const address = parseListenAddress(listen);
  const prom = await import("prom-client");
  const registry = createProcessRegistry(prom);
  const registers = [registry];
  const addCounter = (name: string, help: string, read: () => number) =>
    new prom.Counter({
      name: `signalbox_agent_${name}_total`,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  const addGauge = (name: string, help: string, read: () => number) =>
    new prom.Gauge({
      name: `signalbox_agent_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  addCounter("served", "Calls that were served to their end.", () => statistics.served);
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
  addCounter("takeovers", "Sessions of earlier agents that were taken over.", () => sessions.takeovers);
  addGauge("held", "Calls whose command runs or is about to.", () => agent.countCalls().held);
  addGauge("waiting", "Calls whose command does not run yet.", () => agent.countCalls().waiting);
  addGauge("sessions", "Sessions that are renewed.", () => sessions.listLive().length);
  addGauge(
    "renewal_lag_seconds",
    "How late the renewal of a session is, at most; 0 if none is late.",
    () => sessions.measureRenewalLag() / 1_000,
  );
  return await serveMetrics(
    address,
    { renderMetrics: () => registry.metrics(), findFault: () => undefined },
    log,
  );
}
