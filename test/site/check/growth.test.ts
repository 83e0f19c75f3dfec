/** Whether etcd's past states are removed, and when its database is full otherwise. */
import { expect, it } from "vitest";
import { startCluster } from "../../../fixtures/etcd/index.ts";
import { readAutoCompaction } from "../../../src/core/etcd/member-metrics.ts";
import { type GrowthFacts, judgeGrowth } from "../../../src/site/check/examine.ts";

const DAY = 86_400_000;
const MIB = 1024 ** 2;
/** Never compacted: 1,000,000 changes of 1 KiB in 10 days. */
const FACTS: GrowthFacts = {
  revision: 1_000_000n,
  dbSize: 1_000_000 * 1024,
  quota: 2_048_000_000,
  oldest: { revision: 1n, at: undefined },
  middle: { revision: 500_000n, at: 95 * DAY },
  retentions: [undefined],
  now: 100 * DAY,
};
const compacted = (days: number): Partial<GrowthFacts> => ({
  oldest: { revision: 500_000n, at: (100 - days) * DAY },
  middle: { revision: 750_000n, at: (100 - days / 2) * DAY },
});

it.each<[string, Partial<GrowthFacts>, string | undefined, string]>([
  // case, what differs, level, part of the detail
  [
    "never compacted",
    {},
    "warning",
    "all its 1000000 changes stay in the database (977 MiB). It is full after about 1000000 more, in about 10d (500000 in the last 5d, 1024 B each, quota 1.9 GiB)",
  ],
  [
    "nobody knows since when",
    { oldest: { revision: 1n, at: undefined } },
    "warning",
    "It is full after about 1000000 more",
  ],
  ["full already", { quota: MIB }, "warning", "after about 0 more"],
  [
    "few changes, and much time",
    { revision: 90_000n, middle: { revision: 45_000n, at: 95 * DAY }, dbSize: 9 * MIB },
    undefined,
    "",
  ],
  [
    "few changes, but a small quota",
    { revision: 90_000n, middle: { revision: 45_000n, at: 95 * DAY }, dbSize: 9 * MIB, quota: 10 * MIB },
    "warning",
    "in about 1d",
  ],
  [
    "too few to know a rate",
    { revision: 900n, middle: { revision: 450n, at: 95 * DAY }, dbSize: MIB, quota: 1.1 * MIB },
    undefined,
    "",
  ],
  [
    "too little time to know a rate",
    { middle: { revision: 45_000n, at: 100 * DAY - 60_000 }, revision: 90_000n },
    undefined,
    "",
  ],
  ["a clock that is behind", { now: 80 * DAY }, "warning", "after about 1000000 more"],
  ["compacted all the time", compacted(0.1), "ok", "past states are removed"],
  [
    "compacted, nobody knows when",
    { oldest: { revision: 7n, at: undefined } },
    "ok",
    "past states are removed",
  ],
  [
    "compacted once",
    compacted(5),
    "warning",
    "nobody has compacted this etcd for 5d: 500000 changes since then stay",
  ],
  [
    "compacted once, free space counts",
    { ...compacted(5), dbInUse: 512_000_000 },
    "warning",
    "full after about 1500000 more, in about 15d",
  ],
  ["all members say that they compact", { retentions: ["1h", "1h"] }, "ok", "--auto-compaction-retention=1h"],
  ["one member says that it does not", { retentions: ["1h", "0"] }, "warning", "nobody has ever"],
  ["a member says nothing", { retentions: ["1h", undefined] }, "warning", "nobody has ever"],
  ["set to none in another way", { retentions: ["0h"] }, "warning", "nobody has ever"],
])("%s", (_, differs, level, detail) => {
  const findings = judgeGrowth({ ...FACTS, ...differs });
  expect(findings.map((finding) => finding.level)).toEqual(level === undefined ? [] : [level]);
  expect(findings[0]?.detail ?? "").toContain(detail);
});

it("a member says for how long it keeps past states", async () => {
  const cluster = await startCluster(1, { args: ["--auto-compaction-retention=3h"] });
  try {
    const [endpoint = ""] = cluster.endpoints;
    const { signal } = new AbortController();
    expect(await readAutoCompaction(endpoint, undefined, signal)).toBe("3h");
    expect(await readAutoCompaction("http://127.0.0.1:9", undefined, signal)).toBeUndefined();
  } finally {
    await cluster.stop();
  }
});
