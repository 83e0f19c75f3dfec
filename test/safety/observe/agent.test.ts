/** What operators see of an agent: listings, details, reasons, metrics and doctor, on a real etcd. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { createFolder } from "../../../fixtures/process/agent-socket.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import type { TicketState } from "../../../src/core/protocol/ticket.ts";

const cluster = TestCluster.startForFile();
const LAUNCHER = resolve(import.meta.dirname, `../../../dist/native/${process.arch}/launcher`);

/** Starts an agent, and what starts launchers that use it. */
async function startAgent() {
  const folder = createFolder();
  const namespace = await cluster.createTestNamespace();
  namespace.env.SIGNALBOX_AGENT_SOCKET = join(folder, "agent.sock");
  const agent = namespace.start("agent --metrics 0 --log-level info");
  await agent.waitForOutput("ready");
  const launch = (words: readonly string[], more: Record<string, string> = {}) => {
    const connection = { SIGNALBOX_ENDPOINTS: cluster.endpoints.join(","), ...namespace.env, ...more };
    const child = spawn(LAUNCHER, words, {
      env: { PATH: process.env.PATH, ...connection },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const ended = once(child, "exit");
    onTestFinished(async () => {
      child.kill("SIGTERM");
      await ended;
    });
    return { child, ended };
  };
  return { namespace, agent, launch };
}

async function waitForState(namespace: TestNamespace, lock: string, state: TicketState) {
  await waitUntil(`a ticket of ${lock} is ${state}`, async () =>
    (await namespace.readQueue(lock)).some(({ ticket }) => ticket?.state === state),
  );
}

async function readHost(namespace: TestNamespace) {
  return (await namespace.executeJson("ls hosts")).rows[0];
}

test("hosts show an agent and its runs; why, show and reset do not take its session for the life of a run", async () => {
  const { namespace, launch } = await startAgent();
  launch(["run", "--agent", "always", "--lock", "x", "--", "sleep", "600"]);
  await waitForState(namespace, "x", "held");
  launch(["run", "--agent", "always", "--lock", "x", "--wait", "--", "true"]);
  await waitForState(namespace, "x", "waiting");
  namespace.startRun("--lock y", "sleep 600");
  await waitForState(namespace, "y", "held");
  expect(await readHost(namespace)).toMatchObject({
    holds: 2,
    waits: 1,
    agents: [{ holds: 1, waits: 1, version: expect.any(String), pid: expect.any(Number) }],
  });
  const show = async (lock: string) => await namespace.executeJson(["show", "lock", lock]);
  expect(await show("x")).toMatchObject({
    runners: [{ verdict: "agent" }, { verdict: "agent" }],
    host: { verdict: "alive" },
  });
  expect(await show("y")).toMatchObject({ runners: [{ verdict: "alive" }] });
  expect((await namespace.executeJson("why x")).explanations[0].obstacles[0].ahead[0]).toMatchObject({
    runner: "agent",
  });
  const preview = await namespace.execute("reset lock x --dry-run");
  expect(preview.stdout + preview.stderr).toMatch("its agent renewed the session of its runs");
  expect((await namespace.execute("ls problems --json")).stdout).toContain('"rows":[');
  expect((await namespace.execute("doctor")).stdout).toMatch(/ok +agent: version \S+ answers at/);
});

test("hosts show an agent without runs", async () => {
  const { namespace } = await startAgent();
  const agent = await waitUntil("an agent", async () => (await readHost(namespace))?.agents?.[0]);
  expect(agent).toMatchObject({ holds: 0, waits: 0 });
});

test("an agent counts what it has served and declined", async () => {
  const { agent, launch } = await startAgent();
  const [code] = await launch(["run", "--agent", "always", "--lock", "x", "--", "true"]).ended;
  expect(code).toBe(0);
  const [other] = await launch(["run", "--lock", "x", "--", "true"], { SIGNALBOX_PREFIX: "/other/" }).ended;
  expect(other).toBe(0);
  const [, address] = /at=(\S+)/.exec(agent.output.stderr) ?? [];
  const metrics = await waitUntil("both are counted", async () => {
    const text = await (await fetch(`http://${address}/metrics`)).text();
    return /^signalbox_agent_served_total 1$/m.test(text) && text;
  });
  expect(metrics).toMatch(/^signalbox_agent_declined_total\{reason="settings"\} 1$/m);
  expect(metrics).toMatch(/^signalbox_agent_sessions 1$/m);
  expect(metrics).toMatch(/^signalbox_agent_renewal_lag_seconds 0$/m);
});

test("a run that falls back says why with -v", async () => {
  const { namespace } = await startAgent();
  const env = { SIGNALBOX_FALLBACK: "its prefix differs from that of the agent" };
  const { stderr, code } = await namespace.execute("run -v --lock x -- true", { env });
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/no agent serves this run .*its prefix differs from that/),
  ]);
});

test("doctor's question is no call that counts", async () => {
  const { namespace, agent } = await startAgent();
  expect((await namespace.execute("doctor")).stdout).toMatch(/ok +agent: version/);
  const [, address] = /at=(\S+)/.exec(agent.output.stderr) ?? [];
  const metrics = await (await fetch(`http://${address}/metrics`)).text();
  expect(metrics).toMatch(/^signalbox_agent_served_total 0$/m);
});
