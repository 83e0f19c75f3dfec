import fc from "fast-check";
import { expect, test } from "vitest";
import { find, put, remove } from "../../../../fixtures/protocol/claim-fixture.ts";
import { createTicket, keys } from "../../../../fixtures/protocol/samples.ts";
import {
  createAttempt,
  createPorts,
  LOCK_KEY,
  REQUESTS,
  WALL,
} from "../../../../fixtures/protocol/situations.ts";
import { MemoryEtcd } from "../../../../src/core/etcd/memory/memory-store.ts";
import { serializeTicket, type Ticket, toQueueEntry } from "../../../../src/core/protocol/ticket.ts";
import type { Txn } from "../../../../src/core/protocol/txn.ts";
import type { ClaimAttempt } from "../../../../src/core/run/attempt.ts";
import {
  applyGrantsAhead,
  findTicketsAhead,
  readClaimView,
  type TicketsAhead,
} from "../../../../src/core/run/claim-view.ts";
import { decideStep } from "../../../../src/core/run/decide.ts";
import type { ClaimStep } from "../../../../src/core/run/step.ts";
import { VanishedTickets } from "../../../../src/core/run/vanished-tickets.ts";

/** The runs ahead of this run in the queue of a lock, and what may become of them. */
class RunsAhead {
  readonly etcd = new MemoryEtcd({ now: () => 0 });
  readonly #tickets: Ticket[];

  constructor(shared: readonly boolean[]) {
    this.#tickets = shared.map((isShared, at) =>
      createTicket({ run: `${at}`.padStart(16, "0"), state: "waiting", ...(isShared && { shared: true }) }),
    );
    for (const ticket of this.#tickets) put(this.etcd, keys.lock("a", ticket.run), serializeTicket(ticket));
  }

  /** One that waits leaves the queue. */
  leave(at: number): void {
    const waiting = this.#tickets.filter(({ state }) => state === "waiting");
    const one = waiting[at % Math.max(1, waiting.length)];
    if (one !== undefined) this.#remove(one);
  }

  /** The first one that waits is granted the lock, if it may be. */
  grant(): void {
    const next = this.#tickets.findIndex(({ state }) => state === "waiting");
    const ticket = this.#tickets[next];
    const isFirst = next === 0 || this.#tickets.slice(0, next + 1).every(({ shared }) => shared);
    if (ticket === undefined || !isFirst || this.#hasVanished()) return;
    this.#put(next, { ...ticket, state: "held" });
    const key = keys.lock("a", ticket.run);
    const place = find(this.etcd, key)?.createRevision.toString();
    put(this.etcd, keys.mark(key), JSON.stringify({ v: 1, ...ticket, state: "held", ttl: 30, place }));
  }

  /** A holder frees the lock. */
  free(at: number): void {
    this.#changeHolder(at, (one) => {
      remove(this.etcd, keys.mark(keys.lock("a", one.run)));
      this.#remove(one);
    });
  }

  /** A holder keeps the lock for its grace. */
  grace(at: number): void {
    this.#changeHolder(at, (one) => {
      remove(this.etcd, keys.mark(keys.lock("a", one.run)));
      this.#put(this.#tickets.indexOf(one), { ...one, state: "grace", until: WALL + 1_000 });
    });
  }

  /** etcd revokes the session of a holder before its time. */
  vanish(at: number): void {
    this.#changeHolder(at, (one) => one.state === "held" && this.#remove(one));
  }

  /** Somebody removes the marks of vanished tickets. */
  sweep(): void {
    for (const run of this.#listVanished()) remove(this.etcd, keys.mark(keys.lock("a", run)));
  }

  #changeHolder(at: number, change: (holder: Ticket) => unknown): void {
    const holders = this.#tickets.filter(({ state }) => state !== "waiting");
    const one = holders[at % Math.max(1, holders.length)];
    if (one !== undefined) change(one);
  }

  #hasVanished(): boolean {
    return this.#listVanished().length > 0;
  }

  #listVanished(): string[] {
    const marks = this.etcd.range(keys.getTicketAndMarkRanges("lock", "a").marks).kvs.map(toQueueEntry);
    return marks.map(({ run }) => run).filter((run) => this.#tickets.every((ticket) => ticket.run !== run));
  }

  #put(at: number, ticket: Ticket): void {
    put(this.etcd, keys.lock("a", ticket.run), serializeTicket(ticket));
    this.#tickets[at] = ticket;
  }

  #remove(ticket: Ticket): void {
    remove(this.etcd, keys.lock("a", ticket.run));
    this.#tickets.splice(this.#tickets.indexOf(ticket), 1);
  }
}

