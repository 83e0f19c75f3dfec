import { describe, expect, test } from "vitest";
import { ManualClock } from "../../../../fixtures/manual-clock.ts";
import { find, put, remove } from "../../../../fixtures/protocol/claim-fixture.ts";
import { createPastRun, createTicket, keys } from "../../../../fixtures/protocol/samples.ts";
import {
  createAttempt,
  createPorts,
  DB_KEY,
  LOCK_KEY,
  REQUESTS,
  RUN,
} from "../../../../fixtures/protocol/situations.ts";
import { MemoryStore } from "../../../../src/core/etcd/memory/memory-store.ts";
import { SessionLost } from "../../../../src/core/etcd/session/session.ts";
import { StoreError } from "../../../../src/core/etcd/store.ts";
import { appendPastRun, parsePastRuns } from "../../../../src/core/protocol/history.ts";
import { serializeTicket } from "../../../../src/core/protocol/ticket.ts";
import type { Txn } from "../../../../src/core/protocol/txn.ts";
import { finishClaim } from "../../../../src/core/run/finish.ts";
import type { Grant } from "../../../../src/core/run/step.ts";

const HISTORY = keys.history("a");
const OTHER = "0ther0ther0ther0";

/** What etcd does with the calls: it loses the answer of the first transaction, refuses some, or answers none. */
type Fault = "" | "answer lost" | "silent" | "history refused" | "grace refused";

class FaultyStore extends MemoryStore {
  fault: Fault = "";
  #commits = 0;

  override async commitTxn(txn: Txn, signal?: AbortSignal) {
    this.#commits += 1;
    this.#failOn("silent", "unavailable");
    if (hasHistoryWrite(txn)) this.#failOn("history refused", "permission");
    const answer = await super.commitTxn(txn, signal);
    if (this.#commits === 1) this.#failOn("answer lost", "unavailable");
    return answer;
  }

  override async grant(...call: Parameters<MemoryStore["grant"]>) {
    this.#failOn("silent", "unavailable");
    this.#failOn("grace refused", "permission");
    return await super.grant(...call);
  }

  override async revoke(...call: Parameters<MemoryStore["revoke"]>) {
    this.#failOn("silent", "unavailable");
    await super.revoke(...call);
  }

  #failOn(fault: Fault, kind: "unavailable" | "permission") {
    if (this.fault === fault) throw new StoreError(kind, fault);
  }
}

function hasHistoryWrite({ success, failure }: Txn): boolean {
  return [...success, ...failure].some((op) =>
    op.op === "txn" ? hasHistoryWrite(op.txn) : op.op === "put" && op.key === HISTORY,
  );
}

/** What others did between the grant and the end; `own history` is an earlier copy of the call. */
type Event = "" | "history" | "own history" | "-lock" | "again lock" | "reset lock";

/** A held claim of lock a, units of db, or both. */
async function setUp(name: "lock" | "lease" | "both", event: Event) {
  const clock = new ManualClock();
  const store = new FaultyStore(MemoryStore.create(clock).etcd);
  const { etcd } = store;
  const attempt = await createAttempt(createPorts(clock, store), REQUESTS[name]);
  const putTicket = (key: string, change = {}) =>
    put(etcd, key, serializeTicket(createTicket({ run: RUN, state: "held", ...change })), attempt.session.id);
  const own = [...attempt.lockKeys, ...attempt.resourceKeys];
  for (const key of own) putTicket(key);
  const entries = own.flatMap((key) => find(etcd, key) ?? []);
  const grant: Grant = { attempt, entries, grantedAt: 0, histories: [undefined] };
  if (event.endsWith("history"))
    put(etcd, HISTORY, appendPastRun(undefined, createPastRun(event === "history" ? OTHER : RUN)));
  if (event === "-lock" || event === "again lock") remove(etcd, LOCK_KEY);
  if (event === "again lock") putTicket(LOCK_KEY);
  if (event === "reset lock") putTicket(LOCK_KEY, { reset: { by: "op", at: 1 } });
  return { clock, store, grant };
}

interface Ending {
  request?: "lock" | "lease" | "both";
  event?: Event;
  fault?: Fault;
  /** Reading of the wall clock, ms; it is 0 at the end of the command. */
  graceUntil?: number;
  isHistoryKept?: boolean;
  isSessionLost?: boolean;
}

