import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { find, put } from "../../../../fixtures/protocol/claim-fixture.ts";
import { createTicket, keys } from "../../../../fixtures/protocol/samples.ts";
import {
  createAttempt,
  createPorts,
  LOCK_KEY,
  REQUESTS,
  WALL,
} from "../../../../fixtures/protocol/situations.ts";
import { MemoryEtcd } from "../../../../src/core/etcd/memory/memory-store.ts";
import { admit } from "../../../../src/core/protocol/admission.ts";
import { serializeTicket, type Ticket } from "../../../../src/core/protocol/ticket.ts";
import type { Op, Txn } from "../../../../src/core/protocol/txn.ts";
import {
  buildResourceReads,
  computeHeadSize,
  parseResourceQueue,
  readClaimView,
} from "../../../../src/core/run/claim-view.ts";
import { decideStep } from "../../../../src/core/run/decide.ts";
import { VanishedTickets } from "../../../../src/core/run/vanished-tickets.ts";

const ALL = Number.POSITIVE_INFINITY;

/** A ticket of a queue; undefined for one that cannot be read. */
type TicketFields = Pick<Ticket, "count" | "total" | "state"> | undefined;

/** An etcd with one queue. */
class QueueFixture {
  readonly #etcd = new MemoryEtcd({ now: () => 0 });
  readonly #runs: string[] = [];
  /** Operations of the last look. */
  asked: readonly Op[] = [];
  /** Places that they found, own one included. */
  read = 0;

  constructor(tickets: readonly TicketFields[]) {
    tickets.forEach((fields, index) => {
      const run = `${index}`.padStart(16, "0");
      // Names are in another order than places.
      this.#runs.push([...run].reverse().join(""));
      const ticket = createTicket({ run: this.run(index), ...fields });
      put(this.#etcd, this.key(index), fields === undefined ? "{" : serializeTicket(ticket));
    });
  }

  run(index: number) {
    return this.#runs[index] ?? "";
  }

  key(index: number) {
    return keys.resource("db", this.run(index));
  }

  look(index: number, depth: number) {
    const mine = find(this.#etcd, this.key(index));
    this.asked = buildResourceReads(keys, "db", mine?.createRevision, depth);
    const { results } = this.#etcd.apply({ compare: [], success: [...this.asked], failure: [] });
    this.read = results.reduce((sum, one) => sum + (one.op === "range" ? one.kvs.length : 0), 0);
    return parseResourceQueue(results, mine, depth);
  }
}

const ticket = fc.option(
  fc.record({
    count: fc.integer({ min: 1, max: 4 }),
    total: fc.integer({ min: 1, max: 8 }),
    state: fc.constantFrom<Ticket["state"]>("waiting", "waiting", "admitted", "held"),
  }),
  { nil: undefined, freq: 12 },
);
const queue = fc.array(ticket, { minLength: 1, maxLength: 14 });
const total = fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined });

describe("the first places of a resource's queue", () => {
  test("never say that a run waits where the whole queue says that it is admitted", () => {
    let decided = 0;
    fc.assert(
      fc.property(
        queue,
        fc.nat(),
        fc.integer({ min: 1, max: 6 }),
        total,
        (tickets, nth, depth, configured) => {
          const index = nth % tickets.length;
          const fixture = new QueueFixture(tickets);
          const head = admit(fixture.look(index, depth).queue, fixture.run(index), configured).kind;
          const whole = admit(fixture.look(index, ALL).queue, fixture.run(index), configured).kind;
          if (head !== "admitted") expect(whole).toBe(head);
          if (head === "waiting") decided += 1;
        },
      ),
      { numRuns: 3_000 },
    );
    expect(decided).toBeGreaterThan(500);
  });

  test("are read up to the run's own entry, with the entry just ahead, in a queue of any length", () => {
    fc.assert(
      fc.property(queue, fc.nat(), fc.integer({ min: 1, max: 6 }), (tickets, nth, depth) => {
        const index = nth % tickets.length;
        const fixture = new QueueFixture(tickets);
        const { queue: seen, ahead, reach } = fixture.look(index, depth);
        const first = Array.from({ length: Math.min(depth, index + 1) }, (_, at) => fixture.key(at));
        const expected = first.includes(fixture.key(index)) ? first : [...first, fixture.key(index)];
        expect(seen.map(({ key }) => key)).toEqual(expected);
        expect(ahead?.key).toBe(index === 0 ? undefined : fixture.key(index - 1));
        expect(reach).toBe("head");
      }),
    );
  });

  test("far back in a long queue, a few are read, and they decide", () => {
    const waiting = { count: 1, total: 4, state: "waiting" } as const;
    const fixture = new QueueFixture(Array.from({ length: 3_000 }, () => waiting));
    const { queue: seen } = fixture.look(2_999, computeHeadSize(waiting));
    expect(admit(seen, fixture.run(2_999))).toMatchObject({ kind: "waiting" });
    expect(fixture.read).toBeLessThanOrEqual(25);
  });

  test.each([
    [{ count: 1, total: 1 }, 18],
    [{ count: 1, total: 100 }, 216],
    [{ count: 1024, total: 24_000 }, 64],
    [{ count: 1, total: 1_000_000 }, 1_000],
  ])("are so many for %j: %d", (units, places) => {
    expect(computeHeadSize(units)).toBe(places);
  });
});

