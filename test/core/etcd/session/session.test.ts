import { describe, expect, test } from "vitest";
import { getLossKind, SessionFixture } from "../../../../fixtures/etcd/session-fixture.ts";
import { waitForPending } from "../../../../fixtures/manual-clock.ts";
import { toMonotonicTime } from "../../../../src/core/base/clock.ts";
import { Session, SessionLost } from "../../../../src/core/etcd/session/session.ts";

/** Opens a session while the time passes that its calls need. */
async function openSession(fixture: SessionFixture, ttl: number, within = 60_000) {
  const session = Session.open(fixture.ports, ttl, toMonotonicTime(within));
  session.catch(() => {});
  for (let waited = 0; waited < within; waited += 100) await fixture.clock.advance(100);
  return session;
}

describe("a session's horizon, when it is opened,", () => {
  test.each([
    [5, 4_000],
    [10, 9_000],
    [30, 29_000],
    [50, 49_000],
    [51, 49_980],
    [100, 98_000],
    [600, 588_000],
  ])("with a TTL of %d s lies at %d ms: 1 s or 2 %% earlier, whichever is more", async (ttl, horizon) => {
    const fixture = new SessionFixture();
    const session = await Session.open(fixture.ports, ttl, toMonotonicTime(0));
    expect([session.horizon, session.ttl]).toEqual([horizon, ttl * 1_000]);
  });

  test("is that of the TTL which the server states, not of the one asked for", async () => {
    const fixture = new SessionFixture({ minTtl: 20 });
    const session = await Session.open(fixture.ports, 5, toMonotonicTime(0));
    expect([session.horizon, session.ttl]).toEqual([19_000, 20_000]);
  });

  test("counts from the sending, also if the answer is late", async () => {
    const fixture = new SessionFixture();
    fixture.fates.grant = [fixture.delayAnswer(3_000)];
    expect((await openSession(fixture, 10, 4_000)).horizon).toBe(9_000);
  });

  test("counts from the first sending, when its answer is lost and a second one finds the id taken", async () => {
    const fixture = new SessionFixture();
    fixture.fates.grant = [fixture.loseAnswer(2_000), fixture.loseRequest(1_000)];
    const session = await openSession(fixture, 10, 5_000);
    expect(fixture.sent.grant).toHaveLength(3);
    expect(session.horizon).toBe(9_000);
    expect(fixture.etcd.getDeadline(session.id)).toBe(10_000);
  });

  test("counts from the first sending, also when only a later one was applied", async () => {
    const fixture = new SessionFixture();
    fixture.fates.grant = [fixture.loseRequest(2_000)];
    const session = await openSession(fixture, 10, 5_000);
    expect(session.horizon).toBe(9_000);
    expect(fixture.etcd.getDeadline(session.id)).toBeGreaterThan(12_000);
  });

  test("is passed at once, if the answer came too late", async () => {
    const fixture = new SessionFixture();
    fixture.fates.grant = [fixture.delayAnswer(9_000)];
    expect(getLossKind(await openSession(fixture, 10, 9_500))).toBe("horizon");
  });
});

describe("opening a session", () => {
  test("is tried until its time is up", async () => {
    const fixture = new SessionFixture();
    fixture.always.grant = fixture.loseRequest(100);
    await expect(openSession(fixture, 10, 2_000)).rejects.toMatchObject({ kind: "unavailable" });
    expect(fixture.sent.grant.length).toBeGreaterThan(2);
    expect(fixture.sent.grant.at(-1)).toBeLessThan(2_000);
  });

  test.each(["permission", "unauthenticated", "noSpace", "invalid"] as const)(
    "is not tried again when etcd says %s",
    async (kind) => {
      const fixture = new SessionFixture();
      fixture.always.grant = fixture.refuse(kind);
      await expect(Session.open(fixture.ports, 10, toMonotonicTime(5_000))).rejects.toMatchObject({ kind });
      expect(fixture.sent.grant).toHaveLength(1);
    },
  );

  test("ends with the signal's reason", async () => {
    const fixture = new SessionFixture();
    fixture.always.grant = fixture.loseRequest();
    const stop = new AbortController();
    const session = Session.open(fixture.ports, 10, toMonotonicTime(5_000), stop.signal);
    const ended = expect(session).rejects.toThrow("enough");
    await fixture.clock.advance(100);
    stop.abort(new Error("enough"));
    await ended;
    expect(fixture.clock.pending).toBe(0);
  });
});

describe("a session that is not renewed", () => {
  async function openUnkept() {
    const fixture = new SessionFixture();
    return { fixture, session: await Session.open(fixture.ports, 10, toMonotonicTime(0)) };
  }

  test("is lost at its horizon, and not a moment before", async () => {
    const { fixture, session } = await openUnkept();
    await fixture.clock.advance(8_999);
    expect(getLossKind(session)).toBeUndefined();
    await fixture.clock.advance(1);
    expect(getLossKind(session)).toBe("horizon");
    expect(session.signal.reason).toBeInstanceOf(SessionLost);
    expect(fixture.clock.pending).toBe(0);
  });

  test("is lost for the first reason that is given", async () => {
    const { fixture, session } = await openUnkept();
    session.lose(new SessionLost("unfounded", "first"));
    session.lose(new SessionLost("expired", "second"));
    await fixture.clock.advance(20_000);
    expect(session.signal.reason).toMatchObject({ kind: "unfounded", message: "first" });
    expect(fixture.clock.pending).toBe(0);
  });

  test("that rests has no timers and is never lost", async () => {
    const { fixture, session } = await openUnkept();
    session.stopRenewing();
    await waitForPending();
    expect(fixture.clock.pending).toBe(0);
    await fixture.clock.advance(60_000);
    expect(getLossKind(session)).toBeUndefined();
  });
});

describe("revoking a session", () => {
  test("ends it with its tickets, and its renewals", async () => {
    const { fixture, session } = await SessionFixture.open(10);
    await session.end(toMonotonicTime(0));
    await fixture.clock.advance(30_000);
    expect(fixture.etcd.getDeadline(session.id)).toBeUndefined();
    expect(fixture.etcd.range({ key: "a", rangeEnd: "\0" }).count).toBe(0);
    expect([fixture.sent.renew, fixture.sent.revoke, fixture.clock.pending]).toEqual([[], [0], 0]);
    expect(getLossKind(session)).toBeUndefined();
  });

  test("is tried until its time is up", async () => {
    const { fixture, session } = await SessionFixture.open(10);
    fixture.fates.revoke = [fixture.loseRequest(100), fixture.loseAnswer(100)];
    const revoked = session.end(toMonotonicTime(1_000));
    await fixture.clock.advance(1_000);
    await expect(revoked).resolves.toBeUndefined();
    fixture.always.revoke = fixture.loseRequest();
    const refused = expect(session.end(toMonotonicTime(2_000))).rejects.toMatchObject({
      kind: "unavailable",
    });
    await fixture.clock.advance(2_000);
    await refused;
    expect(fixture.sent.revoke.at(-1)).toBeLessThan(2_000);
  });
});
