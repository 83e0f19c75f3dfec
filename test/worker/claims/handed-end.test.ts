/** An end that not all schedules that follow have yet. */
import { expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { MINUTE, returnOk, START, WorkerFixture } from "../../../fixtures/worker/worker-fixture.ts";
import { formatDue, type HandedEnd } from "../../../src/schedule/state/due.ts";

const cluster = TestCluster.startForFile();

test("if the clock of its worker was ahead, it does not hold up the schedule that has ended", async () => {
  const fixture = new WorkerFixture(cluster.store);
  const { keys } = fixture;
  await fixture.add("first", { cron: "0 0 1 1 *" }, { at: START });
  await fixture.add("next", { cron: "@manual", after: ["first"] });
  const end: HandedEnd = {
    id: "first",
    scheduled: START - MINUTE,
    endedAt: START + 60 * MINUTE,
    result: "ok",
    isDead: false,
    upTo: "",
  };
  const due = { ...(await fixture.readDue("first")), successors: ["next"], handed: [end] };
  await fixture.put(keys.due("first"), formatDue(due));
  const worker = fixture.startWorker(returnOk);
  const handed = waitUntil("the end", async () => (await fixture.readDue("next")).open.length > 0);
  await Promise.race([handed, worker.ended]);
  expect(await worker.waitForOutcomes(1)).toMatchObject([{ result: "ok", attempt: 1 }]);
  expect(await fixture.readDue("first")).not.toHaveProperty("handed");
  await fixture.close();
});

test("an occurrence whose workers vanish again and again is given up, and the schedules that follow get its end", async () => {
  const fixture = new WorkerFixture(cluster.store);
  const { keys } = fixture;
  await fixture.add("first", { cron: "0 0 1 1 *" });
  await fixture.add("next", { cron: "@manual", after: ["first"], on: "failure" });
  const open = { scheduled: START, runAt: START, attempt: 1_000, failures: 0, kind: "due" } as const;
  const due = { ...(await fixture.readDue("first")), successors: ["next"], open: [open] };
  await fixture.put(keys.due("first"), formatDue(due));
  const worker = fixture.startWorker(returnOk);
  expect(await worker.waitForOutcomes(2)).toMatchObject([
    { result: "lost" },
    { result: "ok", scheduled: START },
  ]);
  expect((await fixture.readOutcomes("next")).runs).toMatchObject([{ result: "ok" }]);
  expect((await fixture.readOutcomes("first")).dead).toMatchObject([{ result: "lost" }]);
  expect(await fixture.readDue("first")).not.toHaveProperty("handed");
  await fixture.close();
});
