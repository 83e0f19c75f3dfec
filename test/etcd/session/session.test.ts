// Covers src/etcd/session/grant.ts
import { describe, expect, test } from "vitest";
import { Session } from "../../../src/etcd/session/session.ts";
import { SessionLost } from "../../../src/etcd/session/session-lost.ts";
import { settled } from "../manual-clock.ts";
import { Bed, lossOf } from "../session-bed.ts";

/** Opens a session while the time passes that its calls need. */
async function opened(bed: Bed, ttl: number, within = 60_000): Promise<Session> {
  const session = Session.open(bed.ports, ttl, within);
  session.catch(() => {});
  for (let waited = 0; waited < within; waited += 100) await bed.clock.advance(100);
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
    const bed = new Bed();
    const session = await Session.open(bed.ports, ttl, 0);
    expect([session.horizon, session.ttl]).toEqual([horizon, ttl * 1_000]);
  });

  test("is that of the TTL which the server states, not of the one asked for", async () => {
    const bed = new Bed({ minTtl: 20 });
    const session = await Session.open(bed.ports, 5, 0);
    expect([session.horizon, session.ttl]).toEqual([19_000, 20_000]);
  });

  test("counts from the sending, however late the answer", async () => {
    const bed = new Bed();
    bed.fates.grant = [bed.slow(3_000)];
    expect((await opened(bed, 10, 4_000)).horizon).toBe(9_000);
  });

  test("counts from the first sending, when its answer is lost and a second one finds the id taken", async () => {
    const bed = new Bed();
    bed.fates.grant = [bed.lost(2_000), bed.unanswered(1_000)];
    const session = await opened(bed, 10, 5_000);
    expect(bed.sent.grant).toHaveLength(3);
    expect(session.horizon).toBe(9_000);
    expect(bed.etcd.getDeadline(session.id)).toBe(10_000);
  });

  test("counts from the first sending, also when only a later one was applied", async () => {
    const bed = new Bed();
    bed.fates.grant = [bed.unanswered(2_000)];
    const session = await opened(bed, 10, 5_000);
    expect(session.horizon).toBe(9_000);
    expect(bed.etcd.getDeadline(session.id)).toBeGreaterThan(12_000);
  });

  test("is passed at once, if the answer came too late", async () => {
    const bed = new Bed();
    bed.fates.grant = [bed.slow(9_000)];
    expect(lossOf(await opened(bed, 10, 9_500))).toBe("horizon");
  });
});

describe("opening a session", () => {
  test("takes `exists` for success, with the TTL asked for, and needs no second id", async () => {
    const bed = new Bed({ minTtl: 1 });
    bed.fates.grant = [bed.lost(10)];
    const session = await opened(bed, 10, 1_000);
    expect(session.ttl).toBe(10_000);
    expect(lossOf(session)).toBeUndefined();
    await expect(bed.store.renew(session.id)).resolves.toMatchObject({ ttl: 10 });
  });

  test("is tried until its time is up", async () => {
    const bed = new Bed();
    bed.always.grant = bed.unanswered(100);
    await expect(opened(bed, 10, 2_000)).rejects.toMatchObject({ kind: "unavailable" });
    expect(bed.sent.grant.length).toBeGreaterThan(2);
    expect(bed.sent.grant.at(-1)).toBeLessThan(2_000);
  });

  test.each(["permission", "unauthenticated", "noSpace", "invalid"] as const)(
    "is not tried again when etcd says %s",
    async (kind) => {
      const bed = new Bed();
      bed.always.grant = bed.refused(kind);
      await expect(Session.open(bed.ports, 10, 5_000)).rejects.toMatchObject({ kind });
      expect(bed.sent.grant).toHaveLength(1);
    },
  );

  test("ends with the signal's reason", async () => {
    const bed = new Bed();
    bed.always.grant = bed.unanswered();
    const stop = new AbortController();
    const session = Session.open(bed.ports, 10, 5_000, stop.signal);
    const ended = expect(session).rejects.toThrow("enough");
    await bed.clock.advance(100);
    stop.abort(new Error("enough"));
    await ended;
    expect(bed.clock.pending).toBe(0);
  });
});

describe("a session that nobody renews", () => {
  test("is lost at its horizon, and not a moment before", async () => {
    const bed = new Bed();
    const session = await Session.open(bed.ports, 10, 0);
    await bed.clock.advance(8_999);
    expect(lossOf(session)).toBeUndefined();
    await bed.clock.advance(1);
    expect(lossOf(session)).toBe("horizon");
    expect(session.signal.reason).toBeInstanceOf(SessionLost);
    expect(bed.clock.pending).toBe(0);
  });

  test("is lost for the first reason that is given", async () => {
    const bed = new Bed();
    const session = await Session.open(bed.ports, 10, 0);
    session.lose(new SessionLost("unfounded", "first"));
    session.lose(new SessionLost("expired", "second"));
    await bed.clock.advance(20_000);
    expect(session.signal.reason).toMatchObject({ kind: "unfounded", message: "first" });
    expect(bed.clock.pending).toBe(0);
  });

  test("that rests has no timers and is never lost", async () => {
    const bed = new Bed();
    const session = await Session.open(bed.ports, 10, 0);
    session.stopRenewing();
    await settled();
    expect(bed.clock.pending).toBe(0);
    await bed.clock.advance(60_000);
    expect(lossOf(session)).toBeUndefined();
  });
});

describe("revoking a session", () => {
  test("ends it with its tickets, and its renewals", async () => {
    const bed = new Bed();
    const session = await bed.kept(10);
    await session.revoke(0);
    await bed.clock.advance(30_000);
    expect(bed.etcd.getDeadline(session.id)).toBeUndefined();
    expect(bed.etcd.range({ key: "a", rangeEnd: "\0" }).count).toBe(0);
    expect([bed.sent.renew, bed.sent.revoke, bed.clock.pending]).toEqual([[], [0], 0]);
    expect(lossOf(session)).toBeUndefined();
  });

  test("is tried until its time is up", async () => {
    const bed = new Bed();
    const session = await bed.kept(10);
    bed.fates.revoke = [bed.unanswered(100), bed.lost(100)];
    const revoked = session.revoke(1_000);
    await bed.clock.advance(1_000);
    await expect(revoked).resolves.toBeUndefined();
    bed.always.revoke = bed.unanswered();
    const refused = expect(session.revoke(2_000)).rejects.toMatchObject({ kind: "unavailable" });
    await bed.clock.advance(2_000);
    await refused;
    expect(bed.sent.revoke.at(-1)).toBeLessThan(2_000);
  });
});
