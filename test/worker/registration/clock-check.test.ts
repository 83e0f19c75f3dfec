/** Differing clocks of workers. */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { retryAfterStalls } from "../../../fixtures/steady.ts";
import {
  MINUTE,
  returnOk,
  SettableClock,
  START,
  WorkerFixture,
} from "../../../fixtures/worker/worker-fixture.ts";
import { computeLead, type MonotonicTime, subtractTime, waitForAbort } from "../../../src/core/base/clock.ts";
import { readMemberClocks } from "../../../src/core/etcd/member-metrics.ts";
import type { ScheduleWorkerOptions } from "../../../src/worker/engine/schedule-worker.ts";
import type { ScheduledTask, TaskResult } from "../../../src/worker/handler.ts";
import { CLOCK_LIMITS, ClockCheck } from "../../../src/worker/registration/worker-heartbeat.ts";

const isRefusal = ({ state }: { state: string }) => state === "refuses";

describe("what is heard", () => {
  const collectSamples = (...offsets: number[][]) => {
    const clocks = new ClockCheck();
    for (const [at, words] of offsets.entries())
      for (const ahead of words) clocks.addSample(`w${at}`, 1e12, 1e12 + ahead);
    return clocks;
  };
  test.each<[string, number[][], number, string]>([
    // what our clock is ahead of each other's, our skew, the judgement
    ["alone", [], 0, "ok"],
    ["all agree", [[3], [8]], 3, "ok"],
    ["a word that came late is not held against anybody", [[4_000, 3, 9_000]], 3, "ok"],
    ["2 s ahead of both others", [[2_000], [2_010]], 2_000, "warns"],
    ["2 s behind both", [[-2_000], [-1_990]], -1_990, "warns"],
    ["one of the others is a minute ahead", [[-60_000], [2]], 0, "ok"],
    ["a minute ahead of both", [[60_000], [60_000]], 60_000, "refuses"],
    ["a minute behind both", [[-60_000], [-60_000]], -60_000, "refuses"],
    ["of two, the one ahead", [[60_000]], 60_000, "refuses"],
    ["of two, the one behind goes on: it is never early", [[-60_000]], -60_000, "warns"],
  ])("%s", (_, offsets, skew, judgement) => {
    const clocks = collectSamples(...offsets);
    expect(clocks.skew).toBeCloseTo(skew, -1);
    expect(clocks.judge(CLOCK_LIMITS)).toBe(judgement);
  });

  test("what was heard counts by the new time after a step", () => {
    const clocks = collectSamples([3, 8], [2]);
    clocks.shiftSamples(60_000);
    expect(clocks.judge(CLOCK_LIMITS)).toBe("refuses");
    clocks.shiftSamples(-60_000);
    expect(clocks.judge(CLOCK_LIMITS)).toBe("ok");
  });

  test("who has left does not count", () => {
    const clocks = collectSamples([60_000], [2]);
    clocks.forget("w0");
    expect(clocks.judge(CLOCK_LIMITS)).toBe("ok");
  });
});

