/** An agent without runs. */
import { expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { HostAgent } from "../support/host-agent.ts";

const cluster = TestCluster.startForFile();

test("the session of an idle agent was lost: hosts show the agent again within about a minute", async () => {
  const { namespace } = await HostAgent.start(cluster);
  const waitForAgent = () =>
    waitUntil("an agent", async () => (await namespace.executeJson("ls hosts")).rows[0]?.agents[0], {
      every: 500,
    });
  await waitForAgent();
  const [former] = await namespace.listSharedSessions();
  expect(former).toBeDefined();
  await namespace.store.revoke(former?.id ?? 0n);
  await waitForAgent(); // nothing else than its regular report opens a session
  expect((await namespace.listSharedSessions()).map(({ id }) => id)).not.toContain(former?.id);
});
