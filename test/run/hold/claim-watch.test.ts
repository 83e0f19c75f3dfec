import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../../src/etcd/memory/memory-store.ts";
import { SessionLost } from "../../../src/etcd/session/session.ts";
import { StoreError, type Txn, type TxnResponse } from "../../../src/etcd/store.ts";
import { type QueueEntry, serializeTicket, toQueueEntry } from "../../../src/protocol/ticket.ts";
import type { Op } from "../../../src/protocol/txn.ts";
import { type ClaimLoss, ClaimWatch } from "../../../src/run/claim-watch.ts";
import { ManualClock } from "../../etcd/manual-clock.ts";
import { keys, ticketWith } from "../../protocol/samples.ts";
import {
  createAttempt,
  createPorts,
  createRequest,
  DB_KEY,
  HOST,
  LOCK_KEY,
  RUN,
} from "../claim/situations.ts";

class CutStore extends MemoryStore {
  error: StoreError | undefined;
  /** No read is answered any more. */
  isHanging = false;
  reads = 0;

  override async commitTxn(txn: Txn, signal?: AbortSignal): Promise<TxnResponse> {
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
  const ports = { ...createPorts(clock), store };
  const leases = [{ resource: "db", count: 2, total: 4 }];
  const request = createRequest({ locks: ["a"], leases, ...(group !== undefined && { group }) });
  const attempt = await createAttempt(ports, request);
  const apply = (...success: Op[]) => store.etcd.apply({ compare: [], success, failure: [] });
  const put = (key: string, value: string, session = attempt.session.id) =>
    apply({ op: "put", key, value, session });
  const ticket = (reset = {}) => serializeTicket(ticketWith({ run: RUN, state: "held", ...reset }));
  put(WEB, JSON.stringify([HOST]), 0n);
  for (const key of [LOCK_KEY, DB_KEY]) put(key, ticket());
  const find = (key: string): QueueEntry[] => store.etcd.range({ key }).kvs.map(toQueueEntry);
  const grant = { attempt, entries: [LOCK_KEY, DB_KEY].flatMap(find), grantedAt: 0, histories: undefined };
  const losses: ClaimLoss[] = [];
  const watch = new ClaimWatch(
    grant,
    (loss) => losses.push(loss),
    () => {},
  );
  return { clock, store, session: attempt.session, apply, put, ticket, watch, losses };
}

type Held = Awaited<ReturnType<typeof setUp>>;
const reset = { reset: { by: "op", at: 1 } };

const EVENTS = {
  nothing: () => {},
  "the lock's ticket is removed": ({ apply }: Held) => apply({ op: "delete", key: LOCK_KEY }),
  "the resource's ticket is removed": ({ apply }: Held) => apply({ op: "delete", key: DB_KEY }),
  "the session is ended": ({ store, session }: Held) => store.etcd.revoke(session.id),
  "a ticket is replaced": ({ apply, put, ticket }: Held) => {
    apply({ op: "delete", key: LOCK_KEY });
    put(LOCK_KEY, ticket());
  },
  "a ticket is rewritten": ({ put, ticket }: Held) => put(LOCK_KEY, ticket()),
  "a ticket becomes unreadable": ({ put }: Held) => put(LOCK_KEY, "?"),
  "the lock is reset": ({ put, ticket }: Held) => put(LOCK_KEY, ticket(reset)),
  "the resource is reset": ({ put, ticket }: Held) => put(DB_KEY, ticket(reset)),
  "the lock is drained": ({ put }: Held) => put(keys.drain("lock", "a"), "{}", 0n),
  "the total is lowered": ({ put }: Held) => put(keys.resourceConfig("db"), "1", 0n),
  "another run queues": ({ put, ticket }: Held) => put(keys.lock("a", "0ther0ther0ther0"), ticket(), 0n),
  "the host leaves the group": ({ put }: Held) => put(WEB, "[]", 0n),
  "the group is deleted": ({ apply }: Held) => apply({ op: "delete", key: WEB }),
  "another group changes": ({ put }: Held) => put(keys.group("db"), "[]", 0n),
};

describe("a loss", () => {
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
    "%s, group asked for: %s: %s, read with a renewal and reported by the watch",
    async (event, group, kind) => {
      const renewed = await setUp(group);
      EVENTS[event](renewed);
      const proof = await renewed.watch.prove();
      expect(renewed.losses.map((loss) => loss.kind)).toEqual(kind === undefined ? [] : [kind]);
      expect(proof.fault === undefined).toBe(kind !== "gone");

      const followed = await setUp(group);
      const over = new AbortController();
      const following = followed.watch.follow(0, over.signal);
      await followed.clock.advance(0);
      expect(followed.losses).toEqual([]);
      EVENTS[event](followed);
      await followed.clock.advance(0);
      expect(followed.losses[0]?.kind).toBe(kind);
      over.abort();
      await following;
    },
  );
});

describe("the watch", () => {
  test.each<[string, StoreError["kind"], number, number]>([
    // case, error of the first read, ms until the loss is still unknown, ms until it is known
    ["etcd does not answer", "unavailable", 499, 500],
    ["etcd refuses the read", "permission", 499, 500],
  ])("reads again when %s", async (_, kind, before, after) => {
    const { clock, store, watch, losses, apply } = await setUp();
    const over = new AbortController();
    store.error = new StoreError(kind, "cut");
    const following = watch.follow(0, over.signal);
    await clock.advance(0);
    store.error = undefined;
    apply({ op: "delete", key: LOCK_KEY });
    await clock.advance(before);
    expect(losses).toEqual([]);
    await clock.advance(after - before);
    expect(losses[0]).toMatchObject({ kind: "gone" });
    over.abort();
    await following;
  });

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

  test.each<[keyof typeof EVENTS, ClaimLoss["kind"] | undefined]>([
    ["the lock's ticket is removed", "gone"],
    ["the session is ended", "gone"],
    ["a ticket is replaced", "gone"],
    ["the resource is reset", "asked"],
    ["a ticket is rewritten", undefined],
    ["a ticket becomes unreadable", undefined],
  ])("reports what its events say, also while etcd answers no read: %s", async (event, kind) => {
    const held = await setUp();
    const over = new AbortController();
    void held.watch.follow(0, over.signal);
    await held.clock.advance(0);
    held.store.isHanging = true;
    EVENTS[event](held);
    await held.clock.advance(0);
    expect(held.losses.map((loss) => loss.kind)).toEqual(kind === undefined ? [] : [kind]);
    over.abort();
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
    await held.clock.advance(held.watch.getTermTime() - left);
    let outcome: string = "waits";
    void held.watch
      .waitForHorizon(() => isOver, leave.signal)
      .then(
        () => {
          outcome = "starts";
        },
        (error) => {
          outcome = error.constructor.name;
        },
      );
    await held.clock.advance(50);
    happen(held, leave);
    await held.clock.advance(100);
    expect(outcome).toBe(expected);
    leave.abort();
  });
});
