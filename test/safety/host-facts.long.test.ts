/** Every run leaves word that its host is there, and pays nothing for it. */
import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { retryAfterStalls } from "../../fixtures/steady.ts";
import { HOST_RECORD_INTERVAL, type HostRecord, parseHostRecord } from "../../src/fleet/host-record.ts";
import { barringHosts } from "./support/gatekeeper.ts";
import { House, type Room, saying, silently, TRANSPORTS } from "./support/house.ts";

const HOST = "web1.example.com";
const FOR_EVER = ["sh", "-c", "echo up; exec sleep 1000"];

const house = House.onEtcd();

/** What a host said last, and at which revision. */
async function said(room: Room, host = HOST): Promise<(HostRecord & { revision: bigint }) | undefined> {
  const [kv] = (await room.store.readRange({ key: room.keys.host(host) })).kvs;
  return kv && { ...parseHostRecord(host, kv.value), revision: kv.modRevision };
}

/** Entries of etcd's log that some work costs. */
async function proposals(work: () => Promise<unknown>): Promise<number> {
  const index = async () => {
    const [status] = await house.store.readMemberStatuses();
    if (!status?.ok) throw new Error("etcd does not tell its status");
    return Number(status.raftIndex);
  };
  const before = await index();
  await work();
  return (await index()) - before;
}

/** Plays what takes no longer than a step of the time in which hosts say so: once more where it failed and the next has begun. */
async function withinOneStep(play: () => Promise<void>): Promise<void> {
  const step = () => Math.floor(Date.now() / HOST_RECORD_INTERVAL);
  const before = step();
  await play().catch(async (error) => {
    if (step() === before) throw error;
    await play();
  });
}

describe("what it costs", () => {
  const job = ["true"];
  test.each([
    ["a run", ["--lock", "x"], 4],
    ["a run without history", ["--lock", "x", "--no-history"], 3],
    ["a run with a lease", ["--lock", "x", "--lease", "db=1:2"], 5],
    ["a lease alone", ["--no-lock", "--lease", "db=1:2"], 4],
  ])("%s %j: %d proposals, the first time as ever after", (_, options, wanted) =>
    retryAfterStalls(async () => {
      const room = house.room({ env: { SIGNALBOX_HOST: HOST } });
      const counts: number[] = [];
      for (let round = 0; round < 3; round += 1)
        counts.push(await proposals(() => room.run(options, job).ended));
      expect(counts).toEqual([wanted, wanted, wanted]);
      expect(await said(room)).toBeDefined();
    }),
  );

  test("a run that finds the lock taken: what it always did", () =>
    retryAfterStalls(() =>
      withinOneStep(async () => {
        const room = house.room({ env: { SIGNALBOX_HOST: HOST, SIGNALBOX_TTL: "60s" } });
        const holder = room.run(["--lock", "x"], FOR_EVER);
        await holder.waitForOutput(/up/);
        const loser = () => room.run(["--lock", "x", "--host", "loser.example.com"], job).ended;
        expect(await proposals(loser)).toBe(3);
        expect(await said(room, "loser.example.com")).toBeDefined();
        const looker = ["--lock", "x", "--lease", "db=1:2", "--host", "looker.example.com"];
        const counts: number[] = [];
        for (let round = 0; round < 3; round += 1)
          counts.push(await proposals(() => room.run(looker, job).ended));
        expect(counts, "who looks first claims nothing: the word is a call of its own, once").toEqual([
          3, 2, 2,
        ]);
        holder.child.kill("SIGTERM");
        await holder.ended;
      }),
    ));
});

