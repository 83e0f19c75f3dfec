import { describe, expect, test } from "vitest";
import { write } from "../../../fixtures/etcd/store-calls.ts";
import { put } from "../../../fixtures/protocol/claim-fixture.ts";
import { keys } from "../../../fixtures/protocol/samples.ts";
import type { SharedSessions } from "../../../src/agent/shared-sessions.ts";
import { addMs, type MonotonicTime, subtractTime, toMonotonicTime } from "../../../src/core/base/clock.ts";
import { SessionLost } from "../../../src/core/etcd/session/session.ts";
import { StoreError } from "../../../src/core/etcd/store.ts";
import type { Op } from "../../../src/core/protocol/txn.ts";
import type { OpenedSession } from "../../../src/core/run/request.ts";
import { AgentHost, ClaimOwner, HOST, NEVER, TTL } from "./shared-fixture.ts";

const open = (agent: SharedSessions, run: string, ttl = TTL) =>
  agent.open({ run, ttl }, toMonotonicTime(1_000), NEVER);
const resume = (agent: SharedSessions, run: string, { session }: OpenedSession) =>
  agent.resume({ run, ttl: TTL, session: session.id }, toMonotonicTime(1_000_000), NEVER);
const getLoss = ({ session }: OpenedSession) => (session.signal.reason as SessionLost | undefined)?.kind;

const A = "aaaaaaaaaaaaaaaa";
const B = "bbbbbbbbbbbbbbbb";
const C = "cccccccccccccccc";

/** An agent with one run. */
async function startOne() {
  const host = new AgentHost();
  const agent = host.startAgent();
  return { host, agent, a: await open(agent, A) };
}

async function startPair() {
  const one = await startOne();
  return { ...one, b: await open(one.agent, B) };
}

function own(host: AgentHost, { session }: OpenedSession) {
  const owner = new ClaimOwner(host);
  session.keepAlive(owner);
  return owner;
}

const failToAnswer = async () => {
  throw new StoreError("unavailable", "no answer");
};

describe("runs of one agent", () => {
  test("share one session for each time to live", async () => {
    const agent = new AgentHost().startAgent();
    const [a, b, other] = await Promise.all([open(agent, A), open(agent, B), open(agent, C, 60)]);
    expect(a.session.id).toBe(b.session.id);
    expect(other.session.id).not.toBe(a.session.id);
  });

  test("wait for a session that another run opens without a limit only as long as they may", async () => {
    const host = new AgentHost();
    const agent = host.startAgent();
    host.store.grant = failToAnswer;
    void agent.open({ run: A, ttl: TTL }, toMonotonicTime(Number.POSITIVE_INFINITY), NEVER);
    let end: unknown;
    void open(agent, B).catch((error) => {
      end = error;
    });
    await host.clock.advance(2_500);
    expect(end).toMatchObject({ kind: "unavailable" });
  });

  test("get another session when that one was lost", async () => {
    const { host, agent, a } = await startOne();
    host.store.etcd.revoke(a.session.id);
    await host.clock.advance(6_000);
    expect(getLoss(a)).toBe("expired");
    expect((await open(agent, B)).session.id).not.toBe(a.session.id);
  });

  test("leave without ending the session of the others", async () => {
    const { host, a, b } = await startPair();
    const [left, other] = [await host.putTicket(a, A), await host.putTicket(b, B)];
    await a.session.end(addMs(host.clock.now(), 1_000), [left]);
    expect([host.has(left), host.has(other)]).toEqual([false, true]);
  });

  test("leave a ticket in grace, which is on another session", async () => {
    const { host, a } = await startOne();
    const key = await host.putTicket(a, A);
    host.store.etcd.grant(77n, 60);
    put(host.store.etcd, key, "{}", 77n);
    await a.session.end(addMs(host.clock.now(), 1_000), [key]);
    expect(host.has(key)).toBe(true);
  });
});

