/** Weighted leases: the sum never passes the total, first come is first served, nobody starves or deadlocks. */
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findOveruse } from "../../../fixtures/cluster/job-journal.ts";
import { findUnexpectedEnds, type ParallelRun, runInParallel } from "../support/parallel-runs.ts";
import { type Stage, Theatre } from "../support/theatre.ts";
import { findOvertakingGrants, recordChanges } from "../support/ticket-changes.ts";

const TOTAL = 8;
const theatre = new Theatre();

const leases = (...wishes: string[]) => ["--no-lock", ...wishes.flatMap((wish) => ["--lease", wish])];
const units = (count: number) => leases(`db=${count}:${TOTAL}`);

describe.each([
  { transport: "http", claims: 100, workers: 20, killed: 4, pairs: 16 },
  { transport: "grpc", claims: 12, workers: 6, killed: 1, pairs: 3 },
] as const)("over $transport", ({ transport, claims, workers, killed, pairs }) => {
  it(`${claims} claims on ${TOTAL} units never hold more, and are granted in their order`, async () => {
    const stage = await theatre.createTestNamespace(transport);
    const changes = await recordChanges(stage, stage.keys.getQueueRange("resource", "db"));
    const members = Array.from({ length: claims }, (_, index) => claimant(index, claims / killed));
    const ends = await runInParallel(stage, members, workers);
    const { journal } = stage;
    expect(findOveruse(journal.readLines(), TOTAL), journal.formatTimeline()).toEqual([]);
    expect(findOvertakingGrants(changes, TOTAL), journal.formatTimeline()).toEqual([]);
    expect(
      findUnexpectedEnds(members, ends, () => [0]),
      journal.formatTimeline(),
    ).toEqual([]);
  });

  it("a large claim is not starved by small ones that keep coming and would fit", async () => {
    const stage = await theatre.createTestNamespace(transport);
    const gate = `${stage.journal.folder}/gate`;
    await stage.startJobAndWait({ name: "early", options: units(6), hold: ["until", gate], units: 6 });
    const large = stage.startJob({ name: "large", options: units(TOTAL), hold: [2], units: TOTAL });
    await stage.waitForTickets("large", "waiting");
    let isOver = false;
    const rounds = [1, 2, 3].map((lane) => keepComing(stage, `lane${lane}`, () => isOver));
    await Promise.all([1, 2, 3].map((lane) => stage.waitForTickets(`lane${lane}-1`, "waiting")));
    writeFileSync(gate, "");
    expect(await large.ended).toMatchObject({ code: 0 });
    isOver = true;
    await Promise.all(rounds);
    const order = stage.journal.listStarts().map(({ name }) => name);
    expect(order.slice(0, 2), stage.journal.formatTimeline()).toEqual(["early", "large"]);
    expect(findOveruse(stage.journal.readLines(), TOTAL), stage.journal.formatTimeline()).toEqual([]);
  });

  it(`${pairs} pairs that name two resources in opposite order never deadlock`, async () => {
    const stage = await theatre.createTestNamespace(transport);
    const [forth, back] = [leases("a=1:1", "b=2:2"), leases("b=2:2", "a=1:1")];
    const members = Array.from({ length: 2 * pairs }, (_, index): ParallelRun => {
      return { name: `p${index}`, options: index % 2 === 0 ? forth : back };
    });
    const ends = await runInParallel(stage, members, 8);
    expect(
      findUnexpectedEnds(members, ends, () => [0]),
      stage.journal.formatTimeline(),
    ).toEqual([]);
    expect(findOveruse(stage.journal.readLines(), 1), stage.journal.formatTimeline()).toEqual([]);
  });
});

/** One claim of 1 to 5 units; every so many-th is killed while its command runs. */
function claimant(index: number, every: number): ParallelRun {
  const count = 1 + ((index * 3) % 5);
  const isDoomed = index % every === Math.floor(every / 2);
  return {
    name: `c${index}`,
    options: units(count),
    hold: [1 + (index % 4)],
    units: count,
    killAt: isDoomed ? { after: "start", ms: Math.random() * 40 } : undefined,
  };
}

/** One small claim after the other, so that there is always one about. */
async function keepComing(stage: Stage, name: string, isOver: () => boolean): Promise<void> {
  for (let round = 1; !isOver(); round += 1) {
    const run = stage.startJob({ name: `${name}-${round}`, options: units(2), units: 2 });
    expect(await run.ended).toMatchObject({ code: 0 });
  }
}