describe("three workers", () => {
  const cluster = TestCluster.startForFile();
  let fixture: WorkerFixture;
  beforeEach(() => {
    fixture = new WorkerFixture(cluster.store);
  });
  afterEach(() => fixture.close());

  /** Starts two whose clocks agree and one that is `skew` ms ahead; fires 10 schedules for three minutes. */
  async function play(skew: number) {
    await fixture.close();
    fixture = new WorkerFixture(cluster.store); // where it is played once more
    const ids = Array.from({ length: 10 }, (_, n) => `job${n}`);
    fixture.clock.set(START - 40_000);
    for (const id of ids) await fixture.add(id, { end: START + 2 * MINUTE });
    const runs: string[] = [];
    const count = async ({ id, scheduled }: ScheduledTask): Promise<TaskResult> => {
      runs.push(`${id} ${(scheduled - START) / MINUTE}`);
      return { result: "ok" };
    };
    const wrong = new SettableClock(fixture.clock.getWallTime() + skew);
    const right = [fixture.startWorker(count), fixture.startWorker(count)];
    await Promise.all(right.map((worker) => worker.waitUntilJoined()));
    const off = fixture.startWorker(count, { clock: wrong });
    await off.waitUntilJoined();
    await off.waitFor("clock");
    const early = [...runs];
    for (let minute = 0; minute < 3; minute += 1) {
      fixture.clock.set(START + minute * MINUTE);
      wrong.set(START + minute * MINUTE + skew);
      while (runs.length < 10 * (minute + 1))
        await Promise.race(
          [...right, off].map((one) => one.waitForEvents(() => runs.length >= 10 * (minute + 1))),
        );
    }
    const judged = off.list("clock");
    const calm = right.flatMap((worker) => worker.list("clock"));
    const expected = ids.flatMap((id) => [0, 1, 2].map((minute) => `${id} ${minute}`));
    return { runs, early, judged, calm, off, expected };
  }

  test("one is 2 s ahead: it is warned, and no occurrence is fired twice", ({ task }) =>
    retryAfterStalls(task, async () => {
      const { runs, early, judged, calm, expected } = await play(2_000);
      expect(runs.toSorted()).toEqual(expected.toSorted());
      expect(early).toEqual([]);
      expect(judged[0]).toMatchObject({ state: "warns" });
      expect(judged[0]?.skew).toBeGreaterThan(1_500);
      expect(calm).toEqual([]);
    }));

  test("one is a minute ahead: it fires nothing, the others everything, and never early", ({ task }) =>
    retryAfterStalls(task, async () => {
      const { runs, early, judged, calm, off, expected } = await play(60_000);
      expect(runs.toSorted()).toEqual(expected.toSorted());
      expect(early).toEqual([]);
      expect(judged[0]).toMatchObject({ state: "refuses" });
      expect(off.list("started")).toEqual([]);
      expect(calm).toEqual([]);
      const { kvs } = await cluster.store.readRange(fixture.keys.workers());
      expect(kvs.filter(({ value }) => JSON.parse(value).clock === "refuses")).toHaveLength(1);
    }));

  test("its clock is set an hour forward while it works: it fires nothing from then on", async () => {
    const own = new SettableClock(fixture.clock.getWallTime());
    const right = [fixture.startWorker(returnOk), fixture.startWorker(returnOk)];
    await Promise.all(right.map((worker) => worker.waitUntilJoined()));
    const off = fixture.startWorker(returnOk, {
      clock: own,
      clockOffset: () => computeLead(own.getWallTime(), own.now()),
    });
    await off.waitUntilJoined();
    await fixture.add("soon", {}, { start: START + 30 * MINUTE });
    own.advance(60 * MINUTE);
    // What was heard on a busy machine may have earned it a warning before.
    const [{ skew }] = await off.waitFor("clock", 1, isRefusal);
    expect(skew / MINUTE).toBeCloseTo(60, 0);
    await fixture.add("now");
    await Promise.race(right.map((worker) => worker.waitForOutcomes(1)));
    expect((await fixture.readDue("soon")).next).toBe(START + 30 * MINUTE);
    expect(off.list("started")).toEqual([]);
  });

  test("its clock is set right: it fires again", async () => {
    const wrong = new SettableClock(fixture.clock.getWallTime() + 60_000);
    const right = [fixture.startWorker(returnOk), fixture.startWorker(returnOk)];
    await Promise.all(right.map((worker) => worker.waitUntilJoined()));
    const off = fixture.startWorker(returnOk, { clock: wrong });
    await off.waitFor("clock", 1, isRefusal);
    wrong.set(fixture.clock.getWallTime());
    await Promise.all(right.map((worker) => worker.stop()));
    await fixture.add("job");
    expect(await off.waitForOutcomes(1)).toMatchObject([{ result: "ok" }]);
  });
});