describe.each(TRANSPORTS)("over %s", (transport) => {
  const env = { SIGNALBOX_HOST: HOST };

  test("a granted run says what its host is", async () => {
    const room = house.room({ transport, env });
    const since = Date.now();
    expect(await room.run([], ["true"]).ended).toEqual(silently(0));
    const record = await said(room);
    expect(record).toMatchObject({ cpu: expect.any(Number), memMb: expect.any(Number), macros: {} });
    expect(record?.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(record?.seenAt).toBeGreaterThan(since - HOST_RECORD_INTERVAL);
    expect(record?.seenAt).toBeLessThanOrEqual(Date.now());
  });

  test.each([
    ["finds its lock taken", ["--lock", "x"], 75],
    ["finds its lock taken, and would want a lease", ["--lock", "x", "--lease", "db=1:2"], 75],
    ["is drained", ["--lock", "drained"], 75],
    ["is drained, and would want a lease", ["--lock", "drained", "--lease", "db=1:2"], 75],
    ["is of another group", ["--lock", "y", "-g", "others"], 75],
    ["knows no total", ["--lock", "y", "--lease", "unknown=1"], 78],
  ])("so does one that %s", async (_, options, code) => {
    const room = house.room({ transport });
    await room.put(room.keys.drain("lock", "drained"), '{"by":"ann","at":1}');
    await room.put(room.keys.group("others"), '["web2.example.com"]');
    const holder = room.run(["--lock", "x", "--host", "holder.example.com"], FOR_EVER);
    await holder.waitForOutput(/up/);
    const run = room.run([...options, "--host", HOST], ["echo", "ran"]);
    expect(await run.ended).toMatchObject({ code, stdout: "" });
    expect(await said(room)).toMatchObject({ cpu: expect.any(Number) });
    holder.child.kill("SIGTERM");
    await holder.ended;
  });

  test("so does one that waits, while it waits", async () => {
    const room = house.room({ transport });
    const holder = room.run(["--lock", "x", "--host", "holder.example.com"], FOR_EVER);
    await holder.waitForOutput(/up/);
    const waiter = room.run(["--lock", "x", "--wait", "--host", HOST], ["echo", "ran"]);
    await room.standing(waiter, "waiting", "x");
    expect(await said(room)).toMatchObject({ cpu: expect.any(Number) });
    holder.child.kill("SIGTERM");
    expect(await waiter.ended).toMatchObject({ code: 0, stdout: "ran\n" });
  });

  test("said once, it is not said again within the same five minutes, but whenever it has changed", () =>
    withinOneStep(async () => {
      const room = house.room({ transport, env });
      const revisions: (bigint | undefined)[] = [];
      const ran = async (options: string[]) => {
        await room.run(options, ["true"]).ended;
        revisions.push((await said(room))?.revision);
      };
      await ran(["--lock", "x"]);
      await ran(["--lock", "y"]);
      await ran(["--no-lock", "--lease", "db=1:2"]);
      expect(revisions).toEqual([revisions[0], revisions[0], revisions[0]]);
      const older = '{"v":1,"cpu":1,"seenAt":1}';
      await room.put(room.keys.host(HOST), older);
      await ran(["--lock", "x"]);
      expect(await said(room)).toMatchObject({ version: expect.any(String) });
    }));

  test("a preview says nothing", async () => {
    const room = house.room({ transport, env });
    expect(await room.run(["--dry-run"], ["true"]).ended).toMatchObject({ code: 0 });
    expect(await said(room)).toBeUndefined();
  });

  test("history stays where it is read: with the grant", async () => {
    const room = house.room({ transport, env });
    for (let round = 0; round < 3; round += 1) await room.run(["--lock", "x"], ["true"]).ended;
    const [history] = (await room.store.readRange({ key: room.keys.history("x") })).kvs;
    expect(JSON.parse(history?.value ?? "")).toMatchObject({ runs: [{}, {}, {}] });
  });
});

test("without a configured name, it is the kernel's", async () => {
  const room = house.room();
  await room.run([], ["true"]).ended;
  const { kvs } = await room.store.readRange(room.keys.hosts());
  const [host] = kvs.map(({ key }) => room.keys.parse(key));
  expect(host).toMatchObject({ kind: "host", name: expect.stringContaining(hostname().toLowerCase()) });
});

describe("a role that may not write hosts", () => {
  test("runs all the same, at the price of one call more, and says so to who asks", async () => {
    const plain = house.room();
    const { endpoint, refusals } = await barringHosts(house.etcd.clientUrl, plain.keys);
    const room = house.room({ prefix: plain.prefix, endpoints: [endpoint], env: { SIGNALBOX_HOST: HOST } });
    expect(await room.run(["--lock", "x"], ["echo", "ran"]).ended).toEqual({
      ...silently(0),
      stdout: "ran\n",
    });
    expect(refusals()).toBe(1);
    const options = ["--lock", "x", "--lease", "db=1:2", "-v"];
    const { code, stderr } = await room.run(options, ["true"]).ended;
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/may not write the host record/),
    });
    expect(await said(room)).toBeUndefined();
    expect(await room.queue("x")).toEqual([]);
  });

  test("is refused, waits and is drained as ever", async () => {
    const plain = house.room();
    const { endpoint } = await barringHosts(house.etcd.clientUrl, plain.keys);
    const room = house.room({ prefix: plain.prefix, endpoints: [endpoint] });
    const holder = room.run(["--lock", "x"], FOR_EVER);
    await holder.waitForOutput(/up/);
    expect(await room.run(["--lock", "x"], ["true"]).ended).toEqual(silently(75));
    expect(await room.run(["--lock", "x", "--lease", "db=1:2"], ["true"]).ended).toEqual(silently(75));
    const waiter = room.run(["--lock", "x", "--wait"], ["echo", "ran"]);
    await plain.standing(waiter, "waiting", "x");
    holder.child.kill("SIGTERM");
    expect(await waiter.ended).toEqual({ ...silently(0), stdout: "ran\n" });
  });
});

test("a host's name that can be no key is refused before anything is asked of etcd", async () => {
  const room = house.room({ env: { SIGNALBOX_HOST: "a\u0007b" } });
  expect(await room.run([], ["true"]).ended).toEqual(saying(78, /host/));
  expect((await room.store.readRange(room.keys.hosts())).kvs).toEqual([]);
});
