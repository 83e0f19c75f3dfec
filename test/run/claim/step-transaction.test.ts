import { describe, expect, test } from "vitest";
import { type QueueEntry, serializeTicket, toQueueEntry } from "../../../src/protocol/ticket.ts";
import type { Op } from "../../../src/protocol/txn.ts";
import type { ResourceTotal } from "../../../src/run/eligibility.ts";
import { buildStepTransaction } from "../../../src/run/step.ts";
import { EMPTY_BASIS, keys, ticketWith } from "../../protocol/samples.ts";
import {
  createAttempt,
  createPorts,
  DB_KEY,
  LOCK_KEY,
  REQUESTS,
  type RequestName,
  RUN,
  WALL,
} from "./situations.ts";

const OTHER = "0ther0ther0ther0";
const OTHER_LOCK = keys.lock("a", OTHER);
const totals: readonly ResourceTotal[] = [
  { lease: { resource: "db", count: 2, total: 4 }, configured: undefined, total: 4 },
];

/** What others do between the read and the transaction: `-lock` deletes the own ticket of the lock. */
type Event = "" | "other" | "-lock" | "-db" | "reset lock" | "reset db" | "drain" | "-other" | "reset other";

/** An etcd with own tickets in these states, an attempt, and the entries of the queues as read. */
async function setUp(request: RequestName, own: { lock?: string; db?: string; other?: string }) {
  const ports = createPorts();
  const { etcd } = ports.store;
  const attempt = await createAttempt(ports, REQUESTS[request]);
  const apply = (...success: Op[]) => etcd.apply({ compare: [], success, failure: [] });
  const put = (key: string, state: string): Op => ({
    op: "put",
    key,
    session: key === OTHER_LOCK ? 0n : attempt.session.id,
    value: serializeTicket({
      ...ticketWith({
        run: key === OTHER_LOCK ? OTHER : RUN,
        state: state === "reset" ? "waiting" : (state as "held"),
      }),
      ...(state === "reset" && { reset: { by: "op", at: 1 } }),
    }),
  });
  const at = { lock: LOCK_KEY, db: DB_KEY, other: OTHER_LOCK };
  for (const [name, state] of Object.entries(own)) apply(put(at[name as keyof typeof at], state));
  const find = (key: string) => etcd.range({ key }).kvs.map(toQueueEntry)[0];
  const happen = (event: Event) => {
    const [verb, name] = event.startsWith("-") ? ["delete", event.slice(1)] : event.split(" ");
    const key = at[(name ?? verb) as keyof typeof at];
    if (event === "drain") apply({ op: "put", key: keys.drain("all", "all"), value: "{}" });
    else if (verb === "delete") apply({ op: "delete", key });
    else if (verb === "reset") apply(put(key, "reset"));
    else if (event === "other") apply(put(OTHER_LOCK, "held"));
  };
  /** State of each own ticket now, `-` for none. */
  const show = () => [LOCK_KEY, DB_KEY].map((key) => find(key)?.ticket?.state ?? "-").join(" ");
  const build = (step: Parameters<typeof buildStepTransaction>[1]) =>
    buildStepTransaction(attempt, step, WALL);
  const basis = { ...EMPTY_BASIS, revision: etcd.revision };
  return {
    etcd,
    attempt,
    find,
    happen,
    show,
    build,
    basis,
    findEntries: (...keys: string[]) => keys.flatMap((key) => find(key) ?? []),
  };
}

