/** A command whose ticket was removed ends for that reason, served by an agent and not, while a part of etcd does not answer. */
import { existsSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { TestProcess } from "../../../fixtures/cluster/process-group.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

/** What a run says that has learned it. One that has not ends at its horizon, and says that it could not be renewed. */
const REMOVED = "its ticket was removed";
const RUNS = 3;

const cluster = TestCluster.startForFile({ size: 3 });
let proxies: FaultProxy[];
let namespace: TestNamespace;
/** Watches without any run. */
let watchers: number;
beforeAll(async () => {
  watchers = await readWatchers();
  proxies = await Promise.all(cluster.members.map(({ clientUrl }) => FaultProxy.start(clientUrl)));
});
afterEach(async () => {
  for (const member of cluster.members) member.unfreeze();
  for (const proxy of proxies) proxy.chooseMode = () => undefined;
  await namespace.close();
  // A member that was frozen learns late that those who watched are gone. The next test would count them among its own.
  await waitUntil("nothing is watched", async () => (await readWatchers()) <= watchers);
});
afterAll(() => Promise.all(proxies.map((proxy) => proxy.close())));

/** Starts runs behind the proxies, and waits until their watches have been made. */
async function startRuns(way: "served" | "alone") {
  namespace = cluster.createNamespace({
    endpoints: proxies.map(({ url }) => url),
    env: { SIGNALBOX_TTL: "30s", SIGNALBOX_TERMINATION_TIMEOUT: "1s" },
  });
  const socket = cluster.createPath();
  const env = { SIGNALBOX_AGENT_SOCKET: socket };
  if (way === "served") {
    namespace.start("agent", { env });
    await waitUntil("the agent has its socket", () => existsSync(socket));
  }
  const watched = await readWatchers();
  const agent = way === "served" ? "always" : "never";
  const runs = Array.from({ length: RUNS }, (_, at) =>
    namespace.start(["run", "--agent", agent, "--lock", `l${at}`, "--", "sleep", "1000"], {
      ...(way === "served" && { launcher: {} }),
      env,
    }),
  );
  await waitUntil("all are watched", async () => (await readWatchers()) >= watched + RUNS);
  return runs;
}

/** Counts the watches of all members. */
async function readWatchers() {
  const counts = cluster.members.map(async ({ clientUrl }) => {
    const text = await (await fetch(`${clientUrl}/metrics`)).text();
    return Number(/^etcd_debugging_mvcc_watcher_total (.*)$/m.exec(text)?.[1]);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** Removes the tickets, and waits until the runs have ended for that reason. */
async function removeTickets(runs: readonly TestProcess[]) {
  const success = runs.map((_, at) => ({
    op: "range" as const,
    ...namespace.keys.getQueueRange("lock", `l${at}`),
  }));
  const { results } = await cluster.write(...success);
  const tickets = results.flatMap((result) => (result.op === "range" ? result.kvs : []));
  expect(tickets.length).toBeGreaterThanOrEqual(RUNS);
  const removals = tickets.map(({ key }) => ({ op: "delete" as const, key }));
  await cluster.write(...removals);
  for (const { ended } of runs) expect(await ended).toExit(125, { stderr: new RegExp(REMOVED) });
}

describe.each(["alone", "served"] as const)("a run that is %s", (way) => {
  test("ends when the watch says so, although etcd answers no call", async () => {
    const runs = await startRuns(way);
    for (const proxy of proxies)
      proxy.chooseMode = (first) => (first.includes("/v3/watch") ? "forward" : "drop");
    const told = runs.map((run) => run.waitForOutput(REMOVED));
    const ended = removeTickets(runs);
    await Promise.all(told);
    for (const proxy of proxies) proxy.chooseMode = () => undefined; // the end of a run waits for its claim to be freed
    await ended;
  }, 120_000);

  test.each([0, 1, 2])(
    "is told by a renewal if the watches of member %i deliver nothing",
    async (at) => {
      const runs = await startRuns(way);
      const proxy = proxies[at] as FaultProxy;
      proxy.chooseMode = (first) => (first.includes("/v3/watch") ? "drop" : undefined);
      await removeTickets(runs);
    },
    120_000,
  );

  test.each([0, 1, 2])(
    "is told by a renewal if member %i is frozen",
    async (at) => {
      const runs = await startRuns(way);
      cluster.getMember(at).freeze();
      await removeTickets(runs);
    },
    120_000,
  );
});
