/** The health of etcd for the console, with frozen members. */
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { type EtcdMember, type RunningEtcd, startCluster } from "../../../fixtures/etcd/index.ts";
import { retryAfterStalls } from "../../../fixtures/steady.ts";
import { Observer } from "./observers.ts";

let cluster: RunningEtcd;
beforeAll(async () => {
  cluster = await startCluster(3);
});
async function wakeAll() {
  for (const member of cluster.members) member.unfreeze();
  await Promise.all(cluster.members.map((member) => member.waitUntilReady()));
}
afterEach(wakeAll);
afterAll(() => cluster?.stop());

const isAnswer = ({ kind }: { kind: string }) => kind === "answer";
const isSilence = ({ kind }: { kind: string }) => kind === "silence";

/** The leader last. */
async function listByRole(context: TestContext): Promise<[EtcdMember, EtcdMember, EtcdMember]> {
  const { store } = await Observer.connect(context, cluster.endpoints);
  const all = await store.readMemberStatuses();
  const leader = cluster.members.find((_, at) => {
    const one = all[at];
    return one?.ok && one.memberId === one.leaderId;
  });
  const [first, second] = cluster.members.filter((member) => member !== leader);
  if (!first || !second || !leader) throw new Error("three members, one of them the leader");
  return [first, second, leader];
}

describe("the heartbeat", () => {
  it("says how etcd is: how fast, at which revision, who leads, who is there", async (context) => {
    const [, , leader] = await listByRole(context);
    const since = performance.now();
    const { store, ports, beats } = await startObserving(context, cluster.endpoints);
    const { revision } = await store.readRange({ key: ports.keys.prefix });
    expect(await beats.waitForNext(isAnswer)).toMatchObject({
      up: 3,
      total: 3,
      leader: `m${cluster.members.indexOf(leader) + 1}`,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
    expect(beats.list).toMatchObject([{ revision }, { revision }]);
    const most = performance.now() - since;
    expect(beats.list.every((beat) => beat.kind === "answer" && beat.ms > 0 && beat.ms < most)).toBe(true);
  });

  it("goes on over a frozen follower, and counts it out", (context) =>
    retryAfterStalls(context.task, async () => {
      await wakeAll();
      const [follower, other, leader] = await listByRole(context);
      const endpoints = [follower, other, leader].map(({ clientUrl }) => clientUrl);
      const { beats } = await startObserving(context, endpoints);
      follower.freeze();
      expect(await beats.waitForNext((beat) => beat.kind === "answer" && beat.up === 2)).toMatchObject({
        total: 3,
      });
      expect(beats.list.filter(isSilence)).toEqual([]);
    }));

  it("counts as silence if one member is cut off, also if that member still serves reads", async (context) => {
    const [follower, other, leader] = await listByRole(context);
    const { beats } = await startObserving(context, [follower.clientUrl]);
    const start = Date.now();
    const silence = beats.waitForNext(isSilence);
    other.freeze();
    leader.freeze();
    const { ms, ...beat } = await silence;
    expect(ms).toBeLessThan(6_000);
    expect(beat).toMatchObject({ error: { kind: "unavailable" } });
    expect(beat.kind === "silence" && beat.since >= start && beat.since <= Date.now() - 1_000).toBe(true);
    const body = JSON.stringify({ key: "AA==", serializable: true });
    const served = await fetch(`${follower.clientUrl}/v3/kv/range`, { method: "POST", body });
    expect(served.status).toBe(200);
    const next = await beats.waitForNext(isSilence);
    expect(next).toMatchObject({ since: beat.kind === "silence" && beat.since });
    const answer = beats.waitForNext(isAnswer);
    for (const member of [other, leader]) member.unfreeze();
    await answer;
  });
});

async function startObserving(context: TestContext, endpoints: readonly string[]) {
  const observer = await Observer.connect(context, endpoints);
  const { store, ports } = observer;
  const beats = observer.beats();
  await beats.waitForNext(isAnswer);
  return { store, ports, beats };
}