describe("the place just ahead", () => {
  test("is all that is read otherwise", () => {
    const waiting = { count: 1, total: 4, state: "waiting" } as const;
    const fixture = new QueueFixture([waiting, waiting, waiting, waiting]);
    expect(fixture.look(2, 0)).toMatchObject({ reach: "near", ahead: { key: fixture.key(1) } });
    expect(fixture.look(2, 0).queue.map(({ key }) => key)).toEqual([fixture.key(1), fixture.key(2)]);
    expect(fixture.read).toBe(1);
    expect(fixture.look(0, 0)).toMatchObject({ ahead: undefined });
  });

  test("is the first of the queue for who stands in it not yet, at any depth", () => {
    const fixture = new QueueFixture([{ count: 1, total: 4, state: "held" }]);
    for (const depth of [0, 5]) {
      expect(fixture.look(9, depth)).toMatchObject({ reach: "near", ahead: { key: fixture.key(0) } });
    }
    expect(fixture.look(9, ALL)).toMatchObject({ reach: "whole", ahead: undefined });
  });

  test("is found in a whole queue too", () => {
    const fixture = new QueueFixture([undefined, { count: 1, total: 1, state: "held" }, undefined]);
    expect(fixture.look(1, ALL)).toMatchObject({ reach: "whole", ahead: { key: fixture.key(0) } });
    expect(fixture.look(0, ALL).ahead).toBeUndefined();
    expect(fixture.look(1, ALL).queue).toHaveLength(3);
  });
});

/** Places in the queue of a lock, ahead of the own one. Only some of the first ones may hold it. */
const place = fc.record({ sole: fc.nat(150).map((roll) => roll === 77), held: fc.boolean() });
const places = fc
  .tuple(fc.array(place, { maxLength: 150, size: "max" }), fc.nat(150))
  .map(([all, first]) => all.map(({ sole, held }, at) => ({ sole, held: held && at < first })));

test("the places ahead in the queue of a lock that the run shares: decide as all of them do, or the run waits until one of them holds it", async () => {
  const ports = createPorts();
  const attempt = await createAttempt(ports, REQUESTS["shared, queue"]);
  let [grants, cuts] = [0, 0];
  await fc.assert(
    fc.asyncProperty(places, async (places) => {
      const etcd = new MemoryEtcd({ now: () => 0 });
      const firstSole = places.findIndex(({ sole }) => sole);
      const others = places.map(({ sole, held }, at) => {
        // Only those before the first that does not share, or that one if it is the first, can hold the lock.
        const canHold = firstSole < 0 || at < firstSole || at === 0;
        const state = held && canHold ? "held" : "waiting";
        const run = `${at}`.padStart(16, "0");
        const key = keys.lock("a", run);
        const ticket = createTicket({ run, state, ...(!sole && { shared: true as const }) });
        put(etcd, key, serializeTicket(ticket));
        return { key, sole, state };
      });
      put(etcd, LOCK_KEY, serializeTicket(createTicket({ run: attempt.run, shared: true })));
      const store = {
        ...ports.store,
        commitTxn: async (txn: Txn) => etcd.apply(txn),
      } as typeof ports.store;
      const revisions = { lock: etcd.revision, resources: undefined };
      const how = { revisions, depth: 0, host: undefined, vanished: new VanishedTickets(ports.clock) };
      const here = { ...attempt, ports: { ...ports, store } };
      const view = await readClaimView(here, how, new AbortController().signal);
      const step = decideStep(here, revisions, view, WALL);
      expect(step.kind).toBeOneOf(["grant", "wait"]);
      if (step.kind !== "wait") {
        grants += 1;
        expect(firstSole).toBe(-1);
        return;
      }
      const obstacle = others.find(({ key }) => step.ranges.some((range) => range.key === key));
      expect(step.ranges).toHaveLength(2);
      const near = others.slice(-64);
      expect(obstacle).toBe(near.findLast(({ sole }) => sole) ?? near[0]);
      if (obstacle?.sole) return;
      cuts += 1;
      expect(near.every(({ sole, state }) => !sole && state === "waiting")).toBe(true);
    }),
    { numRuns: 500 },
  );
  expect(grants).toBeGreaterThan(50);
  expect(cuts).toBeGreaterThan(5);
});
