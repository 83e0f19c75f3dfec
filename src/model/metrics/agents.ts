import { computeHostAgents, type HostAgent, sumDeclined } from "../rows/host-agents.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { createLabelledMetric, createMetric, type MetricFamily } from "./metric-family.ts";

/** Measures the agents of all hosts, by their keys. */
export function measureAgents(snapshot: Snapshot): MetricFamily[] {
  const agents = [...computeHostAgents(snapshot).values()].flat();
  const versions = Map.groupBy(agents, ({ version }) => version);
  const counts = [...versions].map(([version, own]) => [version, own.length] as const);
  const sum = (getNumber: (agent: HostAgent) => number) =>
    agents.reduce((total, agent) => total + getNumber(agent), 0);
  return [
    createLabelledMetric("agents", "Agents that have a session, by version.", "version", counts),
    createMetric(
      "agent_holders",
      "Runs of agents that hold a claim.",
      sum(({ held }) => held),
    ),
    createMetric(
      "agent_waiters",
      "Runs of agents that wait.",
      sum(({ waiting }) => waiting),
    ),
    createLabelledMetric(
      "agent_declined",
      "Calls that the agents have declined since their start, by reason.",
      "reason",
      sumDeclined(agents),
    ),
  ];
}
