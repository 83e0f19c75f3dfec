/** Schedules of @reboot: workers of several hosts that boot, on a real etcd. */

import { afterEach, beforeEach, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { MINUTE, returnOk, START, WorkerFixture } from "../../../fixtures/worker/worker-fixture.ts";
import type { ScheduledTask, TaskResult } from "../../../src/worker/handler.ts";

const cluster = TestCluster.startForFile();
let fixture: WorkerFixture;
let lines: string[];
beforeEach(() => {
  fixture = new WorkerFixture(cluster.store);
  lines = [];
});
afterEach(() => fixture.close());

const record = async (task: ScheduledTask) => {
  lines.push(`${task.host} ${(task.scheduled - START) / MINUTE}`);
  return returnOk();
};

/** Starts a worker on a host that has booted so many minutes after `START`. */
const startWorker = (host: string, id: string, minute: number, run = record) =>
  fixture.startWorker(run, { host, readBoot: () => ({ id, at: START + minute * MINUTE }) });

const addAtBoot = () => fixture.add("job", { cron: "@reboot", on: "every-host" });

const readState = (host: string) => fixture.readDue("job", host).catch(() => undefined);

/** Waits until a host has noted a boot, and runs nothing. */
const waitUntilNoted = (host: string, id: string) =>
  waitUntil(`${host} has noted ${id}`, async () => {
    const state = await readState(host);
    return state?.boots?.ids[0] === id && state.next === undefined && state.open.length === 0;
  });

test("runs once for each boot of each host, with two workers on one; a worker that starts late in a boot runs it too", async () => {
  await addAtBoot();
  fixture.clock.set(START + 60 * MINUTE);
  const first = [startWorker("web1", "a", 1), startWorker("web1", "a", 1), startWorker("web2", "b", 50)];
  await waitUntilNoted("web1", "a");
  await waitUntilNoted("web2", "b");
  expect(lines.toSorted()).toEqual(["web1 1", "web2 50"]);

  for (const worker of first) await worker.stop();
  await startWorker("web1", "a", 1).waitUntilJoined();
  startWorker("web2", "c", 59);
  await waitUntilNoted("web2", "c");
  expect(lines.toSorted()).toEqual(["web1 1", "web2 50", "web2 59"]);
  expect(await readState("web1")).toMatchObject({ boots: { ids: ["a"] }, last: { result: "ok" } });
});

test("not in a boot before it was added, nor in one that a host of the same name has run already", async () => {
  const before = startWorker("web1", "a", -5);
  await before.waitUntilJoined();
  await addAtBoot();
  await waitUntilNoted("web1", "a");
  startWorker("web2", "b", -1);
  await waitUntilNoted("web2", "b");
  expect(lines).toEqual([]);

  fixture.clock.set(START + 9 * MINUTE);
  startWorker("web1", "c", 7); // a second machine with the same name; both go on
  await waitUntilNoted("web1", "c");
  await waitUntil("both boots are noted", async () => (await readState("web1"))?.boots?.ids.length === 2);
  fixture.clock.advance(MINUTE);
  startWorker("web3", "d", 8);
  await waitUntilNoted("web3", "d");
  expect(lines.toSorted()).toEqual(["web1 7", "web3 8"]);
});

test("what was running when the host went down does not run again after the next boot, beside the run of that boot", async () => {
  await addAtBoot();
  fixture.clock.set(START + 2 * MINUTE);
  const gate = Promise.withResolvers<TaskResult>();
  const begun = Promise.withResolvers<void>();
  const dying = startWorker("web1", "a", 1, async () => {
    begun.resolve();
    return await gate.promise;
  });
  await begun.promise;
  const running = await fixture.listRunning();
  const stopped = dying.stop();
  gate.resolve({ result: "released" });
  await stopped;
  expect(running).toHaveLength(1);
  expect((await readState("web1"))?.open).toHaveLength(1);
  startWorker("web1", "b", 2);
  await waitUntilNoted("web1", "b");
  expect(lines).toEqual(["web1 2"]);
});

test("not again in a boot when its host leaves the group and comes back; a host that enters it waits for the next boot", async () => {
  const { keys } = fixture;
  const setGroup = (...hosts: string[]) => fixture.put(keys.group("web"), JSON.stringify(hosts));
  const waitForOther = (host: string, isThere: boolean) =>
    waitUntil(`${host} ${isThere ? "is" : "is not"} in the group`, async () => {
      const { kvs } = await fixture.store.readRange({ key: keys.due("other", host) });
      return kvs.length === (isThere ? 1 : 0);
    });
  await setGroup("web1");
  await fixture.add("job", { cron: "@reboot", on: "every-host", group: "web" });
  await fixture.add("other", { cron: "@manual", on: "every-host", group: "web" });
  fixture.clock.set(START + 2 * MINUTE);
  startWorker("web1", "a", 1);
  await waitUntilNoted("web1", "a");
  await startWorker("web2", "b", 1).waitUntilJoined();
  await setGroup("web2");
  await waitForOther("web1", false);
  await waitUntilNoted("web2", "b");
  await setGroup("web1", "web2");
  await waitForOther("web1", true);
  expect([lines, await readState("web1")]).toMatchObject([["web1 1"], { boots: { ids: ["a"] } }]);
});

test("a worker that has no boot to tell leaves it alone", async () => {
  await addAtBoot();
  await fixture.startWorker(record, { host: "web1" }).waitUntilJoined();
  await waitUntil("state of web1", () => readState("web1"));
  expect([lines, (await readState("web1"))?.boots?.ids]).toEqual([[], []]);
});
