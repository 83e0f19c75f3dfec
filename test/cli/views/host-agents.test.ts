/** Agents in listings, details and metrics, from their keys. */
import prom from "prom-client";
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createKeyValue,
  createSnapshot,
  createTicketKey,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import {
  buildHostDetail,
  computeHostAgents,
  findHostState,
  formatDeclined,
  hostsView,
  sumDeclined,
} from "../../../src/cli/views/hosts.ts";
import { measureAgents, renderFamilies } from "../../../src/cli/views/metrics.ts";
import { findProblems } from "../../../src/cli/views/problems.ts";
import { formatAgentReport, formatAgentSession } from "../../../src/core/protocol/agent-record.ts";
import { listFacts, showView } from "./rows.ts";

const HOST = "web1.example.com";
const [ONE, TWO] = ["1".repeat(16), "2".repeat(16)];

function ownSession(session: bigint, agent: string) {
  const value = formatAgentSession({ agent, pid: 17, version: "1.2.3" });
  return { ...createKeyValue(keys.agentSession(HOST, session), value), session };
}

function report(agent: string, declined: Record<string, number>) {
  const value = formatAgentReport({ user: "root", since: NOW - 60_000, served: 5, declined });
  return createKeyValue(keys.agentReport(HOST, agent), value);
}

const run = (lock: string, letter: string, state: "held" | "waiting", session: bigint) => ({
  ...createTicketKey(`lock ${lock}`, letter, letter.charCodeAt(0), { host: HOST, state }),
  session,
});

const KVS = [
  ownSession(7n, ONE),
  ownSession(8n, ONE),
  report(ONE, { settings: 3, files: 1 }),
  run("x", "a", "held", 7n),
  run("x", "b", "waiting", 7n),
  run("y", "c", "held", 8n),
  run("z", "d", "held", 9n), // a run without the agent
  report(TWO, { settings: 100 }), // of an agent whose session another has taken over
];
const snapshot = createSnapshot(KVS);

describe("agents of a host", () => {
  it("have the runs on all their sessions, and their own report", () => {
    const agents = computeHostAgents(snapshot).get(HOST);
    expect(agents).toMatchObject([
      { id: ONE, pid: 17, version: "1.2.3", held: 2, waiting: 1, report: { served: 5 } },
    ]);
    expect(formatDeclined(sumDeclined(agents ?? []))).toBe("settings 3, files 1");
  });

  it("are in the listing, beside the runs without them", () => {
    const { json, cells } = showView(hostsView, KVS);
    expect(json).toMatchObject([
      {
        host: HOST,
        holds: 3,
        waits: 1,
        agents: [
          { agent: ONE, user: "root", holds: 2, waits: 1, served: 5, declined: { settings: 3, files: 1 } },
        ],
      },
    ]);
    expect(cells).toMatchObject([{ agent: "1.2.3", agentHeld: "2", agentWaiting: "1", declined: "4" }]);
  });

  it("are in the details of the host, also if only they name it", () => {
    const idle = createSnapshot([ownSession(7n, ONE)]);
    for (const [one, text] of [
      [snapshot, "1.2.3, process 17, user root: 2 hold, 1 wait, 5 served in 1m"],
      [idle, "1.2.3, process 17: 0 hold, 0 wait"],
    ] as const) {
      const host = findHostState(one, HOST, NOW);
      const detail = host && buildHostDetail(one, host, { wall: NOW, sessions: new Map() });
      expect(listFacts(detail).agent).toBe(text);
    }
  });

  it("are measured", async () => {
    const lines = (await renderFamilies(prom, measureAgents(snapshot))).split("\n");
    expect(lines.filter((line) => line.startsWith("signalbox_agent"))).toEqual([
      'signalbox_agents{version="1.2.3"} 1',
      "signalbox_agent_holders 2",
      "signalbox_agent_waiters 1",
      'signalbox_agent_declined{reason="files"} 1',
      'signalbox_agent_declined{reason="settings"} 3',
    ]);
  });

  it("have keys that are no problem, unless they cannot be read", () => {
    expect([...snapshot.strange.keys()]).toEqual([]);
    const broken = createSnapshot([createKeyValue(keys.agentSession(HOST, 7n), "?")]);
    expect(findProblems(broken, NOW)).toMatchObject([{ kind: "malformed" }]);
  });
});
