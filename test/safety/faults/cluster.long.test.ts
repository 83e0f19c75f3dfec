/** Members of etcd die, freeze or restart while a lock is held. The command is not affected. */

import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { TestProcess } from "../../../fixtures/cluster/process-group.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import type { EtcdMember } from "../../../fixtures/etcd/index.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

/** Long enough for an election on a busy machine, or the restart of a member on a busy disk. */
const TTL = "20s";
const WAITS_FOR_GO = ["sh", "-c", 'echo up; until [ -e "$GO" ]; do sleep 0.05; done; echo done'];

const ONLY_WARNINGS =
  /^(signalbox: warn: (etcd does not answer, the session was not renewed|the claim was not freed; it ends with its session) .*\n)*$/;

interface Held {
  namespace: TestNamespace;
  run: TestProcess;
  go: string;
}

/** Two runs on each transport, so that some talk to any member, holding locks, their commands waiting for a word. */
async function startHolders(cluster: TestCluster): Promise<Held[]> {
  const startHolder = async (transport: (typeof TRANSPORTS)[number]) => {
    const namespace = cluster.createNamespace({ transport, env: { SIGNALBOX_TTL: TTL } });
    const go = cluster.createPath();
    const run = namespace.startRun("--lock job", WAITS_FOR_GO, { env: { GO: go } });
    await run.waitForOutput("up");
    return { namespace, run, go };
  };
  return await Promise.all([...TRANSPORTS, ...TRANSPORTS].map(startHolder));
}

/** Resolves when a session has been renewed: what is left of it, whole seconds, has grown. A new leader lets all grow, once. */
async function waitUntilRenewed({ store }: TestCluster, session: bigint) {
  let rises = 0;
  let last = Number.POSITIVE_INFINITY;
  while (rises < 2) {
    const { left } = (await store.readTimeToLive(session).catch(() => ({ left: last }))) ?? {};
    if (left === undefined) throw new Error("the session has ended");
    if (left > last) rises += 1;
    last = left;
    await pause(100);
  }
}

/** What must be true of runs that a fault has not touched, once they have renewed their sessions after it. */
async function expectUndisturbed(cluster: TestCluster, held: Held[], fault: () => Promise<void>) {
  const listTickets = () =>
    Promise.all(held.map(async ({ namespace }) => (await namespace.readQueue("job"))[0]));
  const before = await listTickets();
  await fault();
  await Promise.all(before.map((entry) => entry && waitUntilRenewed(cluster, entry.session)));
  expect(await listTickets(), "the tickets after the fault").toEqual(before);
  for (const { go } of held) writeFileSync(go, "");
  const ends = await Promise.all(held.map(({ run }) => run.ended));
  for (const [at, end] of ends.entries()) {
    expect({ transport: TRANSPORTS[at % 2], ...end }).toMatchObject({
      // A member that takes long to come back is worth a warning; what is lost would be told otherwise.
      code: 0,
      stdout: "up\ndone\n",
      stderr: expect.stringMatching(ONLY_WARNINGS),
    });
  }
  await waitUntil("the locks are free", async () => {
    const queues = await Promise.all(held.map(({ namespace }) => namespace.readQueue("job")));
    return queues.flat().length === 0;
  });
}

describe.concurrent("a cluster of three", () => {
  const cluster = TestCluster.startForFile({ size: 3 });

  /** The leader first. */
  async function rankMembers() {
    const states = (await cluster.store.readMemberStatuses()).flatMap((state) => (state.ok ? [state] : []));
    const isLeader = (url: string) => states.some((it) => it.endpoint === url && it.memberId === it.leaderId);
    return cluster.members.toSorted((a, b) => Number(isLeader(b.clientUrl)) - Number(isLeader(a.clientUrl)));
  }

  const FAULTS: Record<string, (ranked: EtcdMember[]) => Promise<() => Promise<void>>> = {
    "its leader killed": async ([leader]) => {
      await leader?.kill();
      return async () => leader?.restart();
    },
    "its leader frozen": async ([leader]) => {
      leader?.freeze();
      return async () => leader?.unfreeze();
    },
    "a follower frozen": async ([, follower]) => {
      follower?.freeze();
      return async () => follower?.unfreeze();
    },
  };

  test.each(Object.entries(FAULTS))("%s: held locks survive", { concurrent: false }, async (_, fault) => {
    const held = await startHolders(cluster);
    let mend = async () => {};
    await expectUndisturbed(cluster, held, async () => {
      mend = await fault(await rankMembers());
    });
    await mend();
    await Promise.all(cluster.members.map((member) => member.waitUntilReady()));
  });
});

describe.concurrent("a single member", () => {
  const cluster = TestCluster.startForFile();

  test("restarted: held locks survive", async () => {
    await expectUndisturbed(cluster, await startHolders(cluster), () => cluster.etcd.restart());
  });
});
