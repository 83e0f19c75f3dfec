/** Limits per time, over several connections. */
import { expect, test } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { BusyError, ConfigError, type Signalbox } from "../../../src/library/index.ts";

const cluster = TestCluster.startForFile();
async function connectTwice(): Promise<[Signalbox, Signalbox]> {
  const namespace = cluster.createNamespace();
  return [await connectLibrary(namespace), await connectLibrary(namespace)];
}

test.concurrent("no more calls begin in a span than allowed", async () => {
  const both = await connectTwice();
  const [span, max] = [400, 2];
  const begin = async (index: number) => {
    await both[index % 2]?.limitRate("api", { max, per: span });
    return performance.now();
  };
  const times = (await Promise.all([0, 1, 2, 3, 4].map(begin))).sort((a, b) => a - b);
  // A unit is kept for the span from the instant at which its call begins. Timers are exact to a millisecond.
  const gaps = times.slice(max).map((time, index) => time - (times[index] ?? 0));
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(span - 2);
});

test.concurrent("says that it would have to wait, and refuses wrong options", async () => {
  const [one, other] = await connectTwice();
  await one.limitRate("api", { max: 1, per: "1h" });
  await expect(other.limitRate("api", { max: 1, per: "1h", wait: false })).rejects.toBeInstanceOf(BusyError);
  await expect(one.limitRate("api", { max: 0, per: 5 })).rejects.toBeInstanceOf(ConfigError);
  await expect(one.limitRate("api", { max: 1 } as never)).rejects.toBeInstanceOf(ConfigError);
  await one.close(); // gives back what it has begun
  await other.limitRate("api", { max: 1, per: 1 });
});
