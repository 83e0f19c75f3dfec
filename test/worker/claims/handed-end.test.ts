/** An end that not all schedules that follow have yet, when the clock of the worker that wrote it was ahead. */
import { expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { formatDue, type HandedEnd } from "../../../src/schedule/state/due.ts";
import { MINUTE, returnOk, START, WorkerFixture } from "../worker-fixture.ts";

const cluster = TestCluster.startForFile();

test("it is handed on at once, and does not hold up the schedule that has ended", async () => {
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
