/** Workers on a real etcd, with a wall clock that the test sets. */

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { retryAfterStalls } from "../../../fixtures/steady.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { MINUTE, returnOk, START, WorkerFixture } from "../../../fixtures/worker/worker-fixture.ts";
import { listWorkersBefore } from "../../../src/schedule/hash.ts";
import { formatRunning } from "../../../src/schedule/state/running-record.ts";
import type { ScheduledTask, TaskResult } from "../../../src/worker/handler.ts";

const cluster = TestCluster.startForFile();
let fixture: WorkerFixture;
beforeEach(() => {
  fixture = new WorkerFixture(cluster.store);
});
afterEach(() => fixture.close());

/** A handler that stays until it is told, or until its task must end. */
function createHeldHandler() {
  const tasks: ScheduledTask[] = [];
  const gates: ((verdict: TaskResult) => void)[] = [];
  let arrived = Promise.withResolvers<void>();
  const run = (task: ScheduledTask) => {
    const gate = Promise.withResolvers<TaskResult>();
    task.signal.addEventListener("abort", () => gate.resolve({ result: "lost" }));
    tasks.push(task);
    gates.push(gate.resolve);
    arrived.resolve();
    arrived = Promise.withResolvers();
    return gate.promise;
  };
  const hasTaken = async (count: number) => {
    while (tasks.length < count) await arrived.promise;
    return tasks;
  };
  return {
    run,
    tasks,
    hasTaken,
    let: (n: number, verdict: TaskResult = { result: "ok" }) => gates[n]?.(verdict),
  };
}