describe("a lone worker whose clock is wrong", () => {
  const cluster = TestCluster.startForFile();
  let fixture: WorkerFixture;
  beforeEach(() => {
    fixture = new WorkerFixture(cluster.store);
  });
  afterEach(() => fixture.close());

  const toOffsets = (all: readonly number[]) =>
    all.map((ms, at) => ({ endpoint: `http://etcd${at}`, least: ms - 1, most: ms + 1 }));

  /** A worker alone, a schedule half an hour away, and the clock set an hour forward. @param offsets  of etcd's members, ms */
  async function jump(offsets: () => readonly number[], more: Partial<ScheduleWorkerOptions> = {}) {
    const own = new SettableClock(START - 30 * MINUTE);
    const asked: MonotonicTime[] = [];
    const worker = fixture.startWorker(returnOk, {
      clock: own,
      clockOffset: () => computeLead(own.getWallTime(), own.now()),
      readMemberClocks: async () => {
        asked.push(own.now());
        return own.getWallTime() < START ? [] : toOffsets(offsets());
      },
      ...more,
    });
    await worker.waitUntilJoined();
    asked.length = 0;
    await fixture.add("soon");
    own.advance(60 * MINUTE);
    const [{ skew }] = await worker.waitFor("clock", 1, isRefusal);
    expect(skew).toBeCloseTo(60 * MINUTE, -4);
    return { worker, own, asked };
  }

  test("fires nothing while etcd's members disagree, and goes on when it is set right", async () => {
    let off = -60 * MINUTE;
    const { worker, own, asked } = await jump(() => [off, off, 5]);
    await worker.waitForEvents(() => asked.length > 0);
    expect(worker.list("started")).toEqual([]);
    expect((await fixture.readDue("soon")).next).toBe(START);
    off = 0;
    own.advance(-60 * MINUTE);
    await worker.waitFor("clock", 1, ({ state }) => state === "ok");
    expect(worker.list("started")).toEqual([]); // it is half an hour away again
    own.advance(3_000); // no jump that has to be judged
    await fixture.add("now", {}, { start: own.getWallTime() - MINUTE });
    await worker.waitForOutcomes(1);
  });

  test("fires what is due when etcd's members agree: the clock was behind, or the machine was paused", async () => {
    const { worker } = await jump(() => [0, 40, -60 * MINUTE]);
    const [ended] = await worker.waitForOutcomes(1);
    expect(ended).toMatchObject({ result: "ok" });
  });

  test("that starts an hour ahead of etcd's members fires nothing until it is set right", async () => {
    const own = new SettableClock(START + 60 * MINUTE);
    await fixture.add("job", { end: START + MINUTE });
    const worker = fixture.startWorker(returnOk, {
      clock: own,
      clockOffset: () => computeLead(own.getWallTime(), own.now()),
      readMemberClocks: async () => toOffsets([-60 * MINUTE, -60 * MINUTE, 5]),
    });
    await worker.waitUntilJoined();
    expect(worker.list("clock")).toMatchObject([{ state: "refuses" }]);
    expect(worker.list("clock")[0]?.skew).toBeCloseTo(60 * MINUTE, -4);
    own.set(START);
    const [ended] = await worker.waitForOutcomes(1);
    expect(ended?.startedAt).toBeLessThan(START + MINUTE);
  });

  test("and is told by another worker, still fires nothing when that one has left", async () => {
    const own = new SettableClock(fixture.clock.getWallTime() + 60 * MINUTE);
    const asked = Promise.withResolvers<void>();
    const right = fixture.startWorker(returnOk);
    await right.waitUntilJoined();
    const off = fixture.startWorker(returnOk, {
      clock: own,
      clockOffset: () => computeLead(own.getWallTime(), own.now()),
      readMemberClocks: async () => {
        asked.resolve();
        return toOffsets([-60 * MINUTE]);
      },
    });
    await off.waitFor("clock", 1, isRefusal);
    await off.waitUntilJoined();
    await right.stop();
    await asked.promise;
    await fixture.add("job", { end: START + MINUTE });
    own.set(START);
    const [ended] = await off.waitForOutcomes(1);
    expect(ended?.startedAt).toBeLessThan(START + MINUTE);
    expect(off.list("clock").map(({ state }) => state)).toEqual(["refuses", "ok"]);
  });

  test("and ends while etcd's members are asked does not say that its clock is right", async () => {
    const own = new SettableClock(fixture.clock.getWallTime() + 60 * MINUTE);
    const asked = Promise.withResolvers<void>();
    const right = fixture.startWorker(returnOk);
    await right.waitUntilJoined();
    const off = fixture.startWorker(returnOk, {
      clock: own,
      readMemberClocks: async (signal) => {
        asked.resolve();
        await waitForAbort(signal);
        return [];
      },
    });
    await off.waitFor("clock", 1, isRefusal);
    await off.waitUntilJoined();
    await right.stop();
    await asked.promise;
    await off.stop();
    expect(off.list("clock")).toMatchObject([{ state: "refuses" }]);
  });

  test("that starts behind etcd's members, or ahead of the lesser part of them, fires what is due", async () => {
    for (const offsets of [[60 * MINUTE], [-60 * MINUTE, 0], [-3_000]]) {
      await fixture.add(`job${offsets.length}-${offsets[0]}`, { end: START });
      const worker = fixture.startWorker(returnOk, {
        clock: new SettableClock(START),
        readMemberClocks: async () => toOffsets(offsets),
      });
      await worker.waitForOutcomes(1);
      expect(worker.list("clock")).toEqual([]);
      await worker.stop();
    }
  });

  test("is ahead at its start although a member does not answer: it fires nothing", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    onTestFinished(() => void silent.close().closeAllConnections());
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const endpoints = [cluster.etcd.clientUrl, `http://127.0.0.1:${port}`];
    const ahead = new SettableClock(Date.now() + 60 * MINUTE);
    const worker = fixture.startWorker(returnOk, {
      clock: ahead,
      readMemberClocks: (signal) => readMemberClocks({ endpoints }, () => ahead.getWallTime(), signal),
    });
    await worker.waitUntilJoined();
    expect(worker.list("clock")).toMatchObject([{ state: "refuses" }]);
  });

  test("asks etcd's members at the same intervals as long as they disagree", async () => {
    const holdFor = 300;
    const { worker, asked } = await jump(() => [-60 * MINUTE], { holdFor });
    await worker.waitForEvents(() => asked.length > 0);
    await expect.poll(() => asked.length, { timeout: 10_000 }).toBeGreaterThan(4);
    const pauses = asked.slice(1).map((at, index) => subtractTime(at, asked[index] ?? at));
    expect(Math.min(...pauses)).toBeGreaterThan(holdFor - 10);
  });

  test("goes on after a while where no member tells the time", async () => {
    const { worker } = await jump(() => [], { holdFor: 300 });
    await worker.waitForOutcomes(1);
  });

  test("lets other workers judge as soon as one is heard", async () => {
    const { worker, own } = await jump(() => []);
    const other = fixture.startWorker(returnOk, {
      clock: new SettableClock(own.getWallTime()),
    });
    await other.waitUntilJoined();
    await worker.waitFor("clock", 1, ({ state }) => state !== "refuses");
  });

  test("is not stopped by a small step, nor by one back", async () => {
    const own = new SettableClock(START);
    let asked = 0;
    const worker = fixture.startWorker(returnOk, {
      clock: own,
      clockOffset: () => computeLead(own.getWallTime(), own.now()),
      readMemberClocks: async () => {
        asked += 1;
        return [];
      },
    });
    await worker.waitUntilJoined();
    asked = 0;
    own.advance(4_000);
    await fixture.add("one", { end: START });
    await worker.waitForOutcomes(1);
    own.advance(-MINUTE);
    await fixture.add("two", { end: START - MINUTE }, { start: START - MINUTE });
    await worker.waitForOutcomes(2);
    expect(asked).toBe(0);
  });

  test("a real member's clock is read over HTTP", async () => {
    const ahead = () => Date.now() + 60 * MINUTE;
    const [clock] = await readMemberClocks(
      { endpoints: cluster.etcd.endpoints },
      ahead,
      new AbortController().signal,
    );
    expect(clock?.endpoint).toBe(cluster.etcd.clientUrl);
    expect((clock?.least ?? 0) / MINUTE).toBeCloseTo(-60, 0);
    expect(
      await readMemberClocks({ endpoints: ["http://127.0.0.1:1"] }, ahead, new AbortController().signal),
    ).toEqual([]);
  });
});
