/** Schedules that run on every host: several workers with different host names on a real etcd. */

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { MINUTE, returnOk, START, WorkerFixture } from "../../../fixtures/worker/worker-fixture.ts";
import type { Definition } from "../../../src/schedule/definition.ts";
import { formatDefinition } from "../../../src/schedule/definition.ts";
import { parseDue } from "../../../src/schedule/state/due.ts";
import { applyMutation } from "../../../src/site/operate/schedule-mutation.ts";
import { buildModifyMutation } from "../../../src/site/operate/schedule-mutations.ts";
import type { ScheduledTask, TaskResult } from "../../../src/worker/handler.ts";

const cluster = TestCluster.startForFile();
let fixture: WorkerFixture;
beforeEach(() => {
  fixture = new WorkerFixture(cluster.store);
});
afterEach(() => fixture.close());

/** The tasks of all workers, as `HOST MINUTE`, minutes since `START`. */
class Journal {
  readonly lines: string[] = [];
  readonly tasks: ScheduledTask[] = [];

  record = async (task: ScheduledTask) => {
    this.lines.push(`${task.host} ${(task.scheduled - START) / MINUTE}`);
    this.tasks.push(task);
    return returnOk();
  };

  async waitFor(count: number) {
    await waitUntil(`${count} runs`, () => this.lines.length >= count);
    return [...this.lines].sort();
  }
}

const addOnEveryHost = (change: Partial<Definition> = {}) =>
  fixture.add("job", { on: "every-host", ...change });
const startWorker = (host: string, run: (task: ScheduledTask) => Promise<TaskResult>) =>
  fixture.startWorker(run, { host });

async function listHostStates(): Promise<Record<string, number | undefined>> {
  const { kvs } = await fixture.store.readRange(fixture.keys.getHostStateRanges("job").dues);
  const states = kvs.map(({ key, value }) => {
    const parsed = parseDue(value);
    return [key.split("/").at(-1), "value" in parsed ? parsed.value.next : undefined] as const;
  });
  return Object.fromEntries(states);
}

const waitForHosts = (...hosts: string[]) =>
  waitUntil("states of hosts", async () => Object.keys(await listHostStates()).join() === hosts.join());

/** Sets the clock, which makes occurrences due. Call it when all hosts have their states. */
const setMinute = (minute: number) => fixture.clock.set(START + minute * MINUTE + 100);

describe("each occurrence runs once on each host", () => {
  test("also with two workers on a host; the states, outcomes and running keys are those of the host", async () => {
    fixture.clock.set(START - 30_000);
    await addOnEveryHost();
    const journal = new Journal();
    const workers = ["web1", "web2", "web2"].map((host) => startWorker(host, journal.record));
    await Promise.all(workers.map((worker) => worker.waitUntilJoined()));
    await waitForHosts("web1", "web2");
    for (const minute of [0, 1, 2]) {
      setMinute(minute);
      await journal.waitFor(2 * (minute + 1));
    }
    expect(await journal.waitFor(6)).toEqual(["web1 0", "web1 1", "web1 2", "web2 0", "web2 1", "web2 2"]);
    await waitUntil("nothing runs", async () => (await fixture.listRunning()).length === 0);
    expect(await listHostStates()).toEqual({ web1: START + 3 * MINUTE, web2: START + 3 * MINUTE });
    const own = await fixture.store.readRange({ key: fixture.keys.outcomes("job", "web2") });
    expect(own.kvs[0]?.value).toContain('"host":"web2"');
    expect((await fixture.readDue("job")).next).toBe(START); // only operators write it
    expect(journal.tasks[0]?.key).toContain("/running/job/web");
  });

  test("from its first occurrence, if it was added while the workers were there, though that was due before they saw it", async () => {
    const journal = new Journal();
    await startWorker("web1", journal.record).waitUntilJoined();
    await fixture.add(
      "job",
      { on: "every-host", cron: `@at ${new Date(START - 5_000).toISOString()}` },
      { start: START - 5_000 },
    );
    await journal.waitFor(1);
    expect(journal.tasks[0]?.scheduled).toBe(START - 5_000);
  });

  test("only in its group; what was due while a host was not in it does not run there", async () => {
    const { keys } = fixture;
    const setGroup = (...hosts: string[]) => fixture.put(keys.group("web"), JSON.stringify(hosts));
    await setGroup("web1", "web2");
    await addOnEveryHost({ group: "web" });
    const journal = new Journal();
    for (const host of ["web1", "web2", "db1"]) await startWorker(host, journal.record).waitUntilJoined();
    await waitForHosts("web1", "web2");
    setMinute(1);
    await journal.waitFor(2);
    await setGroup("web1", "db1");
    await waitForHosts("db1", "web1");
    setMinute(2);
    await journal.waitFor(4);
    await setGroup("web1", "web2", "db1");
    await waitForHosts("db1", "web1", "web2");
    setMinute(3);
    const lines = ["db1 2", "db1 3", "web1 1", "web1 2", "web1 3", "web2 1", "web2 3"];
    expect(await journal.waitFor(lines.length)).toEqual(lines);
  });

  test("from the moment at which its host entered the group, though no slot was free then", async () => {
    const { keys } = fixture;
    const gate = Promise.withResolvers<TaskResult>();
    const journal = new Journal();
    const looked = new Set<string>();
    const slow = { run: () => gate.promise };
    const find = (id: string) => {
      looked.add(id);
      return id === "slow" ? slow : { run: journal.record };
    };
    const handlers = { types: ["/.*/"], find };
    await fixture.add("slow");
    await addOnEveryHost({ group: "web" });
    await fixture.startWorker(journal.record, { host: "web1", concurrency: 1, handlers }).waitUntilJoined();
    await waitUntil("the only slot is taken", async () => (await fixture.listRunning()).length === 1);
    expect(looked).not.toContain("job");
    fixture.clock.set(START + 30_000);
    await fixture.put(keys.group("web"), JSON.stringify(["web1"]));
    await waitUntil("the worker has seen it", () => looked.has("job"));
    setMinute(1);
    await fixture.delete(keys.schedule("slow"), keys.due("slow"));
    gate.resolve({ result: "ok" });
    expect(await journal.waitFor(1)).toEqual(["web1 1"]);
  });
});