describe("one worker", () => {
  test("fires what is due, not before, and the next follows from the scheduled time", async () => {
    fixture.clock.set(START - 30_000);
    await fixture.add("job");
    const worker = fixture.startWorker(returnOk);
    await worker.waitUntilJoined();
    expect(await fixture.readDue("job")).toMatchObject({ next: START, open: [] });
    fixture.clock.set(START + 500);
    const [first] = await worker.waitForOutcomes(1);
    expect(first).toMatchObject({ scheduled: START, result: "ok", attempt: 1 });
    expect(first?.late).toBe((first?.startedAt ?? 0) - START);
    expect(first?.late).toBeGreaterThanOrEqual(500);
    expect(await fixture.readDue("job")).toMatchObject({
      next: START + MINUTE,
      runAt: START + MINUTE,
      open: [],
    });
    expect(await fixture.listRunning()).toEqual([]);
    fixture.clock.set(START + 3 * MINUTE);
    const ended = await worker.waitForOutcomes(4);
    expect(ended.map(({ scheduled }) => scheduled)).toEqual([0, 1, 2, 3].map((n) => START + n * MINUTE));
  });

  test("says of each result whether the one before was a failure, also after a retry and another worker", async () => {
    await fixture.add("job", { retries: 1, backoff: 1 });
    const results: TaskResult["result"][] = ["ok", "failed", "failed", "retry", "ok", "ok"];
    const run = async (): Promise<TaskResult> => ({ result: results.shift() ?? "ok", wait: 1 });
    const first = fixture.startWorker(run);
    fixture.clock.set(START + MINUTE);
    await first.waitForOutcomes(3);
    await first.stop();
    const second = fixture.startWorker(run);
    fixture.clock.set(START + 3 * MINUTE);
    await second.waitForOutcomes(3);
    const ended = [...first.list("ended"), ...second.list("ended")];
    expect(ended.map(({ outcome: { result }, wasFailing }) => [result, wasFailing]).slice(0, 6)).toEqual([
      ["ok", false],
      ["failed", false],
      ["failed", true],
      ["retry", true],
      ["ok", true],
      ["ok", false],
    ]);
  });

  test("what it runs is there to be seen, and its token grows", async () => {
    await fixture.add("job", { data: { table: "t1" } });
    const hand = createHeldHandler();
    const worker = fixture.startWorker(hand.run);
    const [task] = await hand.hasTaken(1);
    expect(task).toMatchObject({
      id: "job",
      type: "job",
      scheduled: START,
      attempt: 1,
      definition: { data: { table: "t1" } },
    });
    expect(await fixture.listRunning()).toMatchObject([
      {
        key: fixture.keys.running("job"),
        worker: worker.engine.id,
        host: "h1.example.com",
        run: task?.run,
        attempt: 1,
      },
    ]);
    hand.let(0);
    fixture.clock.advance(MINUTE);
    await hand.hasTaken(2);
    expect(BigInt(hand.tasks[1]?.token ?? 0)).toBeGreaterThan(BigInt(task?.token ?? 0));
    hand.let(1);
    await worker.waitForOutcomes(2);
    expect(await fixture.listRunning()).toEqual([]);
  });

  test.each<[string, () => Promise<TaskResult>, object]>([
    [
      "a handler that throws",
      () => Promise.reject(new Error("boom")),
      { result: "failed", reason: "the handler failed: Error: boom" },
    ],
    [
      "one that fails",
      async () => ({ result: "failed", code: 3, tail: "no disk" }),
      { result: "failed", code: 3, tail: "no disk" },
    ],
  ])("%s harms nobody, and is a dead letter", async (_, run, expected) => {
    await fixture.add("job");
    const worker = fixture.startWorker(run);
    await worker.waitForOutcomes(1);
    fixture.clock.advance(MINUTE);
    await worker.waitForOutcomes(2);
    const { runs, dead } = await fixture.readOutcomes("job");
    expect(runs[0]).toMatchObject(expected);
    expect(runs[1]?.result).toBe("failed");
    expect(dead.map(({ scheduled }) => scheduled)).toEqual([START + MINUTE, START]);
  });

  test.each([
    ["..20m", undefined],
    ["20m..", "too-short"],
  ])(
    "the wall clock is set while it runs: %s is still about its duration",
    async (expectation, deviation) => {
      await fixture.add("job", { expect: expectation });
      const worker = fixture.startWorker(async () => {
        fixture.clock.advance(30 * MINUTE);
        return returnOk();
      });
      const [outcome] = await worker.waitForOutcomes(1);
      expect(outcome?.deviation).toBe(deviation);
    },
  );

  test("a schedule that was put by hand gets its first occurrence", async () => {
    await fixture.put(
      fixture.keys.schedule("byhand"),
      JSON.stringify({ cron: "* * * * *", timezone: "UTC" }),
    );
    const worker = fixture.startWorker(returnOk);
    await worker.waitUntilJoined();
    await waitUntil("its state", () => fixture.readDue("byhand").catch(() => undefined));
    expect(await fixture.readDue("byhand")).toMatchObject({ next: START + MINUTE });
    fixture.clock.advance(MINUTE);
    await worker.waitForOutcomes(1);
    expect(await fixture.readDue("byhand")).toMatchObject({ next: START + 2 * MINUTE });
  });

  test("what is malformed is left alone, and stops nothing", async () => {
    await fixture.put(
      fixture.keys.schedule("bad"),
      '{"cron":"61 * * * *","timezone":"UTC"}',
      fixture.keys.due("bad"),
      '{"runAt":0}',
    );
    await fixture.put(fixture.keys.schedule("worse"), "not json", fixture.keys.due("odd"), "{}");
    await fixture.put(fixture.keys.running("wrong"), "?", fixture.keys.worker("nobody"), "[]");
    await fixture.add("wrong");
    await fixture.add("job");
    const worker = fixture.startWorker(returnOk);
    const [ended] = await worker.waitForOutcomes(1);
    expect(ended).toMatchObject({ scheduled: START });
    await fixture.delete(fixture.keys.running("wrong"));
    await worker.waitForOutcomes(2);
  });

  test("deleted while it runs: its end leaves nothing behind", async () => {
    await fixture.add("job");
    const hand = createHeldHandler();
    const worker = fixture.startWorker(hand.run);
    await hand.hasTaken(1);
    await fixture.delete(fixture.keys.schedule("job"), fixture.keys.due("job"));
    hand.let(0);
    await worker.waitForOutcomes(1);
    const { kvs } = await cluster.store.readRange({ ...fixture.keys.getFullRange() });
    expect(kvs.map(({ key }) => fixture.keys.parse(key).kind)).toEqual(["worker"]);
  });

  test("edited, paused and triggered while it runs: the end keeps all that", async () => {
    const definition = await fixture.add("job");
    const hand = createHeldHandler();
    const worker = fixture.startWorker(hand.run);
    await hand.hasTaken(1);
    const due = await fixture.readDue("job");
    const trigger = {
      scheduled: START + 5,
      runAt: START + 5,
      attempt: 0,
      failures: 0,
      kind: "trigger" as const,
    };
    const paused = { ...definition, pause: { by: "me", at: START } };
    const open = [...due.open, trigger];
    await fixture.put(
      fixture.keys.schedule("job"),
      JSON.stringify(paused),
      fixture.keys.due("job"),
      JSON.stringify({ ...due, open }),
    );
    hand.let(0);
    fixture.clock.advance(10 * MINUTE);
    await hand.hasTaken(2);
    hand.let(1);
    const ended = await worker.waitForOutcomes(2);
    expect(ended.map(({ scheduled }) => scheduled)).toEqual([START, START + 5]);
    expect(await fixture.readDue("job")).toMatchObject({ next: START + MINUTE, open: [] });
  });

  test("its running key deleted by hand: the task ends and is taken again", async () => {
    await fixture.add("job");
    const hand = createHeldHandler();
    const worker = fixture.startWorker(hand.run);
    const [task] = await hand.hasTaken(1);
    await fixture.delete(fixture.keys.running("job"));
    await hand.hasTaken(2);
    expect(task?.signal.reason).toMatchObject({ result: "lost", message: "its running key was deleted" });
    expect(hand.tasks[1]).toMatchObject({ scheduled: START, attempt: 2 });
    hand.let(1);
    await worker.waitForSuccesses(1);
  });

  test("drained it takes nothing; undrained it goes on", async () => {
    const drain = fixture.keys.drain("host", "H1.example.com");
    await fixture.put(drain, "{}");
    await fixture.add("job");
    const worker = fixture.startWorker(returnOk);
    await worker.waitUntilJoined();
    expect((await fixture.readDue("job")).next).toBe(START);
    await fixture.delete(drain);
    await worker.waitForOutcomes(1);
    await fixture.put(drain, "{}");
    fixture.clock.advance(MINUTE);
    const other = fixture.startWorker(returnOk, { host: "h2.example.com" });
    await other.waitForOutcomes(1);
    expect(worker.list("started")).toHaveLength(1);
  });

  test("takes only what is for its host, also when the group changes", async () => {
    await fixture.add("job", { group: "web" });
    await fixture.add("other");
    const worker = fixture.startWorker(returnOk);
    await worker.waitForOutcomes(1);
    expect((await fixture.readDue("job")).next).toBe(START);
    await fixture.put(fixture.keys.group("web"), '["h1.example.com"]');
    await worker.waitForOutcomes(2);
    expect((await fixture.readDue("job")).next).toBe(START + MINUTE);
  });

  test("stopped, it gives its tasks back at once", async () => {
    await fixture.add("job");
    const hand = createHeldHandler();
    const worker = fixture.startWorker(hand.run);
    await hand.hasTaken(1);
    await worker.stop();
    expect(await fixture.readDue("job")).toMatchObject({ open: [{ scheduled: START, attempt: 0 }] });
    expect(await fixture.listRunning()).toEqual([]);
    const next = fixture.startWorker(returnOk);
    expect(await next.waitForOutcomes(1)).toMatchObject([{ scheduled: START, result: "ok" }]);
  });
});

