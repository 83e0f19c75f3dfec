/** Every run writes the host record, without extra cost. */

import { hostname } from "node:os";
import { describe, expect } from "vitest";
import { refuseHostWrites } from "../../../fixtures/cluster/host-write-refuser.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import {
  HOST_RECORD_INTERVAL,
  type HostRecord,
  parseHostRecord,
} from "../../../src/core/fleet/host-record.ts";

const HOST = "web1.example.com";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** What a host said last, and at which revision. */
async function readHostRecord(
  namespace: TestNamespace,
  host = HOST,
): Promise<(HostRecord & { revision: bigint }) | undefined> {
  const [kv] = (await namespace.store.readRange({ key: namespace.keys.host(host) })).kvs;
  return kv && { ...parseHostRecord(host, kv.value), revision: kv.modRevision };
}

/** Entries of etcd's log that some work costs. */
async function countProposals(work: () => Promise<unknown>) {
  const index = async () => {
    const [status] = await cluster.store.readMemberStatuses();
    if (!status?.ok) throw new Error("etcd does not tell its status");
    return Number(status.raftIndex);
  };
  const before = await index();
  await work();
  return (await index()) - before;
}

/** Plays what takes no longer than a step of the time in which hosts say so: once more where it failed and the next has begun. */
async function playWithinOneInterval(play: () => Promise<void>) {
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
    ["a run without history", ["--lock", "x", "--no-history"], 4],
    ["a run with a lease", ["--lock", "x", "--lease", "db=1:2"], 5],
    ["a lease alone", ["--no-lock", "--lease", "db=1:2"], 5],
  ])("%s %j: %d proposals, the first time as ever after", async (_, options, wanted) => {
    const namespace = cluster.createNamespace({ env: { SIGNALBOX_HOST: HOST } });
    const counts: number[] = [];
    for (let round = 0; round < 3; round += 1)
      counts.push(await countProposals(() => namespace.run(options, job)));
    expect(counts).toEqual([wanted, wanted, wanted]);
    expect(await readHostRecord(namespace)).toBeDefined();
  });

  test("a run that finds the lock taken: what it always did", () =>
    playWithinOneInterval(async () => {
      const namespace = cluster.createNamespace({ env: { SIGNALBOX_HOST: HOST, SIGNALBOX_TTL: "60s" } });
      const holder = await namespace.startHolder("--lock x");
      const runLoser = () => namespace.run("--lock x --host loser.example.com", job);
      expect(await countProposals(runLoser)).toBe(3);
      expect(await readHostRecord(namespace, "loser.example.com")).toBeDefined();
      const looker = ["--lock", "x", "--lease", "db=1:2", "--host", "looker.example.com"];
      const counts: number[] = [];
      for (let round = 0; round < 3; round += 1)
        counts.push(await countProposals(() => namespace.run(looker, job)));
      expect(counts, "who looks first claims nothing: the word is a call of its own, once").toEqual([
        3, 2, 2,
      ]);
      await holder.end();
    }));
});