describe("the state of a host is its own", () => {
  test("retries, failures in a row and overlap count per host", async () => {
    await addOnEveryHost({ retries: 1, backoff: 1, pauseAfterFailures: 1 });
    const good = new Journal();
    const bad = { tries: 0 };
    const fail = async (): Promise<TaskResult> => {
      bad.tries += 1;
      return { result: "failed" };
    };
    await startWorker("web1", good.record).waitUntilJoined();
    const worker = startWorker("web2", fail);
    await worker.waitUntilJoined();
    await waitForHosts("web1", "web2");
    setMinute(1);
    await good.waitFor(1);
    await worker.waitFor("ended", 1, ({ isDead }) => isDead);
    setMinute(2);
    await good.waitFor(2);
    expect(bad.tries).toBe(2);
    expect(await fixture.readDue("job", "web2")).toMatchObject({ dead: 1, pause: { by: "signalbox" } });
  });

  test("a schedule that comes to run on every host does so from then on, and waits for the run that goes on", async () => {
    const gate = Promise.withResolvers<TaskResult>();
    const journal = new Journal();
    const before: string[] = [];
    const run = (task: ScheduledTask) => {
      if (task.host !== undefined) return journal.record(task);
      before.push(task.run);
      return gate.promise;
    };
    await fixture.add("job");
    for (const host of ["web1", "web2"]) await startWorker(host, run).waitUntilJoined();
    await waitUntil("one runs", () => before.length === 1);
    const definition: Definition = { cron: "* * * * *", timezone: "UTC", on: "every-host" };
    await fixture.put(fixture.keys.schedule("job"), formatDefinition(definition));
    await waitForHosts("web1", "web2");
    setMinute(1);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(journal.lines).toEqual([]);
    gate.resolve({ result: "ok" });
    expect(await journal.waitFor(2)).toEqual(["web1 1", "web2 1"]);
    expect(before).toHaveLength(1);
  });
});

describe("an edit keeps the occurrence that is due", () => {
  /** Changes the schedule while an occurrence is due, which a drain keeps from starting. */
  async function editDue(change: (before: Definition) => Definition) {
    const drain = fixture.keys.drain("all", "all");
    await fixture.put(drain, "{}");
    setMinute(1);
    const settings = { connectTimeout: 5_000, readOnly: false };
    const ports = { ...fixture.createPorts(), settings, operator: { user: "ann", host: "ops" } };
    const edit = buildModifyMutation(["job"], (before) => change(before ?? { cron: "", timezone: "" }));
    expect(await applyMutation(ports, edit)).toMatchObject({ kind: "done" });
    await fixture.delete(drain);
  }

  test("when the schedule comes to run on every host: each runs it", async () => {
    const journal = new Journal();
    await fixture.add("job", {}, { start: START + MINUTE });
    for (const host of ["web1", "web2"]) await startWorker(host, journal.record).waitUntilJoined();
    await editDue((before) => ({ ...before, on: "every-host" }));
    expect(await journal.waitFor(2)).toEqual(["web1 1", "web2 1"]);
  });

  test("when it runs on one host again: one runs what none has run", async () => {
    const journal = new Journal();
    fixture.clock.set(START + 1);
    await addOnEveryHost();
    for (const host of ["web1", "web2"]) await startWorker(host, journal.record).waitUntilJoined();
    await waitForHosts("web1", "web2");
    await editDue(({ on: _, ...before }) => before);
    setMinute(2);
    expect(await journal.waitFor(2)).toEqual(["undefined 1", "undefined 2"]);
  });
});