describe("overlap", () => {
  test("forbid: the next waits", async () => {
    await fixture.add("job");
    const hand = createHeldHandler();
    fixture.startWorker(hand.run);
    await hand.hasTaken(1);
    await fixture.add("probe");
    fixture.clock.advance(5 * MINUTE);
    await hand.hasTaken(2);
    expect(hand.tasks.map(({ id }) => id)).toEqual(["job", "probe"]);
    hand.let(0);
    await hand.hasTaken(3);
    expect(hand.tasks[2]).toMatchObject({ id: "job", scheduled: START + MINUTE });
  });

  test("allow: beside one another, and one that is lost does not stop the others", async () => {
    await fixture.add("job", { overlap: "allow" });
    const hand = createHeldHandler();
    const worker = fixture.startWorker(hand.run);
    await hand.hasTaken(1);
    fixture.clock.advance(2 * MINUTE);
    await hand.hasTaken(3);
    expect((await fixture.listRunning()).map(({ key }) => key)).toEqual(
      [0, 1, 2].map((n) => fixture.keys.running("job", START + n * MINUTE)),
    );
    await fixture.delete(fixture.keys.running("job", START + MINUTE));
    await hand.hasTaken(4);
    expect(hand.tasks[3]).toMatchObject({ scheduled: START + MINUTE, attempt: 2 });
    for (const n of [0, 2, 3]) hand.let(n);
    await worker.waitForSuccesses(3);
    expect(await fixture.readDue("job")).toMatchObject({ next: START + 3 * MINUTE, open: [] });
  });

  test("replace: the next one ends it and runs", async () => {
    await fixture.add("job", { overlap: "replace" });
    const hand = createHeldHandler();
    const worker = fixture.startWorker(hand.run);
    const [first] = await hand.hasTaken(1);
    fixture.clock.advance(MINUTE);
    await hand.hasTaken(2);
    expect(first?.signal.reason).toMatchObject({ result: "replaced" });
    hand.let(1);
    const ended = await worker.waitForOutcomes(2);
    expect(ended.map(({ scheduled, result }) => [scheduled, result])).toEqual([
      [START, "replaced"],
      [START + MINUTE, "ok"],
    ]);
  });
});