/** Applies the events that a run receives of the ticket ahead. */
function watch(etcd: MemoryEtcd, ahead: TicketsAhead): TicketsAhead {
  const events = [...ahead.values()].flatMap(({ entry: { key, modRevision } }) =>
    etcd
      .range({ key })
      .kvs.filter((kv) => kv.modRevision !== modRevision)
      .map((kv) => ({ type: "put", kv }) as const),
  );
  return applyGrantsAhead(ahead, events) ?? ahead;
}

const change = fc.record({
  what: fc.constantFrom("leave", "grant", "grant", "free", "free", "grace", "vanish", "sweep"),
  at: fc.nat(9),
});
/** What happens between two reads. */
const changes = fc.array(fc.array(change, { maxLength: 3 }), { minLength: 1, maxLength: 12 });
const queue = fc.array(
  fc.nat(5).map((roll) => roll === 0),
  { maxLength: 6 },
);

/** Which events wake a run depends on how much of the queue it has read. */
function dropEventKinds(step: ClaimStep): object {
  return step.kind === "wait" ? { ...step, ranges: step.ranges.map(({ key }) => key) } : step;
}

test.each(["lock, queue", "shared, queue"] as const)(
  "%s: a run that reads only the ticket ahead decides as if it had read its queue",
  async (name) => {
    const ports = createPorts();
    const attempt = await createAttempt(ports, REQUESTS[name]);
    const seen = { short: 0, granted: 0 };
    await fc.assert(
      fc.asyncProperty(queue, changes, fc.boolean(), async (shared, rounds, isPlaceKnown) => {
        const runs = new RunsAhead(shared);
        put(runs.etcd, LOCK_KEY, serializeTicket(createTicket({ run: attempt.run, state: "waiting" })));
        const revisions = { lock: runs.etcd.revision, resources: undefined };
        let asked: Txn[] = [];
        const commitTxn = async (txn: Txn) => {
          asked.push(txn);
          return runs.etcd.apply(txn);
        };
        const here: ClaimAttempt = {
          ...attempt,
          ports: { ...ports, store: Object.assign(Object.create(ports.store), { commitTxn }) },
        };
        const [often, once] = [new VanishedTickets(ports.clock), new VanishedTickets(ports.clock)];
        const read = async (vanished: VanishedTickets, ahead?: TicketsAhead, isUnplaced = false) => {
          const first = isUnplaced ? { lock: undefined, resources: undefined } : revisions;
          const how = { revisions: first, depth: 0, host: undefined, vanished, ...(ahead && { ahead }) };
          const view = await readClaimView(here, how, new AbortController().signal);
          return { view, step: decideStep(here, revisions, view, WALL) };
        };
        let ahead: TicketsAhead | undefined;
        for (const round of rounds) {
          for (const { what, at } of round) {
            runs[what](at);
            ahead &&= watch(runs.etcd, ahead);
          }
          asked = [];
          const { view, step } = await read(often, ahead, ahead === undefined && !isPlaceKnown);
          const isShort = asked.every(({ success }) => success.every((op) => !("sort" in op)));
          expect(asked.length).toBeLessThanOrEqual(2);
          const whole = await read(once);
          expect(dropEventKinds(step)).toEqual(dropEventKinds(whole.step));
          // Those of tickets further ahead are read when their turn has come.
          if (ahead !== undefined)
            expect([...whole.view.removals]).toEqual(expect.arrayContaining([...view.removals]));
          ahead = findTicketsAhead(here.request, view);
          if (isShort) seen.short += 1;
          if (isShort && step.kind === "grant") seen.granted += 1;
        }
      }),
      { numRuns: 1_000 },
    );
    if (name === "lock, queue") expect(Math.min(seen.short / 10, seen.granted)).toBeGreaterThan(50);
    else expect(seen.short).toBe(0);
  },
);
