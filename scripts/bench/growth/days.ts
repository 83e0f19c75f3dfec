import { createKeys } from "../../../src/core/protocol/keys.ts";
import type { KeyRange } from "../../../src/core/protocol/txn.ts";
import { connect } from "../../../src/library/index.ts";
import { measureCaller } from "../agent/single-runs.ts";
import type { BenchCluster } from "../bench-cluster.ts";
import { writeAudit, writeRuns } from "../sizes.ts";
import { GrowthSeries } from "./growth-series.ts";

/** Runs of a few locks, and actions of operators, each day: so many runs that all histories are full after the first day. */
const PER_DAY = 100;
const ROUNDS = 3;
/** Calls of each listing in a measurement. */
const CALLS = 3;
const keys = createKeys("/signalbox/");

/** Measures what is kept of the past, and its listings, by the days since a site began. */
export async function measureDays(cluster: BenchCluster, sizes: readonly number[]): Promise<GrowthSeries[]> {
  const kinds = [
    { what: "history", range: keys.histories(), growth: "constant" },
    { what: "audit", range: keys.audits(), growth: "linear" },
  ] as const;
  const listings = [
    { args: ["ls", "history"], growth: "constant" },
    { args: ["ls", "audit"], growth: "linear" },
    { args: ["ls", "audit", "--limit", "10"], growth: "constant" },
  ] as const;
  const bytes = kinds.map(({ what, growth }) => new GrowthSeries(`bytes of the ${what}`, growth));
  const times = listings.map(
    ({ args, growth }) => new GrowthSeries(`processor time of ${args.join(" ")}, ms`, growth),
  );
  const signalbox = await connect({ endpoints: [...cluster.endpoints], connectTimeout: "60s", env: {} });
  try {
    let day = 0;
    for (const size of sizes) {
      await writeRuns(signalbox, (size - day) * PER_DAY);
      await writeAudit(signalbox, (size - day) * PER_DAY);
      day = size;
      for (const [at, { range }] of kinds.entries()) bytes[at]?.add(size, await countBytes(cluster, range));
      for (let round = 0; round < ROUNDS; round += 1)
        for (const [at, { args }] of listings.entries())
          times[at]?.add(size, await measureCaller(cluster.buildSignalboxArgv(...args), CALLS, cluster.env));
    }
  } finally {
    await signalbox.close();
  }
  return [...bytes, ...times];
}

/** Counts the bytes of keys and values in a range. */
async function countBytes({ store }: BenchCluster, range: KeyRange): Promise<number> {
  const { kvs } = await store.readRange(range);
  return kvs.reduce((sum, { key, value }) => sum + key.length + Buffer.byteLength(value), 0);
}