describe("where a later schema version is required", () => {
  const expected = { exitCode: 78, message: expect.stringContaining("schema version 2") };

  test("a worker refuses to join", async () => {
    await fixture.put(fixture.keys.schema("0002"), "");
    await fixture.add("job");
    await expect(fixture.startWorker(returnOk).ended).rejects.toMatchObject(expected);
    expect((await cluster.store.readRange(fixture.keys.workers())).kvs).toEqual([]);
    expect(await fixture.readDue("job")).toMatchObject({ next: START, open: [] });
  });

  test("a worker that runs a task lets it end, takes nothing more, and ends", async () => {
    await fixture.add("job");
    const hand = createHeldHandler();
    const worker = fixture.startWorker(hand.run);
    const [task] = await hand.hasTaken(1);
    await fixture.put(fixture.keys.schema("0002"), "");
    await waitUntil("the worker leaves", async () => {
      const { kvs } = await cluster.store.readRange(fixture.keys.workers());
      return kvs.some(({ value }) => value.includes('"isLeaving":true'));
    });
    await fixture.add("other");
    hand.let(0);
    await expect(worker.ended).rejects.toMatchObject(expected);
    expect(task?.signal.aborted).toBe(false);
    expect((await fixture.readOutcomes("job")).runs).toMatchObject([{ result: "ok" }]);
    expect((await fixture.readOutcomes("other")).runs).toEqual([]);
  });
});

