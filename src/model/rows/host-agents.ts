import { canonicalizeHost } from "../../fleet/groups.ts";
import type { AgentReport } from "../../protocol/agent-record.ts";
import { buildClaimsWith, isHolder } from "../snapshot/claims.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** An agent that has a session. An agent that no run has used for some minutes has none. */
export interface HostAgent {
  /** Each start of an agent has its own id. */
  id: string;
  pid: number;
  version: string;
  /** Runs on its sessions. */
  held: number;
  waiting: number;
  /** Undefined until the agent has written its first report. */
  report: AgentReport | undefined;
}

type AgentSnapshot = Pick<Snapshot, "agentSessions" | "agentReports" | "queues">;

/**
 * Finds the agents of each host, by its canonical name. The report of an agent that owns no session any more is that of
 * an earlier one, whose session another agent has taken over.
 */
export function computeHostAgents(snapshot: AgentSnapshot): Map<string, HostAgent[]> {
  const agents = new Map<string, HostAgent[]>();
  if (snapshot.agentSessions.size === 0) return agents;
  const reports = new Map([...snapshot.agentReports.values()].map((report) => [report.agent, report]));
  const runs = countRuns(snapshot);
  for (const { host, session, agent: id, pid, version } of snapshot.agentSessions.values()) {
    const name = canonicalizeHost(host);
    const known = agents.get(name) ?? [];
    agents.set(name, known);
    const { held, waiting } = runs.get(session) ?? NO_RUNS;
    const own = known.find((one) => one.id === id);
    if (own === undefined) known.push({ id, pid, version, held, waiting, report: reports.get(id) });
    else Object.assign(own, { held: own.held + held, waiting: own.waiting + waiting });
  }
  return agents;
}

const NO_RUNS = { held: 0, waiting: 0 };

/** Counts the runs of each session of an agent. All tickets of a run that has not ended are on one session. */
function countRuns(snapshot: AgentSnapshot): Map<bigint, { held: number; waiting: number }> {
  const sessions = new Set([...snapshot.agentSessions.values()].map(({ session }) => session));
  const counts = new Map<bigint, { held: number; waiting: number }>();
  for (const claim of buildClaimsWith(snapshot, ({ session }) => sessions.has(session)).values()) {
    const session = claim.entries[0]?.entry.session ?? 0n;
    const known = counts.get(session) ?? NO_RUNS;
    const { held, waiting } = known;
    counts.set(session, isHolder(claim) ? { held: held + 1, waiting } : { held, waiting: waiting + 1 });
  }
  return counts;
}

/** Adds up the declined calls of agents, by reason. */
export function sumDeclined(agents: readonly HostAgent[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [reason, count] of agents.flatMap(({ report }) => Object.entries(report?.declined ?? {})))
    sums.set(reason, (sums.get(reason) ?? 0) + count);
  return sums;
}

/** Formats declined calls, most frequent reason first: `settings 3, files 1`. */
export function formatDeclined(declined: ReadonlyMap<string, number>): string {
  const sorted = [...declined].sort(([, a], [, b]) => b - a);
  return sorted.map(([reason, count]) => `${reason} ${count}`).join(", ");
}

/** Converts an agent to JSON. docs/json.md describes the fields. */
export function toAgentJson({ id, pid, version, held, waiting, report }: HostAgent): object {
  return {
    agent: id,
    user: report?.user,
    pid,
    version,
    holds: held,
    waits: waiting,
    since: report?.since,
    served: report?.served,
    declined: report?.declined,
  };
}
