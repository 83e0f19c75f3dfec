import { describe, expect, test, vi } from "vitest";
import {
  type Fate,
  failOnUnhandledRejections,
  getLossKind,
  SessionFixture,
} from "../../../fixtures/etcd/session-fixture.ts";

failOnUnhandledRejections();

/** TTL 12 s: renewals every 2 s, the horizon 11 s after the sending. */
const openSession = () => SessionFixture.open(12);

describe("a session is lost", () => {
  test("at its horizon when etcd has gone, and nothing is sent any more", async () => {
    const { fixture, session } = await openSession();
    await fixture.clock.advance(4_000);
    fixture.cutOff();
    await fixture.clock.advance(10_999);
    expect(getLossKind(session)).toBeUndefined();
    await fixture.clock.advance(1);
    expect(getLossKind(session)).toBe("horizon");
    const sent = fixture.sent.renew.length;
    await fixture.clock.advance(60_000);
    expect([fixture.sent.renew.length, fixture.clock.pending]).toEqual([sent, 0]);
  });

  test("as unfounded, when it is renewed but its ticket is gone", async () => {
    const { fixture, session } = await openSession();
    await fixture.clock.advance(3_000);
    fixture.removeTicket();
    await fixture.clock.advance(1_000);
    expect(session.signal.reason).toMatchObject({ kind: "unfounded", message: "the ticket is gone" });
    expect([session.horizon, fixture.extended]).toEqual([13_000, [13_000]]);
  });

  test("as expired, when the server knows neither session nor ticket", async () => {
    const { fixture, session } = await openSession();
    fixture.etcd.revoke(session.id);
    await fixture.clock.advance(2_000);
    expect(getLossKind(session)).toBe("expired");
    expect(fixture.clock.pending).toBe(0);
  });

  test("not yet, when a server knows the session no more but the ticket is there: that server may be behind", async () => {
    const { fixture, session } = await openSession();
    fixture.fates.renew = Array.from({ length: 5 }, () => fixture.refuse("noSession"));
    await fixture.clock.advance(2_000);
    expect([getLossKind(session), session.horizon]).toEqual([undefined, 11_000]);
    await fixture.clock.advance(100);
    expect(fixture.sent.renew).toEqual([2_000, 2_000, 2_000, 2_100, 2_100, 2_100]);
    expect(fixture.extended).toEqual([13_100]);
  });

  test("though the answer is there, when the machine wakes after the horizon", async () => {
    const { fixture, session } = await openSession();
    const suspend: Fate = async (call) => {
      const answer = await call();
      fixture.skipped = 9_000; // suspended from 2 s to 11 s: answers come first, timers later
      return answer;
    };
    fixture.fates.renew = [suspend];
    await fixture.clock.advance(2_000);
    expect([getLossKind(session), fixture.extended, session.horizon]).toEqual(["horizon", [], 11_000]);
  });

  test("at its horizon, while a renewal hangs, and its late answer changes nothing", async () => {
    const { fixture, session } = await openSession();
    fixture.fates.renew = [fixture.delayAnswer(30_000)];
    await fixture.clock.advance(11_000);
    expect(getLossKind(session)).toBe("horizon");
    await fixture.clock.advance(60_000);
    expect([session.horizon, fixture.extended, fixture.sent.renew]).toEqual([11_000, [], [2_000]]);
  });
});

describe("a keeper", () => {
  test("takes the place of an earlier one, and renewals go on as they were", async () => {
    const { fixture, session } = await openSession();
    await fixture.clock.advance(3_000);
    const prove = vi.fn(async () => ({ raftTerm: fixture.etcd.raftTerm, fault: undefined }));
    const onHorizonMoved = vi.fn();
    session.keepAlive({ prove, onHorizonMoved });
    await fixture.clock.advance(5_000);
    expect(fixture.sent.renew).toEqual([2_000, 4_000, 6_000, 8_000]);
    expect([fixture.sent.prove, fixture.extended]).toEqual([[2_000], [13_000]]);
    for (const called of [prove, onHorizonMoved]) expect(called).toHaveBeenCalledTimes(3);
  });

  test("who throws does not end the renewals", async () => {
    const { fixture, session } = await openSession();
    let told = 0;
    session.keepAlive({
      prove: () => (told === 0 ? Promise.reject(new Error("no")) : fixture.createKeeper(session).prove()),
      onHorizonMoved: () => {
        told += 1;
        throw new Error("never mind");
      },
    });
    told = 1;
    await fixture.clock.advance(30_000);
    expect(getLossKind(session)).toBeUndefined();
    expect(told).toBeGreaterThan(10);
  });

  test("of a session that rests or is lost is asked nothing, and no timer is left", async () => {
    for (const end of ["rest", "lose"] as const) {
      const { fixture, session } = await openSession();
      await fixture.clock.advance(3_000);
      if (end === "rest") session.stopRenewing();
      else fixture.etcd.revoke(session.id);
      await fixture.clock.advance(1_000);
      const sent = fixture.sent.renew.length;
      session.keepAlive(fixture.createKeeper(session));
      await fixture.clock.advance(60_000);
      expect([fixture.sent.renew.length, fixture.clock.pending]).toEqual([sent, 0]);
    }
  });

  test.each(["renew", "prove"] as const)(
    "is not told, and nothing is lost, when the session rests during %s",
    async (name) => {
      const { fixture, session } = await openSession();
      fixture.fates[name] = [fixture.delayAnswer(500)];
      await fixture.clock.advance(2_100);
      session.stopRenewing();
      fixture.removeTicket();
      await fixture.clock.advance(60_000);
      expect([getLossKind(session), session.horizon]).toEqual([undefined, 11_000]);
      expect([fixture.extended, fixture.sent.renew]).toEqual([[], [2_000]]);
    },
  );
});