describe("several workers", () => {
  test("the session of one is gone: another takes its task again, and the first one's end counts for nothing", async () => {
    await fixture.add("job");
    const hand = createHeldHandler();
    const first = fixture.startWorker(hand.run);
    await hand.hasTaken(1);
    const second = fixture.startWorker(returnOk);
    await fixture.revokeSession(fixture.keys.running("job"));
    const [again] = await second.waitForOutcomes(1);
    expect(again).toMatchObject({ scheduled: START, attempt: 2, result: "ok" });
    await first.waitForOutcomes(1);
    expect(hand.tasks[0]?.signal.aborted).toBe(true);
    expect((await fixture.readOutcomes("job")).runs).toMatchObject([{ attempt: 2, result: "ok" }]);
    expect(await fixture.readDue("job")).toMatchObject({ next: START + MINUTE, open: [] });
  });

  test("what another one did not take comes before a backlog that became due later", async () => {
    const { clock, keys } = fixture;
    const hand = createHeldHandler();
    clock.set(START + MINUTE);
    const own = await fixture.startWorker(hand.run, { concurrency: 1 }).waitUntilJoined();
    const other = "other";
    const chooseIds = (count: number, first: string, name: string) =>
      Array.from({ length: 200 }, (_, n) => `${name}${n}`)
        .filter((id) => listWorkersBefore(own, [own, other], id).length === (first === own ? 0 : 1))
        .slice(0, count);
    const backlog = chooseIds(8, own, "backlog");
    const [left = ""] = chooseIds(1, other, "left");
    const running = formatRunning({
      worker: other,
      host: "h2.example.com",
      pid: 1,
      run: "r",
      scheduled: START,
      attempt: 1,
      since: START,
      late: 0,
    });
    await fixture.putWorker(other);
    await fixture.put(keys.running(left), running);
    await fixture.add(left, {}, { start: START });
    for (const id of backlog) await fixture.add(id, {}, { start: START + MINUTE });
    await hand.hasTaken(1);
    await fixture.delete(keys.running(left)); // the other one has lost it, and seems to be alive
    for (const at of [0, 1, 2]) {
      hand.let(at);
      await hand.hasTaken(at + 2); // it leaves it to the other one for a second
    }
    expect(hand.tasks.map(({ id }) => id)).not.toContain(left);
    clock.advance(5_000);
    hand.let(3);
    await hand.hasTaken(5);
    expect(hand.tasks[4]?.id).toBe(left);
  });

  test("of what is late for long, it takes first what it is the first one for, so that two do not race for all", async () => {
    const hand = createHeldHandler();
    fixture.clock.set(START + MINUTE);
    await fixture.putWorker("other");
    const ids = Array.from({ length: 16 }, (_, n) => `late${n}`);
    for (const id of ids) await fixture.add(id, {}, { start: START });
    const own = await fixture.startWorker(hand.run, { concurrency: 1 }).waitUntilJoined(); // it has read all of them
    await hand.hasTaken(1);
    fixture.clock.advance(15_000);
    for (const at of ids.keys()) {
      await hand.hasTaken(at + 1);
      hand.let(at);
    }
    const ranks = hand.tasks.slice(0, 16).map(({ id }) => listWorkersBefore(own, [own, "other"], id).length);
    expect(ranks).toEqual(ranks.toSorted());
    expect(new Set(ranks).size).toBe(2);
  });

  test("nothing is left to one that is joining: it has to read first", async ({ task }) => {
    await retryAfterStalls(task, async () => {
      fixture = new WorkerFixture(cluster.store);
      const { clock, keys } = fixture;
      clock.set(START - 2_000); // a larger step would look like a wrong clock
      const worker = fixture.startWorker(returnOk);
      const own = await worker.waitUntilJoined();
      const other = "other";
      const ids = Array.from({ length: 50 }, (_, n) => `job${n}`);
      const theirs = ids.find((id) => listWorkersBefore(own, [own, other], id).length === 1) ?? "";
      await fixture.putWorker(other, { isJoining: true });
      await fixture.add(theirs, { end: START });
      clock.set(START);
      const [outcome] = await worker.waitForOutcomes(1);
      expect(outcome?.late, "no second passes").toBeLessThan(1_000);
      const { kvs } = await cluster.store.readRange({ key: keys.worker(own) });
      expect(kvs[0]?.value, "this one has joined").not.toContain("isJoining");
      await worker.stop();
    });
  });
});
