import { describe, expect, test } from "vitest";
import { find, OTHER, put, remove } from "../../../../fixtures/protocol/claim-fixture.ts";
import { createTicket, EMPTY_BASIS, keys } from "../../../../fixtures/protocol/samples.ts";
import {
  createAttempt,
  createPorts,
  DB_KEY,
  LOCK_KEY,
  REQUESTS,
  type RequestName,
  RUN,
  WALL,
} from "../../../../fixtures/protocol/situations.ts";
import { type QueueEntry, serializeTicket } from "../../../../src/core/protocol/ticket.ts";
import type { ResourceTotal } from "../../../../src/core/run/eligibility.ts";
import { buildStepTransaction } from "../../../../src/core/run/step.ts";

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
  const putTicket = (key: string, state: string) => {
    const run = key === OTHER_LOCK ? OTHER : RUN;
    const change = state === "reset" ? { reset: { by: "op", at: 1 } } : { state: state as "held" };
    const session = run === RUN ? attempt.session.id : undefined;
    put(etcd, key, serializeTicket(createTicket({ run, ...change })), session);
  };
  const at = { lock: LOCK_KEY, db: DB_KEY, other: OTHER_LOCK };
  for (const [name, state] of Object.entries(own)) putTicket(at[name as keyof typeof at], state);
  const happen = (event: Event) => {
    const [verb, name] = event.startsWith("-") ? ["delete", event.slice(1)] : event.split(" ");
    const key = at[(name ?? verb) as keyof typeof at];
    if (event === "drain") put(etcd, keys.drain("all", "all"), "{}");
    else if (verb === "delete") remove(etcd, key);
    else if (verb === "reset") putTicket(key, "reset");
    else if (event === "other") putTicket(OTHER_LOCK, "held");
  };
  const findEntries = (...keys: string[]) => keys.flatMap((key) => find(etcd, key) ?? []);
  /** State of each own ticket now, `-` for none. */
  const show = () => [LOCK_KEY, DB_KEY].map((key) => find(etcd, key)?.ticket?.state ?? "-").join(" ");
  const build = (step: Parameters<typeof buildStepTransaction>[1], history = true) => {
    const kept = { ...attempt, request: { ...attempt.request, history } };
    return buildStepTransaction(kept, step, WALL);
  };
  const basis = { ...EMPTY_BASIS, revision: etcd.revision };
  const claim = { kind: "claim", basis, totals: attempt.resourceKeys.length > 0 ? totals : [] } as const;
  return { etcd, happen, show, build, basis, claim, findEntries };
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
    const { build, claim, happen, etcd, show, findEntries } = await setUp(request, {});
    const built = build(claim);
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
    const { build, claim, etcd } = await setUp(request, {});
    const built = build(claim, history);
    expect(built.readGrant?.(etcd.apply(built.txn)).histories).toEqual(
      readsHistory ? [undefined] : undefined,
    );
    const isRead = built.txn.success.some((op) => op.op === "range" && op.key === keys.history("a"));
    expect(isRead).toBe(readsHistory);
  });

  test("the tickets carry the units, and when they were granted", async () => {
    const claimTickets = async (request: RequestName) => {
      const { etcd, build, claim, findEntries } = await setUp(request, {});
      etcd.apply(build(claim).txn);
      return findEntries(DB_KEY, LOCK_KEY).map(({ ticket }) => ticket);
    };
    const [db, lock] = await claimTickets("both");
    expect(db).toMatchObject({ count: 2, total: 4, isStated: true, run: RUN });
    expect(lock).toMatchObject({ count: 1, total: 1 });
    expect(lock).not.toHaveProperty("grantedAt");
    expect(await claimTickets("lock")).toMatchObject([{ state: "held", grantedAt: WALL }]);
  });
});

type EventTable = [Event, boolean, string][];

test.each<EventTable[number]>([
  ["", true, "admitted waiting"],
  ["other", true, "admitted waiting"],
  ["-lock", false, "- -"],
  ["reset lock", false, "waiting -"],
  ["drain", false, "waiting -"],
])("join: after %j: %s, %s", async (event, succeeded, expected) => {
  const { build, basis, happen, etcd, show, findEntries } = await setUp("both, queue", { lock: "waiting" });
  const [lock] = findEntries(LOCK_KEY) as [QueueEntry];
  const built = build({ kind: "join", basis, totals, locks: [lock] });
  happen(event);
  expect(built.readGrant).toBeUndefined();
  expect([etcd.apply(built.txn).succeeded, show()]).toEqual([succeeded, expected]);
});

test.each<EventTable[number]>([
  ["", true, "held held"],
  ["other", true, "held held"],
  ["-lock", false, "- waiting"],
  ["-db", false, "admitted -"],
  ["reset lock", false, "waiting waiting"],
  ["reset db", false, "admitted waiting"],
  ["drain", false, "admitted waiting"],
])("grant: after %j: %s, %s", async (event, succeeded, expected) => {
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

test.each<EventTable[number]>([
  ["", true, "admitted waiting"],
  ["-lock", false, "- waiting"],
  ["reset lock", false, "waiting waiting"],
  ["reset db", true, "admitted waiting"],
  ["drain", true, "admitted waiting"],
])("announce: after %j: %s, %s", async (event, succeeded, expected) => {
  const own = { lock: "waiting", db: "waiting" };
  const { build, happen, etcd, show, findEntries } = await setUp("both", own);
  const built = build({ kind: "announce", entries: findEntries(LOCK_KEY) });
  happen(event);
  expect(built.readGrant).toBeUndefined();
  expect([etcd.apply(built.txn).succeeded, show()]).toEqual([succeeded, expected]);
});

test.each<[Event, boolean, boolean]>([
  // event, succeeds, whether the other's ticket is left
  ["", true, false],
  ["-other", false, false],
  ["reset other", false, true],
  ["drain", true, false],
])("sweep: after %j: %s, ticket left: %s", async (event, succeeded, isLeft) => {
  const { build, happen, etcd, findEntries } = await setUp("lock", { other: "grace" });
  const built = build({ kind: "sweep", entries: findEntries(OTHER_LOCK) });
  happen(event);
  expect(etcd.apply(built.txn).succeeded).toBe(succeeded);
  expect(findEntries(OTHER_LOCK).length > 0).toBe(isLeft);
});
