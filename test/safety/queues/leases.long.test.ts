/** Weighted leases: the sum never exceeds the total, first come, first served, and there is no starvation or deadlock. */

import { describe, expect, it } from "vitest";
import { type ParallelRun, runInParallel } from "../../../fixtures/cluster/parallel-runs.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { findOvertakingGrants, recordChanges } from "../../../fixtures/cluster/ticket-changes.ts";
import { createTestRandom } from "../../../fixtures/test-seed.ts";

const TOTAL = 8;
const cluster = TestCluster.startForFile();
const random = createTestRandom("leases");

const buildLeaseOptions = (...leases: string[]) => [
  "--no-lock",
  ...leases.flatMap((lease) => ["--lease", lease]),
];
const buildUnitOptions = (count: number) => buildLeaseOptions(`db=${count}:${TOTAL}`);

describe.each([
  { transport: "http", claims: 100, workers: 20, killed: 4, pairs: 16 },
  { transport: "grpc", claims: 12, workers: 6, killed: 1, pairs: 3 },
] as const)("over $transport", ({ transport, claims, workers, killed, pairs }) => {
  it(`${claims} claims on ${TOTAL} units never hold more, and are granted in their order`, async () => {
    const namespace = await cluster.createTestNamespace(transport);
    const changes = await recordChanges(namespace, namespace.keys.getQueueRange("resource", "db"));
    const members = Array.from({ length: claims }, (_, index) => buildClaimant(index, claims / killed));
    await runInParallel(namespace, members, workers, TOTAL);
    expect(findOvertakingGrants(changes, TOTAL), namespace.jobs.journal.formatTimeline()).toEqual([]);
  });

  it("a large claim is not starved by small ones that keep coming and would fit", async () => {
    const namespace = await cluster.createTestNamespace(transport);
    const { jobs } = namespace;
    const holder = await jobs.startHolder("early", buildUnitOptions(6), { units: 6 });
    const large = await jobs.startWaiter("large", buildUnitOptions(TOTAL), { hold: [2], units: TOTAL });
    let isOver = false;
    const rounds = [1, 2, 3].map((lane) => keepComing(namespace, `lane${lane}`, () => isOver));
    await Promise.all([1, 2, 3].map((lane) => jobs.waitForTickets(`lane${lane}-1`, "waiting")));
    holder.finish();
    expect(await large.ended).toExit(0);
    isOver = true;
    await Promise.all(rounds);
    const order = jobs.journal.listNames();
    expect(order.slice(0, 2), jobs.journal.formatTimeline()).toEqual(["early", "large"]);
    expect(jobs.journal.findOveruse(TOTAL)).toEqual([]);
  });

  it(`${pairs} pairs that name two resources in opposite order never deadlock`, async () => {
    const namespace = await cluster.createTestNamespace(transport);
    const [forth, back] = [buildLeaseOptions("a=1:1", "b=2:2"), buildLeaseOptions("b=2:2", "a=1:1")];
    const members = Array.from({ length: 2 * pairs }, (_, index): ParallelRun => {
      return { name: `p${index}`, options: index % 2 === 0 ? forth : back };
    });
    await runInParallel(namespace, members, 8);
  });
});

/** One claim of 1 to 5 units; every so many-th is killed while its command runs. */
function buildClaimant(index: number, every: number): ParallelRun {
  const count = 1 + ((index * 3) % 5);
  const isDoomed = index % every === Math.floor(every / 2);
  return {
    name: `c${index}`,
    options: buildUnitOptions(count),
    hold: [1 + (index % 4)],
    units: count,
    killAt: isDoomed ? { after: "start", ms: random.drawBetween([0, 40]) } : undefined,
  };
}

/** One small claim after the other, so that there is always one about. */
async function keepComing(namespace: TestNamespace, name: string, isOver: () => boolean) {
  for (let round = 1; !isOver(); round += 1) {
    const run = namespace.jobs.start(`${name}-${round}`, buildUnitOptions(2), { units: 2 });
    expect(await run.ended).toExit(0);
  }
}