/** Finishes a claim. Returns the state of both tickets, the runs in the history, whether the session is left, and the time it took. */
async function finish(ending: Ending) {
  const { request: name = "both", event = "", graceUntil, isHistoryKept = true, isSessionLost } = ending;
  const { clock, store, grant } = await setUp(name, event);
  const { session } = grant.attempt;
  const grace = graceUntil === undefined ? {} : { grace: graceUntil };
  const request = { ...REQUESTS[name], history: isHistoryKept, ...grace };
  if (isSessionLost) session.lose(new SessionLost("horizon", "too late"));
  store.fault = ending.fault ?? "";
  let isDone = false;
  const finished = { ...grant, attempt: { ...grant.attempt, request } };
  void finishClaim(finished, { exit: 0, reason: undefined, keepsGrace: true }).then(() => {
    isDone = true;
  });
  await clock.advance(0);
  while (!isDone) await clock.advance(100);
  const { kvs } = store.etcd.range({ key: HISTORY });
  return {
    tickets: [LOCK_KEY, DB_KEY].map((key) => find(store.etcd, key)?.ticket?.state ?? "-").join(" "),
    history: parsePastRuns(kvs[0]?.value).map(({ run }) => run),
    hasSession: store.etcd.getRemaining(session.id) !== undefined,
    isMoved: (find(store.etcd, LOCK_KEY)?.session ?? session.id) !== session.id,
    took: clock.now(),
  };
}

test.each<[string, Ending, string, string[]]>([
  ["frees everything", {}, "- -", [RUN]],
  ["without a lock", { request: "lease" }, "- -", []],
  ["without a lease", { request: "lock" }, "- -", [RUN]],
  ["without a history", { isHistoryKept: false }, "- -", []],
  ["appends to what others have written since", { event: "history" }, "- -", [RUN, OTHER]],
  ["appends itself only once", { event: "own history" }, "- -", [RUN]],
  ["its lock's ticket was removed", { event: "-lock" }, "- -", [RUN]],
  ["its lock's ticket was replaced", { event: "again lock" }, "- -", [RUN]],
  ["it was reset", { event: "reset lock" }, "- -", [RUN]],
  ["the answer is lost", { fault: "answer lost" }, "- -", [RUN]],
  [
    "the answer is lost, others have written",
    { fault: "answer lost", event: "history" },
    "- -",
    [RUN, OTHER],
  ],
  ["its history is refused", { fault: "history refused" }, "- -", []],
])("a claim that ends: %s", async (_, ending, tickets, history) => {
  expect(await finish(ending)).toMatchObject({ tickets, history, hasSession: false });
});

describe("grace", () => {
  const graceUntil = 60_000;
  test.each<[string, Ending, string, string[]]>([
    ["keeps the lock, and frees the units", {}, "grace -", [RUN]],
    ["without a history", { isHistoryKept: false }, "grace -", []],
    ["that is over already frees the lock", { graceUntil: 0 }, "- -", [RUN]],
    ["without a lock is none", { request: "lease" }, "- -", []],
    ["gives way to a reset", { event: "reset lock" }, "- -", [RUN]],
    ["of a ticket that was removed is none", { event: "-lock" }, "- -", [RUN]],
    ["of a ticket that was replaced is none", { event: "again lock" }, "- -", [RUN]],
    ["is recognised when its answer was lost", { fault: "answer lost" }, "grace -", [RUN]],
    ["appends to what others have written since", { event: "history" }, "grace -", [RUN, OTHER]],
    ["that is refused frees the lock", { fault: "grace refused" }, "- -", [RUN]],
    ["whose history is refused frees the lock", { fault: "history refused" }, "- -", []],
  ])("%s", async (_, ending, tickets, history) => {
    const isMoved = tickets.startsWith("grace");
    expect(await finish({ graceUntil, ...ending })).toMatchObject({
      tickets,
      history,
      isMoved,
      hasSession: false,
    });
  });
});

test.each<[string, Ending, number]>([
  ["without grace", { fault: "silent" }, 10_000],
  ["with grace", { fault: "silent", graceUntil: 60_000 }, 10_000],
  ["with a lost session", { fault: "silent", isSessionLost: true }, 2_000],
])(
  "an etcd that does not answer is asked for a limited time, then the session expires: %s",
  async (_, ending, limit) => {
    const { took, ...left } = await finish(ending);
    expect(left).toMatchObject({ tickets: "held held", history: [], hasSession: true });
    expect(took).toBeLessThanOrEqual(limit + 500);
    expect(took).toBeGreaterThanOrEqual(limit - 500);
  },
);

test("the history tells who ran, how long it waited and held, and how it ended", async () => {
  const { clock, store, grant } = await setUp("both", "");
  await clock.advance(7_000);
  const request = { ...REQUESTS.both, identity: { ...REQUESTS.both.identity, label: "nightly" } };
  const attempt = { ...grant.attempt, request, enqueuedAt: 1_000 };
  await finishClaim({ ...grant, attempt, grantedAt: 3_000 }, { exit: 125, reason: "lost" });
  expect(parsePastRuns(store.etcd.range({ key: HISTORY }).kvs[0]?.value)).toMatchObject([
    {
      run: RUN,
      host: "web1.example.com",
      pid: 1,
      command: "job",
      label: "nightly",
      token: String(grant.entries[0]?.createRevision),
      enqueuedAt: 1_000,
      grantedAt: 3_000,
      endedAt: 7_000,
      waited: 2_000,
      held: 4_000,
      exit: 125,
      reason: "lost",
    },
  ]);
});
