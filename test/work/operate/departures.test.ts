/** Waiting until tickets are gone, through whatever etcd does meanwhile. */
import { describe, expect, it } from "vitest";
import {
  type DepartureEvent,
  type DepartureWait,
  waitUntilGone,
} from "../../../src/work/operate/departures.ts";
import { keys } from "../../protocol/samples.ts";
import { OperatorFixture } from "./operator-fixture.ts";

const names = (count: number) =>
  Array.from({ length: count }, (_, i) => keys.lock(`l${i}`, `${i}`.padStart(16, "0")));

async function placed(desk: OperatorFixture, count: number) {
  for (const key of names(count))
    await desk.store.commitTxn({ compare: [], success: [{ op: "put", key, value: "{}" }], failure: [] });
  const { kvs } = await desk.store.readRange(keys.locks());
  return kvs.map(({ key, createRevision }) => ({ key, createRevision }));
}

const remove = (desk: OperatorFixture, ...gone: string[]) =>
  desk.store.commitTxn({ compare: [], success: gone.map((key) => ({ op: "delete", key })), failure: [] });

function vigil(desk: OperatorFixture, more: Partial<DepartureWait> = {}) {
  const news: DepartureEvent[] = [];
  return {
    news,
    watch: {
      signal: new AbortController().signal,
      onEvent: (one: DepartureEvent) => news.push(one),
      ...more,
    },
    desk,
  };
}

describe("waiting until tickets are gone", () => {
  it.each([1, 5, 250])("ends when the last of %i is", async (count) => {
    const desk = new OperatorFixture();
    const anchors = await placed(desk, count);
    const { watch, news } = vigil(desk);
    const waiting = waitUntilGone(desk.ports, anchors, watch);
    for (const { key } of anchors) {
      await desk.clock.advance(10);
      await remove(desk, key);
    }
    expect(await desk.advanceUntilSettled(waiting)).toEqual([]);
    expect(news.at(-1)).toEqual({ kind: "left", remaining: 0 });
    expect(news).toHaveLength(count);
  });

  it("takes a later ticket at the same key for another one", async () => {
    const desk = new OperatorFixture();
    const anchors = await placed(desk, 1);
    await remove(desk, ...anchors.map(({ key }) => key));
    await placed(desk, 1);
    expect(await desk.advanceUntilSettled(waitUntilGone(desk.ports, anchors, vigil(desk).watch))).toEqual([]);
  });

  it("tells who is left at the deadline, and not before", async () => {
    const desk = new OperatorFixture();
    const anchors = await placed(desk, 3);
    const deadline = 25_000;
    const waiting = waitUntilGone(desk.ports, anchors, vigil(desk, { deadline }).watch);
    await desk.clock.advance(1_000);
    await remove(desk, anchors[1]?.key ?? "");
    expect(await desk.advanceUntilSettled(waiting)).toEqual([anchors[0], anchors[2]]);
    expect(desk.clock.now()).toBeGreaterThanOrEqual(deadline);
  });

  it("goes on when etcd was away, and says so once", async () => {
    const desk = new OperatorFixture();
    const anchors = await placed(desk, 1);
    const { watch, news } = vigil(desk);
    desk.store.fates.push("refused", "refused", "refused");
    const waiting = waitUntilGone(desk.ports, anchors, watch);
    await desk.clock.advance(10_000);
    await remove(desk, ...anchors.map(({ key }) => key));
    expect(await desk.advanceUntilSettled(waiting)).toEqual([]);
    expect(news.map(({ kind }) => kind)).toEqual(["away", "back", "left"]);
  });

  it("reads again though the watch says nothing", async () => {
    const desk = new OperatorFixture();
    const anchors = await placed(desk, 1);
    // A watch that died in silence: it delivers nothing, and does not end.
    desk.store.watch = async function* (_, signal) {
      await new Promise((_resolve, fail) => signal.addEventListener("abort", () => fail(signal.reason)));
      throw new Error("not reached");
    };
    const waiting = waitUntilGone(desk.ports, anchors, vigil(desk).watch);
    await desk.clock.advance(1_000);
    await remove(desk, ...anchors.map(({ key }) => key));
    expect(await desk.advanceUntilSettled(waiting)).toEqual([]);
  });

  it("ends with the signal's reason", async () => {
    const desk = new OperatorFixture();
    const anchors = await placed(desk, 1);
    const stop = new AbortController();
    const waiting = waitUntilGone(desk.ports, anchors, vigil(desk, { signal: stop.signal }).watch);
    await desk.clock.advance(1_000);
    stop.abort(new Error("enough"));
    await expect(desk.advanceUntilSettled(waiting)).rejects.toThrow("enough");
  });
});