describe("the horizon of a run", () => {
  test("moves with each renewal that its own proof follows", async () => {
    const { host, a } = await startOne();
    const { session } = a;
    const owner = own(host, a);
    const before = session.horizon;
    await host.clock.advance(5_000);
    expect([subtractTime(session.horizon, before), owner.moves]).toEqual([5_000, 1]);
  });

  test.each(["silent", "gone"] as const)(
    "does not move while its claim is %s, but that of others does",
    async (state) => {
      const { host, a, b } = await startPair();
      const [owner] = [own(host, a), own(host, b)];
      owner.state = state;
      const before = a.session.horizon;
      await host.clock.advance(5_000);
      expect([subtractTime(a.session.horizon, before), subtractTime(b.session.horizon, before)]).toEqual([
        0, 5_000,
      ]);
      expect(getLoss(a)).toBe(state === "gone" ? "unfounded" : undefined);
      expect(getLoss(b)).toBeUndefined();
    },
  );

  test("moves with its own proof: one that is late delays no other, and moves its run to the renewal before it", async () => {
    const { host, a, b } = await startPair();
    const [late] = [own(host, a), own(host, b)];
    late.state = "late";
    const before = a.session.horizon;
    await host.clock.advance(5_000);
    late.state = "silent";
    await host.clock.advance(5_000);
    expect([subtractTime(a.session.horizon, before), subtractTime(b.session.horizon, before)]).toEqual([
      0, 10_000,
    ]);
    late.answer.resolve();
    await host.clock.advance(1);
    expect([subtractTime(a.session.horizon, before), late.moves]).toEqual([5_000, 1]);
  });

  test("does not move by a proof from before the machine may have been paused", async () => {
    const { host, a } = await startOne();
    const { session } = a;
    const owner = own(host, a);
    owner.state = "late";
    const before = session.horizon;
    await host.clock.advance(5_000);
    host.store.etcd.revoke(session.id); // no renewal can prove it
    host.store.renew = failToAnswer;
    host.clock.ahead = 3_000;
    await host.clock.advance(20_000); // the horizon of the session has moved back
    owner.answer.resolve();
    await host.clock.advance(1);
    expect(session.horizon).toBe(before);
  });

  test("does not move without an owner that proves it", async () => {
    const { host, a } = await startOne();
    const { session } = a;
    const before = session.horizon;
    await host.clock.advance(10_000);
    expect(session.horizon).toBe(before);
  });

  test("wakes who waits for it at the instant of the run, not of the session", async () => {
    const { host, a } = await startOne();
    const { session } = a;
    let wokenAt: MonotonicTime | undefined;
    void session.waitUntilHorizonNear(10_000, NEVER).then(() => {
      wokenAt = host.clock.now();
    });
    await host.clock.advance(40_000);
    expect(wokenAt).toBe(19_000);
  });

  test("moves back when the machine may have been paused", async () => {
    const { host, a } = await startOne();
    const { session } = a;
    own(host, a);
    host.store.etcd.revoke(session.id); // no renewal can prove it
    const before = session.horizon;
    host.clock.ahead = 20_000;
    await host.clock.advance(1_000);
    expect(session.signal.aborted || session.horizon < before).toBe(true);
  });
});

describe("a takeover", () => {
  async function setUp() {
    const { host, agent: former, a } = await startOne();
    const key = await host.putTicket(a, A);
    former.close();
    return { host, a, key, next: host.startAgent() };
  }

  test("gives the run its session, with a horizon from a renewal of its own", async () => {
    const { host, a, next } = await setUp();
    await host.clock.advance(10_000);
    const resumed = await resume(next, A, a);
    expect(resumed?.session.id).toBe(a.session.id);
    expect(resumed?.session.horizon).toBe(addMs(host.clock.now(), 29_000));
  });

  test("makes every later transaction of the former agent fail", async () => {
    const { host, a, key, next } = await setUp();
    await resume(next, A, a);
    await expect(write(a.store, { op: "delete", key })).rejects.toMatchObject({ kind: "moved" });
    expect([host.has(key), getLoss(a)]).toEqual([true, "moved"]);
  });

  test("lets the former agent write history, and nothing else", async () => {
    const { a, next } = await setUp();
    await resume(next, A, a);
    const put: Op = { op: "put", key: keys.history("x"), value: "{}" };
    expect(await write(a.store, put)).toMatchObject({ succeeded: true });
  });

  test("is refused for a session that is gone, or has no agent", async () => {
    const { host, a, next } = await setUp();
    host.store.etcd.revoke(a.session.id);
    expect(await resume(next, A, a)).toBeUndefined();
    host.store.etcd.grant(99n, TTL);
    expect(
      await next.resume({ run: A, ttl: TTL, session: 99n }, toMonotonicTime(1_000_000), NEVER),
    ).toBeUndefined();
  });

  test("can follow another one", async () => {
    const { host, a, key, next } = await setUp();
    const second = await resume(next, A, a);
    const third = await resume(host.startAgent(), A, a);
    expect(third?.session.id).toBe(a.session.id);
    const late = write((second as OpenedSession).store, { op: "delete", key });
    await expect(late).rejects.toBeInstanceOf(SessionLost);
    expect(host.has(key)).toBe(true);
  });
});

