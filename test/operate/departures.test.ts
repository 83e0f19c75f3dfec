/** Waiting until tickets are gone, also during faults of etcd. */
import { describe, expect, it } from "vitest";
import { type DepartureEvent, type DepartureWait, waitUntilGone } from "../../src/operate/departures.ts";
import { type Mark, serializeTicket } from "../../src/protocol/ticket.ts";
import type { Op } from "../../src/protocol/txn.ts";
import { keys, ticketWith } from "../protocol/samples.ts";
import { OperatorFixture } from "./operator-fixture.ts";

const buildKeys = (count: number) =>
  Array.from({ length: count }, (_, i) => keys.lock(`l${i}`, `${i}`.padStart(16, "0")));

async function putTickets(operator: OperatorFixture, count: number) {
  for (const key of buildKeys(count))
    await operator.store.commitTxn({ compare: [], success: [{ op: "put", key, value: "{}" }], failure: [] });
  const { kvs } = await operator.store.readRange(keys.locks());
  return kvs.map(({ key, createRevision }) => ({ key, createRevision }));
}

const remove = (operator: OperatorFixture, ...gone: string[]) =>
  operator.store.commitTxn({ compare: [], success: gone.map((key) => ({ op: "delete", key })), failure: [] });

function startWait(operator: OperatorFixture, more: Partial<DepartureWait> = {}) {
  const news: DepartureEvent[] = [];
  return {
    news,
    watch: {
      signal: new AbortController().signal,
      onEvent: (one: DepartureEvent) => news.push(one),
      ...more,
    },
    operator,
  };
}

describe("waiting until tickets are gone", () => {
  it.each([1, 5, 250])("ends when the last of %i is", async (count) => {
    const operator = new OperatorFixture();
    const anchors = await putTickets(operator, count);
    const { watch, news } = startWait(operator);
    const waiting = waitUntilGone(operator.ports, anchors, watch);
    for (const { key } of anchors) {
      await operator.clock.advance(10);
      await remove(operator, key);
    }
    expect(await operator.advanceUntilSettled(waiting)).toEqual([]);
    expect(news.at(-1)).toEqual({ kind: "left", remaining: 0 });
    expect(news).toHaveLength(count);
  });

  it("takes a later ticket at the same key for another one", async () => {
    const operator = new OperatorFixture();
    const anchors = await putTickets(operator, 1);
    await remove(operator, ...anchors.map(({ key }) => key));
    await putTickets(operator, 1);
    expect(
      await operator.advanceUntilSettled(waitUntilGone(operator.ports, anchors, startWait(operator).watch)),
    ).toEqual([]);
  });

  it("waits for the time to live of a ticket that vanishes after it was read beside its mark", async () => {
    const operator = new OperatorFixture();
    const ticket = ticketWith({ state: "held" });
    const key = keys.lock("a", ticket.run);
    const mark: Mark = { ...ticket, ttl: 30 };
    const puts: Op[] = [
      { op: "put", key, value: serializeTicket(ticket) },
      { op: "put", key: keys.mark(key), value: serializeTicket(mark) },
    ];
    const { revision } = await operator.store.commitTxn({ compare: [], success: puts, failure: [] });
    const { watch } = startWait(operator);
    const waiting = waitUntilGone(operator.ports, [{ key, createRevision: revision }], watch);
    await operator.clock.advance(60_000);
    const vanishedAt = operator.clock.now();
    await remove(operator, key); // as if etcd had revoked its session, which was renewed until now
    expect(await operator.advanceUntilSettled(waiting)).toEqual([]);
    expect(operator.clock.now() - vanishedAt).toBeGreaterThanOrEqual(30_000);
  });

  it("tells who is left at the deadline, and not before", async () => {
    const operator = new OperatorFixture();
    const anchors = await putTickets(operator, 3);
    const deadline = 25_000;
    const waiting = waitUntilGone(operator.ports, anchors, startWait(operator, { deadline }).watch);
    await operator.clock.advance(1_000);
    await remove(operator, anchors[1]?.key ?? "");
    expect(await operator.advanceUntilSettled(waiting)).toEqual([anchors[0], anchors[2]]);
    expect(operator.clock.now()).toBeGreaterThanOrEqual(deadline);
  });

  it("goes on when etcd was away, and says so once", async () => {
    const operator = new OperatorFixture();
    const anchors = await putTickets(operator, 1);
    const { watch, news } = startWait(operator);
    operator.store.fates.push("refused", "refused", "refused");
    const waiting = waitUntilGone(operator.ports, anchors, watch);
    await operator.clock.advance(10_000);
    await remove(operator, ...anchors.map(({ key }) => key));
    expect(await operator.advanceUntilSettled(waiting)).toEqual([]);
    expect(news.map(({ kind }) => kind)).toEqual(["away", "back", "left"]);
  });

  it("reads again though the watch says nothing", async () => {
    const operator = new OperatorFixture();
    const anchors = await putTickets(operator, 1);
    // A watch that died in silence: it delivers nothing, and does not end.
    operator.store.watch = async function* (_, signal) {
      await new Promise((_resolve, fail) => signal.addEventListener("abort", () => fail(signal.reason)));
      throw new Error("not reached");
    };
    const waiting = waitUntilGone(operator.ports, anchors, startWait(operator).watch);
    await operator.clock.advance(1_000);
    await remove(operator, ...anchors.map(({ key }) => key));
    expect(await operator.advanceUntilSettled(waiting)).toEqual([]);
  });

  it("ends with the signal's reason", async () => {
    const operator = new OperatorFixture();
    const anchors = await putTickets(operator, 1);
    const stop = new AbortController();
    const waiting = waitUntilGone(
      operator.ports,
      anchors,
      startWait(operator, { signal: stop.signal }).watch,
    );
    await operator.clock.advance(1_000);
    stop.abort(new Error("enough"));
    await expect(operator.advanceUntilSettled(waiting)).rejects.toThrow("enough");
  });
});
