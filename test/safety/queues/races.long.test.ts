/** Many runs race for one lock, and up to three runners at a time are killed in between. */

import { describe, it } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { runRace } from "../support/race.ts";

const cluster = TestCluster.startForFile();

describe.each([
  { transport: "http", runs: 200, workers: 20, killed: { of: 40, together: 3 } },
  { transport: "grpc", runs: 24, workers: 8, killed: { of: 8, together: 1 } },
] as const)("over $transport, $runs runs racing for one lock", ({ transport, ...plan }) => {
  it("never hold it together, and their tokens grow", async () => {
    await runRace(await cluster.createTestNamespace(transport), plan);
  });
});
