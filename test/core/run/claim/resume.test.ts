import { describe, expect, test } from "vitest";
import { put } from "../../../../fixtures/protocol/claim-fixture.ts";
import { createTicket, keys } from "../../../../fixtures/protocol/samples.ts";
import {
  createPorts,
  createRequest,
  DB_KEY,
  LOCK_KEY,
  REQUESTS,
  RUN,
} from "../../../../fixtures/protocol/situations.ts";
import { toMonotonicTime } from "../../../../src/core/base/clock.ts";
import { serializeTicket, type Ticket } from "../../../../src/core/protocol/ticket.ts";
import { claimWithRetries, createOwnSessions, resumeGrant } from "../../../../src/core/run/claim.ts";
import { CallAttempts, type ClaimRequest } from "../../../../src/core/run/request.ts";

const NEVER = new AbortController().signal;

/** An etcd with tickets of the run on a session that can be resumed. */
async function setUp(tickets: Record<string, "held" | "waiting" | "grace">, isSessionGone = false) {
  const ports = createPorts();
  const own = createOwnSessions(ports);
  const opened = await own.open({ run: RUN, ttl: 30 }, toMonotonicTime(1_000), NEVER);
  const { session } = opened;
  for (const [key, state] of Object.entries(tickets)) {
    const value = serializeTicket(createTicket({ run: RUN, state, grantedAt: 5 }));
    put(ports.store.etcd, key, value, session.id);
  }
  const sessions = { ...own, resume: async () => (isSessionGone ? undefined : opened) };
  const resumed = { run: RUN, session: session.id, ttl: 30, enqueuedAt: 1 };
  return { ports: { ...ports, sessions }, resumed };
}

describe("a held claim of another process", () => {
  test("is taken over as it stands: the ticket of the lock first", async () => {
    const { ports, resumed } = await setUp({ [DB_KEY]: "held", [LOCK_KEY]: "held" });
    const { grant } = await resumeGrant(ports, REQUESTS.both, resumed);
    expect(grant?.entries.map(({ key }) => key)).toEqual([LOCK_KEY, DB_KEY]);
    expect([grant?.grantedAt, grant?.attempt.enqueuedAt, grant?.attempt.run]).toEqual([5, 1, RUN]);
  });

  test.each<[string, Parameters<typeof setUp>[0], boolean]>([
    ["a ticket is gone", { [LOCK_KEY]: "held" }, false],
    ["a ticket is not held", { [LOCK_KEY]: "held", [DB_KEY]: "waiting" }, false],
    ["the command has ended", { [LOCK_KEY]: "grace", [DB_KEY]: "held" }, false],
    ["its session is gone", { [LOCK_KEY]: "held", [DB_KEY]: "held" }, true],
  ])("is not when %s", async (_, tickets, isSessionGone) => {
    const { ports, resumed } = await setUp(tickets, isSessionGone);
    expect((await resumeGrant(ports, REQUESTS.both, resumed)).grant).toBeUndefined();
  });
});

describe("attempts of one call", () => {
  const CALL = "ca11ca11ca11ca11";
  const FORMER = "f0rmerf0rmerf0rm";

  /** Claims lock a, behind a ticket if there is one. */
  async function claim(
    ticket: Partial<Ticket> | undefined,
    waitLimits: ClaimRequest["waitLimits"] = { queues: false },
    waited = 0,
  ) {
    const ports = createPorts(); // its clock stands still
    const { etcd } = ports.store;
    const value = serializeTicket(createTicket({ run: FORMER, state: "held", ...ticket }));
    const former = keys.lock("a", FORMER);
    if (ticket !== undefined) put(etcd, former, value);
    const attempts = new CallAttempts(CALL, 2, ports.clock.getWallTime() - waited);
    const request = createRequest({ locks: ["a"], waitLimits });
    const acquired = await claimWithRetries({ ...ports, attempts }, request, NEVER);
    return { acquired, isLeft: etcd.range({ key: former }).kvs.length > 0 };
  }

  test.each([{ queues: false }, { queues: true, lock: 0 }])(
    "an earlier one does not stop a later one: %j",
    async (limits) => {
      const earlier = { call: CALL, attempt: 2 };
      expect(await claim(earlier, limits)).toMatchObject({ acquired: { kind: "granted" }, isLeft: false });
    },
  );

  test.each<[string, object]>([
    ["an equal one", { call: CALL, attempt: 3 }],
    ["a later one", { call: CALL, attempt: 4 }],
    ["one of another call", { call: "0ther0ther0ther0", attempt: 1 }],
    ["a run without a call", {}],
  ])("%s does", async (_, ticket) => {
    expect(await claim(ticket)).toMatchObject({ acquired: { kind: "refused" }, isLeft: true });
  });

  test("share one wait", async () => {
    const { acquired } = await claim({}, { queues: true, lock: 60_000 }, 60_000);
    expect(acquired).toMatchObject({ kind: "refused", refusal: { kind: "timeout" } });
  });

  test("are numbered after those of other processes, in the ticket", async () => {
    const { acquired } = await claim(undefined);
    const ticket = { call: CALL, attempt: 3 };
    expect(acquired).toMatchObject({ kind: "granted", grant: { entries: [{ ticket }] } });
  });
});
