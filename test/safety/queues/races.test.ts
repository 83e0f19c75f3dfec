/** Runs race for one lock, and runners are killed in between: one holder at a time, each with a greater token. */

import { describe, it } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { runRace } from "../support/race.ts";

const cluster = TestCluster.startForFile();

describe.each([
  { transport: "http", runs: 12, workers: 6, killed: { of: 6, together: 1 } },
  { transport: "grpc", runs: 8, workers: 4, killed: { of: 4, together: 1 } },
] as const)("over $transport, $runs runs racing for one lock", ({ transport, ...plan }) => {
  it("never hold it together, and their tokens grow", async () => {
    await runRace(await cluster.createTestNamespace(transport), plan);
  });
});
