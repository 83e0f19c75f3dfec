import { describe, expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../../../../fixtures/manual-clock.ts";
import { find, OTHER, put, remove } from "../../../../fixtures/protocol/claim-fixture.ts";
import { createTicket, keys } from "../../../../fixtures/protocol/samples.ts";
import {
  createAttempt,
  createPorts,
  DB_KEY,
  HOST,
  LOCK_KEY,
  REQUESTS,
  RUN,
} from "../../../../fixtures/protocol/situations.ts";
import { subtractTime } from "../../../../src/core/base/clock.ts";
import { MemoryStore } from "../../../../src/core/etcd/memory/memory-store.ts";
import { SessionLost } from "../../../../src/core/etcd/session/session.ts";
import { StoreError } from "../../../../src/core/etcd/store.ts";
import { serializeTicket } from "../../../../src/core/protocol/ticket.ts";
import type { Txn } from "../../../../src/core/protocol/txn.ts";
import { type ClaimLoss, ClaimWatch } from "../../../../src/core/run/claim-watch.ts";

class CutStore extends MemoryStore {
  error: StoreError | undefined;
  /** No read is answered any more. */
  isHanging = false;
  reads = 0;

  override async commitTxn(txn: Txn, signal?: AbortSignal) {
    this.reads += 1;
    if (this.isHanging) await new Promise(() => {});
    if (this.error !== undefined) throw this.error;
    return await super.commitTxn(txn, signal);
  }
}

const WEB = keys.group("web");

/** A held claim of lock a and units of db, on a host of group web. */
async function setUp(group?: string) {
  const clock = new ManualClock();
  const store = new CutStore(MemoryStore.create(clock).etcd);
  const { etcd } = store;
  const request = group === undefined ? REQUESTS.both : { ...REQUESTS.both, group };
  const attempt = await createAttempt(createPorts(clock, store), request);
  const putTicket = (key: string, reset = {}) =>
    put(etcd, key, serializeTicket(createTicket({ run: RUN, state: "held", ...reset })), attempt.session.id);
  put(etcd, WEB, JSON.stringify([HOST]));
  for (const key of [LOCK_KEY, DB_KEY]) putTicket(key);
  const entries = [LOCK_KEY, DB_KEY].flatMap((key) => find(etcd, key) ?? []);
  const grant = { attempt, entries, grantedAt: 0, histories: undefined };
  const losses: ClaimLoss[] = [];
  const watch = new ClaimWatch(
    grant,
    (loss) => losses.push(loss),
    () => {},
  );
  return { clock, store, etcd, session: attempt.session, putTicket, watch, losses };
}

type Held = Awaited<ReturnType<typeof setUp>>;
const reset = { reset: { by: "op", at: 1 } };

const EVENTS = {
  nothing: () => {},
  "the lock's ticket is removed": ({ etcd }: Held) => remove(etcd, LOCK_KEY),
  "the resource's ticket is removed": ({ etcd }: Held) => remove(etcd, DB_KEY),
  "the session is ended": ({ etcd, session }: Held) => etcd.revoke(session.id),
  "a ticket is replaced": ({ etcd, putTicket }: Held) => {
    remove(etcd, LOCK_KEY);
    putTicket(LOCK_KEY);
  },
  "a ticket is rewritten": ({ putTicket }: Held) => putTicket(LOCK_KEY),
  "a ticket becomes unreadable": ({ etcd, session }: Held) => put(etcd, LOCK_KEY, "?", session.id),
  "the lock is reset": ({ putTicket }: Held) => putTicket(LOCK_KEY, reset),
  "the resource is reset": ({ putTicket }: Held) => putTicket(DB_KEY, reset),
  "the lock is drained": ({ etcd }: Held) => put(etcd, keys.drain("lock", "a"), "{}"),
  "the total is lowered": ({ etcd }: Held) => put(etcd, keys.resourceConfig("db"), "1"),
  "another run queues": ({ etcd }: Held) => put(etcd, keys.lock("a", OTHER), serializeTicket(createTicket())),
  "the host leaves the group": ({ etcd }: Held) => put(etcd, WEB, "[]"),
  "the group is deleted": ({ etcd }: Held) => remove(etcd, WEB),
  "another group changes": ({ etcd }: Held) => put(etcd, keys.group("db"), "[]"),
};

/** Lets the watch begin, and stops it with the test. */
async function follow({ watch, clock }: Held) {
  const over = new AbortController();
  onTestFinished(() => over.abort());
  void watch.follow(0, over.signal);
  await clock.advance(0);
}

test.each<[keyof typeof EVENTS, string | undefined, "gone" | "asked" | undefined]>([
  ["nothing", "web", undefined],
  ["the lock's ticket is removed", undefined, "gone"],
  ["the resource's ticket is removed", undefined, "gone"],
  ["the session is ended", undefined, "gone"],
  ["a ticket is replaced", undefined, "gone"],
  ["a ticket is rewritten", undefined, undefined],
  ["a ticket becomes unreadable", undefined, undefined],
  ["the lock is reset", undefined, "asked"],
  ["the resource is reset", undefined, "asked"],
  ["the lock is drained", undefined, undefined],
  ["the total is lowered", undefined, undefined],
  ["another run queues", undefined, undefined],
  ["the host leaves the group", undefined, undefined],
  ["the host leaves the group", "web", "asked"],
  ["the group is deleted", "web", "asked"],
  ["another group changes", "web", undefined],
])(
  "a loss: %s, group asked for: %s: %s, read with a renewal, and reported by the watch while etcd answers reads or not",
  async (event, group, kind) => {
    const kinds = kind === undefined ? [] : [kind];
    const renewed = await setUp(group);
    EVENTS[event](renewed);
    const proof = await renewed.watch.prove();
    expect(renewed.losses.map((loss) => loss.kind)).toEqual(kinds);
    expect(proof.fault === undefined).toBe(kind !== "gone");

    // What happens to tickets is in the events; groups are read.
    for (const isHanging of group === undefined ? [false, true] : [false]) {
      const followed = await setUp(group);
      await follow(followed);
      expect(followed.losses).toEqual([]);
      followed.store.isHanging = isHanging;
      EVENTS[event](followed);
      await followed.clock.advance(0);
      const found = new Set(followed.losses.map((loss) => loss.kind)); // a read may report it again
      expect([...found], `reads hang: ${isHanging}`).toEqual(kinds);
    }
  },
);

describe("the watch", () => {
  test.each(["unavailable", "permission"] as const)(
    "reads again half a second after etcd has said %s",
    async (kind) => {
      const held = await setUp();
      const { clock, store, etcd, losses } = held;
      store.error = new StoreError(kind, "cut");
      await follow(held);
      store.error = undefined;
      remove(etcd, LOCK_KEY);
      await clock.advance(499);
      expect(losses).toEqual([]);
      await clock.advance(1);
      expect(losses[0]).toMatchObject({ kind: "gone" });
    },
  );

  test("reads for the first time after the given delay, and not once it is over", async () => {
    const { clock, store, watch } = await setUp();
    const over = new AbortController();
    const following = watch.follow(1_000, over.signal);
    await clock.advance(999);
    expect(store.reads).toBe(0);
    await clock.advance(1);
    expect(store.reads).toBe(1);
    over.abort();
    await following;
    expect(store.reads).toBe(1);
  });

  test("ends with the session", async () => {
    const { clock, watch, session } = await setUp();
    const following = watch.follow(0, new AbortController().signal);
    await clock.advance(0);
    session.lose(new SessionLost("horizon", "too late"));
    await expect(following).resolves.toBeUndefined();
  });
});

describe("a start waits for the horizon", () => {
  type Start = "starts" | "waits" | "SessionLost" | "Error";
  test.each<[string, number, (held: Held, leave: AbortController) => void, boolean, Start]>([
    // case, ms to the termination before the horizon, event while it waits, whether the claim is over, outcome
    ["far away", 1, () => {}, false, "starts"],
    ["near", 0, () => {}, false, "waits"],
    ["near, but the claim is over", 0, () => {}, true, "starts"],
    [
      "near, and the session is lost",
      0,
      ({ session }) => session.lose(new SessionLost("expired", "x")),
      false,
      "SessionLost",
    ],
    ["near, and the run is told to leave", 0, (_, leave) => leave.abort(new Error("told")), false, "Error"],
  ])("%s", async (_, left, happen, isOver, expected) => {
    const held = await setUp();
    const leave = new AbortController();
    await held.clock.advance(subtractTime(held.watch.getTermTime(), held.clock.now()) - left);
    let outcome: string = "waits";
    const settle = (error?: Error) => {
      outcome = error?.constructor.name ?? "starts";
    };
    void held.watch.waitForHorizon(() => isOver, leave.signal).then(() => settle(), settle);
    await held.clock.advance(50);
    happen(held, leave);
    await held.clock.advance(100);
    expect(outcome).toBe(expected);
    leave.abort();
  });
});
