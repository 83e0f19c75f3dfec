/** `signalbox overview` on three members, of which some do not answer, and while etcd is away. */
import { expect, onTestFinished, test } from "vitest";
import { TERMINAL } from "../../../fixtures/cluster/sample-queues.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { EtcdMember } from "../../../fixtures/etcd/index.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { type AnsweringStatus, isLeader } from "../../../src/core/protocol/member.ts";

const cluster = TestCluster.startForFile({ size: 3 });

async function findMember(isWanted: (status: AnsweringStatus) => boolean): Promise<EtcdMember> {
  const statuses = await cluster.store.readMemberStatuses();
  return cluster.getMember(statuses.findIndex((status) => status.ok && isWanted(status)));
}

test.each([
  ["the leader", isLeader],
  ["another member", (status: AnsweringStatus) => !isLeader(status)],
])(
  "%s that is frozen is missed, and delays the picture by a few seconds at most",
  async (_, isWanted) => {
    const namespace = cluster.createNamespace({ transport: "http" });
    await waitUntil("all members", async () => {
      const { stdout } = await namespace.execute("overview");
      return stdout.includes("etcd 3/3 members");
    });
    const member = await findMember(isWanted);
    member.freeze();
    onTestFinished(() => member.unfreeze());
    expect(await namespace.execute("overview --ascii")).toExit(0, { stdout: "! etcd 2/3 members" });
  },
  30_000,
);

test("the picture stays while etcd is away, and says since when", async () => {
  const namespace = cluster.createNamespace({ transport: "http" });
  const proxy = await FaultProxy.start(cluster.etcd.clientUrl);
  onTestFinished(() => proxy.close());
  const watch = namespace.start("overview --watch", { ...TERMINAL, endpoints: [proxy.url] });
  await watch.waitForOutput(/live[\s\S]*nobody waits/);
  proxy.mode = "refuse";
  proxy.reset();
  await watch.waitForOutput(/etcd unreachable for \d+s; last known: revision \d+/);
  await watch.waitForOutput(/etcd has not answered for \d+s/);
  proxy.mode = "forward";
  const away = watch.output.stdout.length;
  await waitUntil("it is live again", () => watch.output.stdout.slice(away).includes("live"));
  watch.child.stdin?.write("\x03");
  expect(await watch.ended).toExit(130);
}, 30_000);