describe("a ticket without a run", () => {
  test("is removed after a renewal, if the session is the agent's own", async () => {
    const { host, a } = await startOne();
    const key = await host.putTicket(a, "1ate1ate1ate1ate");
    await host.clock.advance(6_000);
    expect([host.has(key), host.killed]).toEqual([false, []]);
  });

  async function setUpTakenOver() {
    const { host, agent: former, a, b } = await startPair();
    const [kept, other] = [await host.putTicket(a, A), await host.putTicket(b, B)];
    former.close();
    const next = host.startAgent();
    const resumed = await resume(next, A, a);
    own(host, resumed as OpenedSession);
    return { host, next, b, kept, other };
  }

  test("stays for a time to live after a takeover: a guardian may report it", async () => {
    const { host, next, b, kept, other } = await setUpTakenOver();
    await host.clock.advance(29_000);
    expect([host.has(kept), host.has(other)]).toEqual([true, true]);
    expect(await resume(next, B, b)).toBeDefined();
    await host.clock.advance(30_000);
    expect([host.has(other), host.killed]).toEqual([true, []]);
  });

  test("is removed after that, when its processes were killed, and its run is never resumed", async () => {
    const { host, next, b, kept, other } = await setUpTakenOver();
    await host.clock.advance(36_000);
    expect([host.has(kept), host.has(other)]).toEqual([true, false]);
    expect(host.killed).toEqual([B]);
    expect(await resume(next, B, b)).toBeUndefined();
  });

  test("stays, and its session is renewed, while its processes cannot be killed", async () => {
    const { host, other } = await setUpTakenOver();
    host.isKillable = false;
    await host.clock.advance(300_000);
    expect(host.has(other)).toBe(true);
    host.isKillable = true;
    await host.clock.advance(6_000);
    expect(host.has(other)).toBe(false);
  });
});

test("a session that no run uses is renewed for some minutes, and then expires", async () => {
  const { host, agent, a } = await startOne();
  const { session } = a;
  session.stopRenewing();
  await host.clock.advance(290_000);
  expect(host.has(keys.agentSession(HOST, session.id))).toBe(true);
  await host.clock.advance(60_000);
  expect(host.has(keys.agentSession(HOST, session.id))).toBe(false);
  expect((await open(agent, B)).session.id).not.toBe(session.id);
});

test("the session that is kept is renewed without runs, and one that was taken over is not", async () => {
  const { host, agent: former, a } = await startOne();
  former.close();
  const agent = host.startAgent();
  await agent.keepOpen(TTL, toMonotonicTime(1_000));
  (await resume(agent, A, a))?.session.stopRenewing();
  await host.clock.advance(600_000);
  const live = agent.listLive().map(({ session }) => session.id);
  expect(live).toEqual([(await open(agent, B)).session.id]);
  expect(live).not.toContain(a.session.id);
});

test("the session that is kept is opened again when it was lost", async () => {
  const host = new AgentHost();
  const agent = host.startAgent();
  await agent.keepOpen(TTL, toMonotonicTime(1_000));
  const [former] = agent.listLive();
  host.store.etcd.revoke(former?.session.id ?? 0n);
  await host.clock.advance(60_000);
  expect(agent.listLive()).toEqual([]);
  await agent.keepOpen(TTL, toMonotonicTime(1_000_000));
  expect(agent.listLive()).toHaveLength(1);
});
