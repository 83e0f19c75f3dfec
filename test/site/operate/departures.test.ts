/** Waiting until tickets are gone, also during faults of etcd. */
import { describe, expect } from "vitest";
import { createTicket, keys } from "../../../fixtures/protocol/samples.ts";
import { subtractTime, toMonotonicTime } from "../../../src/core/base/clock.ts";
import { type Mark, serializeTicket } from "../../../src/core/protocol/ticket.ts";
import type { Op } from "../../../src/core/protocol/txn.ts";
import { type DepartureEvent, type DepartureWait, waitUntilGone } from "../../../src/site/operate/reset.ts";
import { OperatorFixture, test } from "./operator-fixture.ts";

async function putTickets(operator: OperatorFixture, count: number) {
  for (let n = 0; n < count; n += 1) await operator.put(keys.lock(`l${n}`, `${n}`.padStart(16, "0")), "{}");
  const { kvs } = await operator.store.readRange(keys.locks());
  return kvs.map(({ key, createRevision }) => ({ key, createRevision }));
}

/** Starts to wait. @returns what comes of it, and what is told meanwhile */
function startWait(
  operator: OperatorFixture,
  anchors: Parameters<typeof waitUntilGone>[1],
  more: Partial<DepartureWait> = {},
) {
  const news: DepartureEvent[] = [];
  const watch = {
    signal: new AbortController().signal,
    onEvent: (one: DepartureEvent) => news.push(one),
    ...more,
  };
  return { news, waiting: waitUntilGone(operator.ports, anchors, watch) };
}

describe("waiting until tickets are gone", () => {
  test.each([1, 5, 250])("ends when the last of %i is", async (count) => {
    const operator = new OperatorFixture();
    const anchors = await putTickets(operator, count);
    const { news, waiting } = startWait(operator, anchors);
    for (const { key } of anchors) {
      await operator.clock.advance(10);
      await operator.delete(key);
    }
    expect(await operator.advanceUntilSettled(waiting)).toEqual([]);
    expect(news.at(-1)).toEqual({ kind: "left", remaining: 0 });
    expect(news).toHaveLength(count);
  });

  test("takes a later ticket at the same key for another one", async ({ operator }) => {
    const anchors = await putTickets(operator, 1);
    await operator.delete(...anchors.map(({ key }) => key));
    await putTickets(operator, 1);
    expect(await operator.advanceUntilSettled(startWait(operator, anchors).waiting)).toEqual([]);
  });

  test("waits for the time to live of a ticket that vanishes after it was read beside its mark", async ({
    operator,
  }) => {
    const ticket = createTicket({ state: "held" });
    const key = keys.lock("a", ticket.run);
    const mark: Mark = { ...ticket, ttl: 30 };
    const puts: Op[] = [
      { op: "put", key, value: serializeTicket(ticket) },
      { op: "put", key: keys.mark(key), value: serializeTicket(mark) },
    ];
    const { revision } = await operator.store.commitTxn({ compare: [], success: puts, failure: [] });
    const { waiting } = startWait(operator, [{ key, createRevision: revision }]);
    await operator.clock.advance(60_000);
    const vanishedAt = operator.clock.now();
    await operator.delete(key); // as if etcd had revoked its session, which was renewed until now
    expect(await operator.advanceUntilSettled(waiting)).toEqual([]);
    expect(subtractTime(operator.clock.now(), vanishedAt)).toBeGreaterThanOrEqual(30_000);
  });

  test("tells who is left at the deadline, and not before", async ({ operator }) => {
    const anchors = await putTickets(operator, 3);
    const deadline = 25_000;
    const { waiting } = startWait(operator, anchors, { deadline: toMonotonicTime(deadline) });
    await operator.clock.advance(1_000);
    await operator.delete(anchors[1]?.key ?? "");
    expect(await operator.advanceUntilSettled(waiting)).toEqual([anchors[0], anchors[2]]);
    expect(operator.clock.now()).toBeGreaterThanOrEqual(deadline);
  });

  test("reads again though the watch says nothing", async ({ operator }) => {
    const anchors = await putTickets(operator, 1);
    // A watch that died in silence: it delivers nothing, and does not end.
    operator.store.watch = async function* (_, signal) {
      await new Promise((_resolve, fail) => signal.addEventListener("abort", () => fail(signal.reason)));
      throw new Error("not reached");
    };
    const { waiting } = startWait(operator, anchors);
    await operator.clock.advance(1_000);
    await operator.delete(...anchors.map(({ key }) => key));
    expect(await operator.advanceUntilSettled(waiting)).toEqual([]);
  });
});