describe("claim", () => {
  test.each<[string, RequestName, Event, boolean, boolean, string]>([
    // case, request, event, grants, succeeds, lock's and resource's ticket afterwards
    ["a free lock", "lock", "", true, true, "held -"],
    ["a taken lock", "lock", "other", true, false, "- -"],
    ["a taken lock, to queue for", "lock, queue", "other", true, false, "waiting -"],
    ["a free lock, to queue for", "lock, queue", "", true, true, "held -"],
    ["units", "lease", "", false, true, "- waiting"],
    ["a free lock, and units", "both", "", false, true, "admitted waiting"],
    ["a taken lock, and units", "both", "other", false, false, "- -"],
    ["a taken lock to queue for, and units", "both, queue", "other", false, false, "waiting -"],
    ["a free lock under a drain", "lock", "drain", true, false, "- -"],
    ["a free lock under a drain, to queue for", "lock, queue", "drain", true, false, "- -"],
    ["units under a drain", "lease", "drain", false, false, "- -"],
  ])("%s", async (_, request, event, grants, succeeded, expected) => {
    const { build, basis, happen, etcd, show, findEntries } = await setUp(request, {});
    const built = build({ kind: "claim", basis, totals: REQUESTS[request].leases.length > 0 ? totals : [] });
    happen(event);
    const answer = etcd.apply(built.txn);
    expect([built.readGrant !== undefined, answer.succeeded, show()]).toEqual([grants, succeeded, expected]);
    if (succeeded && grants)
      expect(findEntries(LOCK_KEY)).toMatchObject(built.readGrant?.(answer).entries ?? []);
  });

  test.each<[RequestName, boolean, boolean]>([
    ["lock", true, true],
    ["lock", false, false],
    ["lease", true, false],
    ["both", true, false],
  ])("%s, history %s: reads the history %s", async (request, history, readsHistory) => {
    const { attempt, basis, etcd } = await setUp(request, {});
    const step = { kind: "claim", basis, totals: REQUESTS[request].leases.length > 0 ? totals : [] } as const;
    const built = buildStepTransaction(
      { ...attempt, request: { ...REQUESTS[request], history } },
      step,
      WALL,
    );
    const grant = built.readGrant?.(etcd.apply(built.txn));
    expect(grant?.histories).toEqual(readsHistory ? [undefined] : undefined);
    expect(built.txn.success.some((op) => op.op === "range" && op.key === keys.history("a"))).toBe(
      readsHistory,
    );
  });

  test("the tickets carry the units, and when they were granted", async () => {
    const both = await setUp("both", {});
    both.etcd.apply(both.build({ kind: "claim", basis: both.basis, totals }).txn);
    expect(both.find(DB_KEY)?.ticket).toMatchObject({ count: 2, total: 4, isStated: true, run: RUN });
    expect(both.find(LOCK_KEY)?.ticket).toMatchObject({ count: 1, total: 1 });
    expect(both.find(LOCK_KEY)?.ticket?.grantedAt).toBeUndefined();
    const lock = await setUp("lock", {});
    lock.etcd.apply(lock.build({ kind: "claim", basis: lock.basis, totals: [] }).txn);
    expect(lock.find(LOCK_KEY)?.ticket).toMatchObject({ state: "held", grantedAt: WALL });
  });
});

type EventTable = [Event, boolean, string][];

describe("join", () => {
  test.each<EventTable[number]>([
    ["", true, "admitted waiting"],
    ["other", true, "admitted waiting"],
    ["-lock", false, "- -"],
    ["reset lock", false, "waiting -"],
    ["drain", false, "waiting -"],
  ])("after %j: %s, %s", async (event, succeeded, expected) => {
    const { build, basis, happen, etcd, show, findEntries } = await setUp("both, queue", { lock: "waiting" });
    const [lock] = findEntries(LOCK_KEY) as [QueueEntry];
    const built = build({ kind: "join", basis, totals, locks: [lock] });
    happen(event);
    expect(built.readGrant).toBeUndefined();
    expect([etcd.apply(built.txn).succeeded, show()]).toEqual([succeeded, expected]);
  });
});

describe("grant", () => {
  test.each<EventTable[number]>([
    ["", true, "held held"],
    ["other", true, "held held"],
    ["-lock", false, "- waiting"],
    ["-db", false, "admitted -"],
    ["reset lock", false, "waiting waiting"],
    ["reset db", false, "admitted waiting"],
    ["drain", false, "admitted waiting"],
  ])("after %j: %s, %s", async (event, succeeded, expected) => {
    const own = { lock: "admitted", db: "waiting" };
    const { build, basis, happen, etcd, show, findEntries } = await setUp("both, queue", own);
    const entries = findEntries(LOCK_KEY, DB_KEY);
    const built = build({ kind: "grant", basis, entries });
    happen(event);
    const answer = etcd.apply(built.txn);
    expect([answer.succeeded, show()]).toEqual([succeeded, expected]);
    const grant = built.readGrant?.(answer);
    if (succeeded) expect(findEntries(LOCK_KEY, DB_KEY)).toMatchObject(grant?.entries ?? []);
    if (succeeded) expect(grant?.histories).toEqual([undefined]);
  });
});

describe("announce", () => {
  test.each<EventTable[number]>([
    ["", true, "admitted waiting"],
    ["-lock", false, "- waiting"],
    ["reset lock", false, "waiting waiting"],
    ["reset db", true, "admitted waiting"],
    ["drain", true, "admitted waiting"],
  ])("after %j: %s, %s", async (event, succeeded, expected) => {
    const { build, happen, etcd, show, findEntries } = await setUp("both", {
      lock: "waiting",
      db: "waiting",
    });
    const built = build({ kind: "announce", entries: findEntries(LOCK_KEY) });
    happen(event);
    expect(built.readGrant).toBeUndefined();
    expect([etcd.apply(built.txn).succeeded, show()]).toEqual([succeeded, expected]);
  });
});

describe("sweep", () => {
  test.each<[Event, boolean, boolean]>([
    // event, succeeds, whether the other's ticket is left
    ["", true, false],
    ["-other", false, false],
    ["reset other", false, true],
    ["drain", true, false],
  ])("after %j: %s, ticket left: %s", async (event, succeeded, isLeft) => {
    const { build, happen, etcd, find, findEntries } = await setUp("lock", { other: "grace" });
    const built = build({ kind: "sweep", entries: findEntries(OTHER_LOCK) });
    happen(event);
    expect(etcd.apply(built.txn).succeeded).toBe(succeeded);
    expect(find(OTHER_LOCK) !== undefined).toBe(isLeft);
  });
});
