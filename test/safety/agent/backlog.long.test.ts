import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { retryAfterStalls } from "../../../fixtures/steady.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const AUTO = { env: { SIGNALBOX_AGENT: "auto" } };
const CONNECTIONS = 10_000;

/** Connects, and sends nothing. @returns the connection, unless the backlog is full */
function openSilent(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => resolve(socket));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EAGAIN") resolve(undefined);
      else reject(error); // without effect for a connection that the agent closes later
    });
  });
}

async function fillBacklog(path: string) {
  const all = await Promise.all(Array.from({ length: CONNECTIONS }, () => openSilent(path)));
  const open = all.filter((socket) => socket !== undefined);
  const close = () => {
    for (const socket of open) socket.destroy();
  };
  onTestFinished(close);
  return { accepted: open.length, close };
}

test("a stopped agent with a full backlog: runs fall back, and all goes on when it continues", async ({
  task,
}) => {
  await retryAfterStalls(task, async () => {
    const host = await HostAgent.start(cluster);
    const { namespace, jobs } = host;
    const run = (lock: string, options: object = {}) =>
      namespace.run(["-v", "--lock", lock], "true", options);
    const first = await jobs.startHolder("first", "--lock x");
    const second = await jobs.startWaiter("second", "--lock x --wait");
    host.signal("SIGSTOP");
    const patient = namespace.startRun("--lock a"); // waits ten seconds for its answer
    const impatient = run("b", AUTO);
    const { accepted, close } = await fillBacklog(host.socket);
    expect(accepted).toBeGreaterThan(100);
    expect(accepted).toBeLessThan(CONNECTIONS);
    expect(await run("c", AUTO)).toExit(0, {
      stderr: /no agent serves this run.*too many calls wait for the agent/,
    });
    const persistent = namespace.startRun("--lock d"); // tries to connect for ten seconds
    expect(await impatient).toExit(0, { stderr: /no agent serves this run.*does not answer in time/ });
    close(); // the agent has them in line nevertheless
    host.signal("SIGCONT");
    expect(await patient.ended).toExitSilently(0);
    expect(await persistent.ended).toExitSilently(0);
    expect(await first.finish()).toExitSilently(0);
    expect(await second.ended).toExitSilently(0);
    await waitUntil("a served run", async () => (await run("e")).code === 0, { every: 100 });
    expect(await namespace.listTickets()).toEqual([]);
  });
});
