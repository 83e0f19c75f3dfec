/** Members of etcd that die, freeze or restart under a lock that is held: the command does not notice. */
import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EtcdMember, type RunningEtcd, startCluster, startEtcd } from "../../fixtures/etcd/index.ts";
import { eventually, House, type Room, type Run, TRANSPORTS } from "./support/house.ts";

/** Long enough for a leader to be chosen on a busy machine, or a member to restart on a busy disk. */
const TTL = "20s";
const WAITS_FOR_GO = ["sh", "-c", 'echo up; until [ -e "$GO" ]; do sleep 0.05; done; echo done'];

const ONLY_WARNINGS =
  /^(signalbox: warn: (etcd does not answer, the session was not renewed|the claim was not freed; it ends with its session) .*\n)*$/;

interface Held {
  room: Room;
  run: Run;
  go: string;
}

/** Two runs on each transport, so that some talk to any member, holding locks, their commands waiting for a word. */
async function heldOnBoth(house: House): Promise<Held[]> {
  const started = async (transport: (typeof TRANSPORTS)[number]) => {
    const room = house.room({ transport, env: { SIGNALBOX_TTL: TTL } });
    const go = house.file();
    const run = room.run(["--lock", "job"], WAITS_FOR_GO, { env: { GO: go } });
    await run.waitForOutput(/up/);
    return { room, run, go };
  };
  return await Promise.all([...TRANSPORTS, ...TRANSPORTS].map(started));
}

/** Resolves when a session has been renewed: what is left of it, whole seconds, has grown. A new leader lets all grow, once. */
async function renewed({ store }: House, session: bigint): Promise<void> {
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
async function undisturbed(house: House, held: Held[], fault: () => Promise<void>): Promise<void> {
  const tickets = () => Promise.all(held.map(async ({ room }) => (await room.queue("job"))[0]));
  const before = await tickets();
  await fault();
  await Promise.all(before.map((place) => place && renewed(house, place.session)));
  expect(await tickets(), "the tickets after the fault").toEqual(before);
  for (const { go } of held) writeFileSync(go, "");
  const ends = await Promise.all(held.map(({ run }) => run.ended));
  for (const [at, end] of ends.entries()) {
    expect({ transport: TRANSPORTS[at % 2], ...end }).toMatchObject({
      // A member that takes long to come back is worth a warning; what is lost would be told otherwise.
      ...{ code: 0, stdout: "up\ndone\n", stderr: expect.stringMatching(ONLY_WARNINGS) },
    });
  }
  await eventually("the locks are free", async () => {
    const queues = await Promise.all(held.map(({ room }) => room.queue("job")));
    return queues.flat().length === 0;
  });
}

describe.concurrent("a cluster of three", () => {
  let cluster: RunningEtcd;
  let house: House;
  beforeAll(async () => {
    cluster = await startCluster(3);
    house = await House.open(cluster.endpoints);
  });
  afterAll(async () => {
    await house?.close();
    await cluster?.stop();
  });

  /** The leader first. */
  async function ranked(): Promise<EtcdMember[]> {
    const states = (await house.store.readMemberStatuses()).flatMap((state) => (state.ok ? [state] : []));
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
      return async () => leader?.thaw();
    },
    "a follower frozen": async ([, follower]) => {
      follower?.freeze();
      return async () => follower?.thaw();
    },
  };

  test.each(Object.entries(FAULTS))("%s: held locks survive", { concurrent: false }, async (_, fault) => {
    const held = await heldOnBoth(house);
    let mend = async () => {};
    await undisturbed(house, held, async () => {
      mend = await fault(await ranked());
    });
    await mend();
    await Promise.all(cluster.members.map((member) => member.waitUntilReady()));
  });
});

describe.concurrent("a single member", () => {
  let etcd: EtcdMember;
  let house: House;
  beforeAll(async () => {
    etcd = await startEtcd();
    house = await House.open([etcd.clientUrl]);
  });
  afterAll(async () => {
    await house?.close();
    await etcd?.stop();
  });

  test("restarted: held locks survive", async () => {
    await undisturbed(house, await heldOnBoth(house), () => etcd.restart());
  });
});