describe.each(TRANSPORTS)("over %s", (transport) => {
  const env = { SIGNALBOX_HOST: HOST };

  test("a granted run says what its host is", async () => {
    const namespace = cluster.createNamespace({ transport, env });
    const since = Date.now();
    expect(await namespace.run()).toExitSilently(0);
    const record = await readHostRecord(namespace);
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
    const namespace = cluster.createNamespace({ transport });
    await namespace.put(namespace.keys.drain("lock", "drained"), '{"by":"ann","at":1}');
    await namespace.put(namespace.keys.group("others"), '["web2.example.com"]');
    const holder = await namespace.startHolder("--lock x --host holder.example.com");
    const run = namespace.startRun([...options, "--host", HOST], "echo ran");
    expect(await run.ended).toExit(code, { stdout: "" });
    expect(await readHostRecord(namespace)).toMatchObject({ cpu: expect.any(Number) });
    await holder.end();
  });

  test("so does one that waits, while it waits", async () => {
    const namespace = cluster.createNamespace({ transport });
    const holder = await namespace.startHolder("--lock x --host holder.example.com");
    const waiter = namespace.startRun(["--lock", "x", "--wait", "--host", HOST], "echo ran");
    await namespace.waitForTicket(waiter, "waiting", "x");
    expect(await readHostRecord(namespace)).toMatchObject({ cpu: expect.any(Number) });
    holder.kill("SIGTERM");
    expect(await waiter.ended).toMatchObject({ code: 0, stdout: "ran\n" });
  });

  test("said once, it is not said again within the same five minutes, but whenever it has changed", () =>
    playWithinOneInterval(async () => {
      const namespace = cluster.createNamespace({ transport, env });
      const revisions: (bigint | undefined)[] = [];
      const runAndRecord = async (options: string[]) => {
        await namespace.run(options);
        revisions.push((await readHostRecord(namespace))?.revision);
      };
      await runAndRecord(["--lock", "x"]);
      await runAndRecord(["--lock", "y"]);
      await runAndRecord(["--no-lock", "--lease", "db=1:2"]);
      expect(revisions).toEqual([revisions[0], revisions[0], revisions[0]]);
      const older = '{"v":1,"cpu":1,"seenAt":1}';
      await namespace.put(namespace.keys.host(HOST), older);
      await runAndRecord(["--lock", "x"]);
      expect(await readHostRecord(namespace)).toMatchObject({ version: expect.any(String) });
    }));

  test("a preview says nothing", async () => {
    const namespace = cluster.createNamespace({ transport, env });
    expect(await namespace.run("--dry-run")).toExit(0);
    expect(await readHostRecord(namespace)).toBeUndefined();
  });

  test("history stays where it is read: with the grant", async () => {
    const namespace = cluster.createNamespace({ transport, env });
    for (let round = 0; round < 3; round += 1) await namespace.run("--lock x");
    const [history] = (await namespace.store.readRange({ key: namespace.keys.history("x") })).kvs;
    expect(JSON.parse(history?.value ?? "")).toMatchObject({ runs: [{}, {}, {}] });
  });
});

test("without a configured name, it is the kernel's", async ({ namespace }) => {
  await namespace.run();
  const { kvs } = await namespace.store.readRange(namespace.keys.hosts());
  const [host] = kvs.map(({ key }) => namespace.keys.parse(key));
  expect(host).toMatchObject({ kind: "host", name: expect.stringContaining(hostname().toLowerCase()) });
});

describe("a role that may not write hosts", () => {
  test("runs all the same, at the price of one call more, and says so to who asks", async () => {
    const plain = cluster.createNamespace();
    const { endpoint, refusals } = await refuseHostWrites(cluster.etcd.clientUrl, plain.keys);
    const namespace = cluster.createNamespace({
      prefix: plain.prefix,
      endpoints: [endpoint],
      env: { SIGNALBOX_HOST: HOST },
    });
    expect(await namespace.run("--lock x", "echo ran")).toPrint("ran\n");
    expect(refusals()).toBe(1);
    const options = ["--lock", "x", "--lease", "db=1:2", "-v"];
    expect(await namespace.run(options)).toExit(0, {
      stderr: "may not write the host record",
    });
    expect(await readHostRecord(namespace)).toBeUndefined();
    expect(await namespace.readQueue("x")).toEqual([]);
  });

  test("is refused, waits and is drained as ever", async () => {
    const plain = cluster.createNamespace();
    const { endpoint } = await refuseHostWrites(cluster.etcd.clientUrl, plain.keys);
    const namespace = cluster.createNamespace({ prefix: plain.prefix, endpoints: [endpoint] });
    const holder = await namespace.startHolder("--lock x");
    expect(await namespace.run("--lock x")).toExitSilently(75);
    expect(await namespace.run("--lock x --lease db=1:2")).toExitSilently(75);
    const waiter = namespace.startRun("--lock x --wait", "echo ran");
    await plain.waitForTicket(waiter, "waiting", "x");
    holder.kill("SIGTERM");
    expect(await waiter.ended).toPrint("ran\n");
  });
});

test("a host's name that can be no key is refused before anything is asked of etcd", async () => {
  const namespace = cluster.createNamespace({ env: { SIGNALBOX_HOST: "a\u0007b" } });
  expect(await namespace.run()).toFail(78, "host");
  expect((await namespace.store.readRange(namespace.keys.hosts())).kvs).toEqual([]);
});
