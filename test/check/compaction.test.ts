/** Whether somebody compacts etcd, on a real one. */
import { expect, test } from "vitest";
import { TestCluster } from "../../fixtures/cluster/test-cluster.ts";
import { judgeCompaction } from "../../src/check/examine.ts";
import type { AnsweringMember } from "../../src/check/members.ts";
import { createRealClock } from "../../src/process/clock.ts";
import { realRandom } from "../../src/process/random.ts";

const cluster = TestCluster.startForFile();

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
    const member = { endpoint: "http://m1:2379", revision, dbSize: 100_000_000 } as AnsweringMember;
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
