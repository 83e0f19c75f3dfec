/** Clocks of workers that differ. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { steadily } from "../../../fixtures/steady.ts";
import { CLOCK_LIMITS, Clocks } from "../../../src/work/schedule/clocks.ts";
import type { Task, Verdict } from "../../../src/work/schedule/handler.ts";
import { Bed, HandClock, MINUTE, Site, START } from "./site.ts";

describe("what is heard", () => {
  const heard = (...offsets: number[][]) => {
    const clocks = new Clocks();
    for (const [at, words] of offsets.entries())
      for (const ahead of words) clocks.heard(`w${at}`, 1e12, 1e12 + ahead);
    return clocks;
  };
  const cases: [string, number[][], number, string][] = [
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
  ];
  test.each(cases)("%s", (_, offsets, skew, judgement) => {
    const clocks = heard(...offsets);
    expect(clocks.skew).toBeCloseTo(skew, -1);
    expect(clocks.judge(CLOCK_LIMITS)).toBe(judgement);
  });

  test("what was heard counts by the new time after a step", () => {
    const clocks = heard([3, 8], [2]);
    clocks.stepped(60_000);
    expect(clocks.judge(CLOCK_LIMITS)).toBe("refuses");
    clocks.stepped(-60_000);
    expect(clocks.judge(CLOCK_LIMITS)).toBe("ok");
  });

  test("who has left does not count", () => {
    const clocks = heard([60_000], [2]);
    clocks.forget("w0");
    expect(clocks.judge(CLOCK_LIMITS)).toBe("ok");
  });
});

describe("three workers", () => {
  const bed = new Bed();
  let site: Site;
  beforeEach(() => {
    site = new Site(bed.store);
  });
  afterEach(() => site.close());

  /** Starts two whose clocks agree and one that is `skew` ms ahead; fires 10 schedules for three minutes. */
  async function play(skew: number) {
    await site.close();
    site = new Site(bed.store); // where it is played once more
    const ids = Array.from({ length: 10 }, (_, n) => `job${n}`);
    site.clock.set(START - 40_000);
    for (const id of ids) await site.add(id, { end: START + 2 * MINUTE });
    const runs: string[] = [];
    const count = async ({ id, scheduled }: Task): Promise<Verdict> => {
      runs.push(`${id} ${(scheduled - START) / MINUTE}`);
      return { result: "ok" };
    };
    const wrong = new HandClock(site.clock.wall() + skew);
    const right = [site.worker(count), site.worker(count)];
    await Promise.all(right.map((worker) => worker.joined()));
    const off = site.worker(count, { clock: wrong });
    await off.joined();
    await off.saw((events) => events.find(({ kind }) => kind === "clock"));
    const early = [...runs];
    for (let minute = 0; minute < 3; minute += 1) {
      site.clock.set(START + minute * MINUTE);
      wrong.set(START + minute * MINUTE + skew);
      while (runs.length < 10 * (minute + 1))
        await Promise.race([...right, off].map((one) => one.saw(() => runs.length >= 10 * (minute + 1))));
    }
    const judged = off.events.flatMap((event) => (event.kind === "clock" ? [event] : []));
    const calm = right.flatMap(({ events }) => events.filter((event) => event.kind === "clock"));
    const expected = ids.flatMap((id) => [0, 1, 2].map((minute) => `${id} ${minute}`));
    return { runs, early, judged, calm, off, expected };
  }

  test("one is 2 s ahead: it is warned, and no occurrence is fired twice", () =>
    steadily(async () => {
      const { runs, early, judged, calm, expected } = await play(2_000);
      expect(runs.toSorted()).toEqual(expected.toSorted());
      expect(early).toEqual([]);
      expect(judged[0]).toMatchObject({ state: "warns" });
      expect(judged[0]?.skew).toBeGreaterThan(1_500);
      expect(calm).toEqual([]);
    }));

  test("one is a minute ahead: it fires nothing, the others everything, and never early", () =>
    steadily(async () => {
      const { runs, early, judged, calm, off, expected } = await play(60_000);
      expect(runs.toSorted()).toEqual(expected.toSorted());
      expect(early).toEqual([]);
      expect(judged[0]).toMatchObject({ state: "refuses" });
      expect(off.events.filter(({ kind }) => kind === "started")).toEqual([]);
      expect(calm).toEqual([]);
      const { kvs } = await bed.store.range(site.keys.workers());
      expect(kvs.filter(({ value }) => JSON.parse(value).clock === "refuses")).toHaveLength(1);
    }));

  test("its clock is set an hour forward while it works: it fires nothing from then on", async () => {
    const own = new HandClock(site.clock.wall());
    const run = async (): Promise<Verdict> => ({ result: "ok" });
    const right = [site.worker(run), site.worker(run)];
    await Promise.all(right.map((worker) => worker.joined()));
    const off = site.worker(run, { clock: own, clockOffset: () => own.wall() - own.now() });
    await off.joined();
    await site.add("soon", {}, { start: START + 30 * MINUTE });
    own.advance(60 * MINUTE);
    // What was heard on a busy machine may have earned it a warning before.
    const [judged] = await off.saw((events) => {
      const found = events.flatMap((event) =>
        event.kind === "clock" && event.state === "refuses" ? [event] : [],
      );
      return found.length > 0 && found;
    });
    expect((judged?.skew ?? 0) / MINUTE).toBeCloseTo(60, 0);
    await site.add("now");
    await Promise.race(right.map((worker) => worker.hasEnded(1)));
    expect((await site.due("soon")).next).toBe(START + 30 * MINUTE);
    expect(off.events.filter(({ kind }) => kind === "started")).toEqual([]);
  });

  test("its clock is set right: it fires again", async () => {
    const wrong = new HandClock(site.clock.wall() + 60_000);
    const run = async (): Promise<Verdict> => ({ result: "ok" });
    const right = [site.worker(run), site.worker(run)];
    await Promise.all(right.map((worker) => worker.joined()));
    const off = site.worker(run, { clock: wrong });
    await off.saw((events) => events.find((event) => event.kind === "clock" && event.state === "refuses"));
    wrong.set(site.clock.wall());
    await Promise.all(right.map((worker) => worker.stop()));
    await site.add("job");
    expect(await off.hasEnded(1)).toMatchObject([{ result: "ok" }]);
  });
});
