/** Locks that runs share: readers together, a writer alone, first come, first served. */

import { describe, expect } from "vitest";
import { type ParallelRun, runInParallel } from "../../../fixtures/cluster/parallel-runs.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { findOvertakingGrants, recordChanges } from "../../../fixtures/cluster/ticket-changes.ts";
import { createTestRandom } from "../../../fixtures/test-seed.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const random = createTestRandom("shared");

const LOCK = ["--lock", "data"];
const READ = [...LOCK, "--shared"];

/** In the journal, a writer uses all of these, a reader one: readers fit beside readers only. */
const ALL = 1_000;

describe.each(TRANSPORTS)("over %s", (transport) => {
  test("readers and writers that race, some of which are killed, never overlap, and are granted in turn", async () => {
    const namespace = await cluster.createTestNamespace(transport);
    const changes = await recordChanges(namespace, namespace.keys.getQueueRange("lock", "data"));
    const members = Array.from({ length: 24 }, (_, index) => buildMember(index));
    await runInParallel(namespace, members, 8, ALL);
    expect(findOvertakingGrants(changes, 1), namespace.jobs.journal.formatTimeline()).toEqual([]);
  });

  test("a reader joins readers, and a writer that waits stops later ones", async () => {
    const namespace = await cluster.createTestNamespace(transport);
    const { jobs } = namespace;
    const reader = await holdReader(namespace);
    expect(await namespace.run(READ)).toExit(0);
    expect(await namespace.run([...READ, "--wait"])).toExit(0);
    expect(await namespace.run(LOCK)).toExit(75);
    const writer = await jobs.startWaiter("writer", [...LOCK, "--wait"], { hold: [300] });
    expect(await namespace.run(READ)).toExit(75);
    const later = await jobs.startWaiter("later", [...READ, "--wait"]);
    expect(jobs.journal.listNames()).toEqual(["reader"]);
    reader.finish();
    expect(await later.ended).toExit(0);
    expect(await writer.ended).toExit(0);
    const order = jobs.journal.readLines().map(({ name, what }) => `${name} ${what}`);
    const happened = order.filter((line) => !line.endsWith("beat"));
    expect(happened.slice(1)).toEqual([
      "reader end",
      "writer start",
      "writer end",
      "later start",
      "later end",
    ]);
    expect(await namespace.readQueue("data")).toEqual([]);
  });
});

/** Every third is a writer, every fourth gives up when it cannot get the lock, every sixth is killed while its command runs. */
function buildMember(index: number): ParallelRun {
  const isReader = index % 3 !== 2;
  return {
    name: `${isReader ? "reader" : "writer"}${index}`,
    options: [...(isReader ? READ : LOCK), ...(index % 4 === 3 ? [] : ["--wait"])],
    hold: [1 + (index % 3)],
    units: isReader ? 1 : ALL,
    killAt: index % 6 === 1 ? { after: "start", ms: random.drawBetween([0, 30]) } : undefined,
  };
}

/** Starts a reader whose command ends when it is told to finish. */
const holdReader = ({ jobs }: TestNamespace, name = "reader", more: string[] = []) =>
  jobs.startHolder(name, [...READ, ...more]);

describe.concurrent("a lock that runs share", () => {
  test("is held by all of them, as every command shows", async ({ namespace }) => {
    const { jobs } = namespace;
    await holdReader(namespace, "one");
    await holdReader(namespace, "two", ["--no-history"]);
    const [one, two] = await namespace.readQueue("data");
    const ls = await namespace.execute("ls locks --json");
    expect(JSON.parse(ls.stdout).rows[0]).toMatchObject({
      state: "held",
      used: 1,
      holders: [
        { label: "one", shared: true },
        { label: "two", shared: true },
      ],
    });
    expect((await namespace.execute("ls locks")).stdout).toContain("held, shared");
    const runs = (await namespace.executeJson("ls runs")).rows;
    expect(runs).toMatchObject([{ tickets: [{ shared: true }] }, { tickets: [{ shared: true }] }]);
    for (const { createRevision = 0n } of [one ?? {}, two ?? {}])
      expect(await namespace.execute(`check token data ${createRevision}`)).toExit(0);
    expect(await namespace.execute("check token data 1")).toExit(1);
    const preview = await namespace.execute(["run", "--dry-run", ...READ, "--", "true"]);
    expect(preview.stdout).toContain("would be granted at once");
    const writer = await jobs.startWaiter("writer", [...LOCK, "--wait"]);
    expect((await namespace.execute("why data")).stdout).toMatch(/has held it for .*, 1 shares it/);
    await namespace.expectDone("ls problems");
    expect(await namespace.execute(["run", "--dry-run", ...READ, "--", "true"])).toExit(75);
    await namespace.execute("reset lock data --yes --no-wait");
    expect(await writer.ended).toExit(0);
  });

  test("keeps writers out until its grace ends, but not readers", async ({ namespace }) => {
    expect(await namespace.run([...READ, "--grace", "60s"])).toExit(0);
    expect((await namespace.readQueue("data"))[0]?.ticket).toMatchObject({ state: "grace", shared: true });
    expect(await namespace.run(READ)).toExit(0);
    const history = (await namespace.executeJson("ls history data")).rows;
    expect(history).toMatchObject([{ shared: true }, { shared: true }]);
    expect(await namespace.run(LOCK)).toExit(75);
    await namespace.expectDone("reset lock data --yes");
    expect(await namespace.run(LOCK)).toExit(0);
  });

  test("is reset as a whole, or for one run", async ({ namespace }) => {
    const { jobs } = namespace;
    await holdReader(namespace, "one");
    await holdReader(namespace, "two");
    const [one] = await namespace.readQueue("data");
    await namespace.expectDone("reset run", one?.run ?? "", "--yes");
    expect((await namespace.readQueue("data")).map(({ ticket }) => ticket?.label)).toEqual(["two"]);
    const again = await namespace.execute([
      "reset",
      "lock",
      "data",
      "--run",
      one?.run ?? "",
      "--force",
      "--yes",
    ]);
    expect(again.stdout).toBe(`run "${one?.run}" neither holds lock "data" nor waits for it\n`);
    await holdReader(namespace, "three");
    const all = await namespace.execute("reset lock data --yes");
    expect(all).toExit(0, { stdout: /^\S+, \S+ have ended, after .*\nlock data is free/m });
    expect(await namespace.readQueue("data")).toEqual([]);
    expect(jobs.journal.listStarts()).toHaveLength(3);
  });

  test("gets no new reader while it is drained", async ({ namespace }) => {
    const reader = await holdReader(namespace);
    await namespace.expectDone("drain lock data --yes");
    expect(await namespace.run(READ)).toExit(75);
    const emptied = namespace.start("drain lock data --wait --yes");
    reader.finish();
    expect(await emptied.ended).toExit(0);
  });

  test("keeps its readers' units: each of them has leases of its own", async ({ namespace }) => {
    const { jobs } = namespace;
    const lease = ["--lease", "db=2:3"];
    const reader = await holdReader(namespace, "one", lease);
    const second = jobs.start("two", [...READ, ...lease]);
    await waitUntil("the second has the lock, and waits for its lease", async () => {
      const [ticket] = await namespace.readQueue("db", "resource").then((queue) => queue.slice(1));
      return ticket?.ticket?.state === "waiting";
    });
    expect((await namespace.readQueue("data")).map(({ ticket }) => ticket?.state)).toEqual([
      "held",
      "admitted",
    ]);
    reader.finish();
    expect(await second.ended).toExit(0);
  });
});
