/**
 * A machine that was paused by its hypervisor. All its clocks were stopped, including the boot-time clock, so no deadline has
 * passed afterwards. The only sign is that its wall clock is corrected then.
 */

import { describe, expect, it, type TestContext } from "vitest";
import { expireSession } from "../../../fixtures/cluster/expire-session.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { TRANSPORTS, type Transport } from "../../../fixtures/cluster/test-namespace.ts";
import { WallClock } from "../../../fixtures/process/wall-clock.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
/** Renewed every 100 s: what happens within a test is not because a renewal was due. */
const TTL = 600;
const OPTIONS = ["--lock", "x", "--ttl", `${TTL}s`, "--termination-timeout", "1s", "-v"];

/** A job that runs until it is let go, on a machine whose wall clock the test sets, behind a proxy. */
async function startScene(transport: Transport, context: TestContext) {
  const namespace = await cluster.createTestNamespace(transport, context);
  const { clock, remove } = await WallClock.createTemporary();
  namespace.onClose(remove);
  const proxy = await namespace.startProxy();
  const run = await namespace.jobs.startHolder("job", OPTIONS, { endpoints: [proxy.url], env: clock.env });
  return { namespace, clock, proxy, run };
}

describe.concurrent.each(TRANSPORTS)("over %s, when the wall clock jumps forward", (transport) => {
  it("by hours, the claim is proved at once, and the job goes on", async (context) => {
    const { namespace, clock, run } = await startScene(transport, context);
    clock.setOffset(5 * 3_600_000);
    await run.waitForOutput("the wall clock jumped forward");
    await waitUntil("the session is renewed", () => run.output.stderr.includes("renewed after the jump"), {
      ms: 60_000,
    });
    expect((await namespace.jobs.waitForTickets("job", "held")).length).toBe(1);
    expect(await run.finish()).toExit(0);
    expect(namespace.jobs.journal.findLine("job", "end")).toBeDefined();
  }, 120_000);

  it("by more than the time to live while etcd is out of reach, the job is ended: 125", async (context) => {
    const { namespace, clock, proxy, run } = await startScene(transport, context);
    proxy.mode = "drop";
    clock.setOffset((TTL + 60) * 1_000);
    expect(await run.ended).toExit(125, {
      stderr: "could not be renewed after a pause of the machine, 11m by the wall clock",
    });
    expect(namespace.jobs.journal.findLine("job", "end"), "it was killed").toBeUndefined();
  }, 120_000);

  it("and somebody else has got the lock meanwhile, the job is ended: 125", async (context) => {
    const { namespace, clock, proxy, run } = await startScene(transport, context);
    proxy.mode = "drop"; // what the machine had open is dead after the pause, and says nothing
    proxy.strand();
    await expireSession(namespace, "x");
    await namespace.jobs.startHolder("next", "--lock x");
    expect(run.child.exitCode, "nothing tells yet").toBeNull();
    proxy.mode = "forward";
    clock.setOffset((TTL + 60) * 1_000);
    expect(await run.ended).toExit(125, { stderr: "the claim was lost" });
  }, 120_000);
});
