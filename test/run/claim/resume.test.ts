import { describe, expect, test } from "vitest";
import { serializeTicket } from "../../../src/protocol/ticket.ts";
import { claimWithRetries, createOwnSessions, resumeGrant } from "../../../src/run/claim.ts";
import { CallAttempts } from "../../../src/run/request.ts";
import { keys, ticketWith } from "../../protocol/samples.ts";
import { createPorts, createRequest, DB_KEY, LOCK_KEY, REQUESTS, RUN } from "./situations.ts";

const NEVER = new AbortController().signal;

/** An etcd with tickets of the run on a session that can be resumed. */
async function setUp(tickets: Record<string, "held" | "waiting" | "grace">, isSessionGone = false) {
  const ports = createPorts();
  const own = createOwnSessions(ports);
  const opened = await own.open({ run: RUN, ttl: 30 }, 1_000, NEVER);
  const { session } = opened;
  for (const [key, state] of Object.entries(tickets)) {
    const value = serializeTicket(ticketWith({ run: RUN, state, grantedAt: 5 }));
    ports.store.etcd.apply({
      compare: [],
      success: [{ op: "put", key, value, session: session.id }],
      failure: [],
    });
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

  /** Claims lock a while a ticket stands there. */
  async function claimBehind(ticket: Partial<Parameters<typeof ticketWith>[0]>, queues = false) {
    const ports = { ...createPorts(), attempts: new CallAttempts(CALL, 2) };
    const value = serializeTicket(ticketWith({ run: FORMER, state: "held", ...ticket }));
    const former = keys.lock("a", FORMER);
    ports.store.etcd.apply({ compare: [], success: [{ op: "put", key: former, value }], failure: [] });
    const request = createRequest({ locks: ["a"], waitLimits: queues ? { queues, lock: 0 } : { queues } });
    const acquired = await claimWithRetries(ports, request, NEVER);
    const isLeft = ports.store.etcd.range({ key: former }).kvs.length > 0;
    return [acquired.kind, isLeft];
  }

  test.each([
    [false, "without waiting"],
    [true, "with waiting"],
  ])("an earlier one does not stop a later one (queue: %s)", async (queues) => {
    expect(await claimBehind({ call: CALL, attempt: 2 }, queues)).toEqual(["granted", false]);
  });

  test.each<[string, object]>([
    ["an equal one", { call: CALL, attempt: 3 }],
    ["a later one", { call: CALL, attempt: 4 }],
    ["one of another call", { call: "0ther0ther0ther0", attempt: 1 }],
    ["a run without a call", {}],
  ])("%s does", async (_, ticket) => {
    expect(await claimBehind(ticket)).toEqual(["refused", true]);
  });

  test("share one wait", async () => {
    const ports = createPorts();
    const value = serializeTicket(ticketWith({ run: FORMER, state: "held" }));
    const key = keys.lock("a", FORMER);
    ports.store.etcd.apply({ compare: [], success: [{ op: "put", key, value }], failure: [] });
    const attempts = new CallAttempts(CALL, 2, ports.clock.getWallTime() - 60_000);
    const request = createRequest({ locks: ["a"], waitLimits: { queues: true, lock: 60_000 } });
    const acquired = await claimWithRetries({ ...ports, attempts }, request, NEVER); // its clock stands still
    expect(acquired).toMatchObject({ kind: "refused", refusal: { kind: "timeout" } });
  });

  test("are numbered after those of other processes, in the ticket", async () => {
    const ports = { ...createPorts(), attempts: new CallAttempts(CALL, 2) };
    const acquired = await claimWithRetries(ports, REQUESTS.lock, NEVER);
    expect(acquired.kind === "granted" && acquired.grant.entries[0]?.ticket).toMatchObject({
      call: CALL,
      attempt: 3,
    });
  });
});
