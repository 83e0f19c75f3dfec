/** Runs with several locks: all or none, in turn, without a deadlock whatever the order of their names. */

import { describe, expect, test as testWithout } from "vitest";
import { type ParallelRun, runInParallel } from "../../../fixtures/cluster/parallel-runs.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { findOvertakingGrants, recordChanges } from "../../../fixtures/cluster/ticket-changes.ts";
import { createTestRandom } from "../../../fixtures/test-seed.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const random = createTestRandom("several");

const listFlags = (...locks: string[]) => locks.flatMap((lock) => ["--lock", lock]);
const PAIRS = [listFlags("a", "b"), listFlags("b", "a"), listFlags("b", "c"), listFlags("c", "a", "b")];

testWithout.each(TRANSPORTS)(
  "over %s, runs that race for two or three of three locks never hold one together, nor deadlock",
  async (transport) => {
    const namespace = await cluster.createTestNamespace(transport);
    const changes = await Promise.all(
      ["a", "b", "c"].map((lock) => recordChanges(namespace, namespace.keys.getQueueRange("lock", lock))),
    );
    const members = Array.from({ length: 20 }, (_, index): ParallelRun => {
      return {
        name: `r${index}`,
        options: [...(PAIRS[index % 4] ?? []), ...(index % 5 === 4 ? [] : ["--wait"])],
        hold: [1 + (index % 3)],
        killAt: index % 6 === 1 ? { after: "start", ms: random.drawBetween([0, 30]) } : undefined,
      };
    });
    await runInParallel(namespace, members, 6); // all of them want lock b
    const timeline = namespace.jobs.journal.formatTimeline();
    for (const one of changes) expect(findOvertakingGrants(one, 1), timeline).toEqual([]);
  },
);

describe.concurrent("a run with two locks", () => {
  const BOTH = listFlags("a", "b");

  test("holds both, with one token, as every command shows; or none", async ({ namespace }) => {
    const { jobs } = namespace;
    const holder = await jobs.startHolder("both", [...BOTH, "--lease", "db=1:1"]);
    const [[a], [b]] = [await namespace.readQueue("a"), await namespace.readQueue("b")];
    expect([a?.ticket?.state, b?.ticket?.state]).toEqual(["held", "held"]);
    expect(a?.createRevision).toBe(b?.createRevision);
    for (const lock of ["a", "b"]) {
      expect(await namespace.execute(`check token ${lock} ${a?.createRevision}`)).toExit(0);
      expect(await namespace.run(["--lock", lock])).toExit(75);
    }
    const waiter = jobs.start("waiter", [...listFlags("c", "b"), "--wait"]);
    await namespace.waitForTicket(waiter, "waiting", "b");
    await namespace.waitForTicket(waiter, "admitted", "c");
    expect((await namespace.execute("why b")).stdout).toContain("for lock b: ");
    expect((await namespace.execute("ls runs")).stdout).toMatch(/ a b .*db=1/);
    const preview = await namespace.execute([
      "run",
      "--dry-run",
      "--json",
      ...listFlags("b", "d"),
      "--",
      "true",
    ]);
    expect(preview).toExit(75);
    expect(JSON.parse(preview.stdout)).toMatchObject({ lock: "b", locks: ["b", "d"], verdict: "refused" });
    expect(await namespace.run(listFlags("d", "b"))).toExit(75);
    expect(await namespace.readQueue("d")).toEqual([]);
    holder.finish();
    expect(await waiter.ended).toExit(0);
    for (const lock of ["a", "b"]) {
      expect((await namespace.executeJson(`ls history ${lock}`)).rows.at(-1)).toMatchObject({
        label: "both",
        token: String(a?.createRevision),
      });
    }
  });

  test("keeps both for its grace, and loses both by a reset of one", async ({ namespace }) => {
    expect(await namespace.run([...BOTH, "--grace", "60s"])).toExit(0);
    for (const lock of ["a", "b"]) expect(await namespace.run(["--lock", lock])).toExit(75);
    await namespace.expectDone("reset lock a --yes");
    await namespace.expectDone("reset lock b --yes");
    const { jobs } = namespace;
    const run = await jobs.startHolder("both", BOTH);
    await namespace.expectDone("reset lock b --yes");
    expect(await run.ended).toExit(125);
    expect(await namespace.run(BOTH)).toExit(0);
  });

  test("starts not while one of them is drained", async ({ namespace }) => {
    await namespace.expectDone("drain lock b --yes");
    expect(await namespace.run(BOTH)).toExit(75);
    const waiting = namespace.startRun([...BOTH, "--wait"]);
    expect(await namespace.run("--lock a")).toExit(0);
    await namespace.expectDone("undrain lock b --yes");
    expect(await waiting.ended).toExit(0);
  });

  test("names each lock once, and at most 16", async ({ namespace }) => {
    expect(await namespace.run(listFlags("a", "b", "a"))).toExit(0);
    const many = Array.from({ length: 17 }, (_, at) => `l${at}`);
    expect(await namespace.run(listFlags(...many.slice(1)))).toExit(0);
    expect(await namespace.run(listFlags(...many))).toExit(64);
  });
});
