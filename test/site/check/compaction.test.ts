/** Whether somebody compacts etcd, on a real one. */
import { expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { appendPastRun } from "../../../src/core/protocol/history.ts";
import type { AnsweringStatus } from "../../../src/core/protocol/member.ts";
import { judgeCompaction } from "../../../src/site/check/examine.ts";

const cluster = TestCluster.startForFile();

test("the days that are left are those at the rate since a revision whose time a value states", async () => {
  const namespace = await cluster.createTestNamespace("http");
  const { store, keys } = namespace;
  const put = async (key: string, value: string, times: number) => {
    for (let left = times; left > 0; left -= 1)
      await store.commitTxn({ compare: [], success: [{ op: "put", key, value }], failure: [] });
  };
  const endedAt = Date.now() - 5 * 86_400_000;
  const times = { enqueuedAt: endedAt, grantedAt: endedAt, endedAt, waited: 0, held: 0 };
  const past = { run: "r", host: "h", pid: 1, command: "c", token: "1", exit: 0, ...times };
  await put(keys.history("x"), appendPastRun(undefined, past), 1);
  const { revision: before } = await store.readRange({ key: keys.prefix });
  await put(keys.due("x"), "", 2_100 + Number(before)); // one of these is in the middle of all
  const { revision } = await store.readRange({ key: keys.prefix });
  const member = { endpoint: "http://m1:2379", revision, dbSize: 90_000_000 } as AnsweringStatus;
  const ports = {
    store,
    keys,
    clock: createRealClock(),
    random: realRandom,
    settings: { connectTimeout: 5_000 },
  };
  const findings = await judgeCompaction(ports, [member], () => ({ bytes: 100_000_000, source: "flag" }));
  expect(findings).toMatchObject([{ level: "warning" }]);
  expect(findings[0]?.detail).toMatch(
    /, in about [\dhdm ]+ \(\d+ in the last 5d, \d+ B each, quota 95 MiB\)/,
  );
});

test("an etcd with many revisions that was never compacted is reported, with what is left", async () => {
  const namespace = await cluster.createTestNamespace("http");
  const { store, keys } = namespace;
  const ports = {
    store,
    keys,
    clock: createRealClock(),
    random: realRandom,
    settings: { connectTimeout: 5_000 },
  };
  const judge = (revision: bigint) => {
    const member = { endpoint: "http://m1:2379", revision, dbSize: 100_000_000 } as AnsweringStatus;
    return judgeCompaction(ports, [member], () => ({ bytes: 2_100_000_000, source: "assumed" }));
  };
  expect(await judge(99_999n)).toEqual([]);
  expect(await judge(200_000n)).toMatchObject([
    {
      level: "warning",
      detail: expect.stringContaining(
        "all its 200000 changes stay in the database (95 MiB). It is full after about 4000000 more",
      ),
      remedy: expect.stringContaining("--auto-compaction-retention=1h"),
    },
  ]);
  const put = { op: "put", key: keys.schedule("x"), value: "" } as const;
  const { revision } = await store.commitTxn({ compare: [], success: [put], failure: [] });
  await cluster.etcd.runEtcdctl("compact", String(revision));
  expect(await judge(200_000n)).toMatchObject([{ level: "ok" }]);
});
