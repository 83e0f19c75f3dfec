import type { AgentServices } from "../agent/agent.impl.ts";
import type { Agent } from "../agent/agent.ts";
import type { AgentContext } from "../agent/agent-context.ts";
import { runCommand } from "../cli/commands/run/run.ts";
import { findOutputDirectory, RunArchive } from "../cli/commands/run/run-archive.ts";
import type { CommandIo } from "../cli/frame/command.ts";
import { zooLocked } from "../compat/zoo-locked/zoo-locked.ts";
import { checkNative } from "../site/check/this-host.ts";
import { OutputServer } from "../site/output/output-server.ts";
import { formatListenAddress, parseListenAddress } from "../worker/metrics/listen-address.ts";
import { createProcessRegistry, serveMetrics } from "../worker/metrics/metrics-server.ts";

/** What an agent does with rooms that it does not depend on. */
export const AGENT_SERVICES: AgentServices = {
  served: [runCommand, zooLocked],
  openArchive: (ports) => new RunArchive(ports),
  checkNative,
  serveOutput,
  serveMetrics: serveAgentMetrics,
};

/** Runs whose output is kept are never runs of an agent. */
async function serveOutput(context: AgentContext, env: CommandIo["env"], signal: AbortSignal): Promise<void> {
  const directory = findOutputDirectory(context.settings.outputDirectory, env);
  if (directory === undefined) return;
  await new OutputServer(context, { host: context.host, directory, isRunning: () => false }).run(signal);
}

/**
 * Serves the metrics of an agent to Prometheus. Loads prom-client only when it is called.
 * @param listen  as given to `--metrics`, for example `:9466`
 * @throws UsageError, ConfigError when the server cannot listen there
 */
async function serveAgentMetrics(
  listen: string,
  { statistics, sessions, log }: AgentContext,
  agent: Agent,
): Promise<{ close(): Promise<void> }> {
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
  const source = { renderMetrics: () => registry.metrics(), findFault: () => undefined };
  const server = await serveMetrics(address, source, log);
  log.info("metrics are served", { at: formatListenAddress(server.address) });
  return server;
}
