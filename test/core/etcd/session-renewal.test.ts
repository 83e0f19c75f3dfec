import { describe, expect, test } from "vitest";
import {
  type Fate,
  failOnUnhandledRejections,
  getLossKind,
  SessionFixture,
} from "../../../fixtures/etcd/session-fixture.ts";

failOnUnhandledRejections();

/** TTL 12 s: renewals every 2 s, the horizon 11 s after the sending. */
const openSession = () => SessionFixture.open(12);

describe("a renewal", () => {
  test("is sent every sixth of the TTL, and each moves the horizon", async () => {
    const { fixture, session } = await openSession();
    await fixture.clock.advance(60_000);
    expect(fixture.sent.renew).toEqual(Array.from({ length: 30 }, (_, i) => 2_000 * (i + 1)));
    expect(fixture.extended).toEqual(fixture.sent.renew.map((sent) => sent + 11_000));
    expect(getLossKind(session)).toBeUndefined();
  });

  test("keeps to the TTL that the server states at the grant, not to a longer one: marks state the first", async () => {
    const fixture = new SessionFixture({ minTtl: 30 });
    const session = await fixture.openSession(5);
    fixture.stated.push(60, 60);
    await fixture.clock.advance(15_000);
    expect(fixture.sent.renew.slice(0, 3)).toEqual([5_000, 10_000, 15_000]);
    expect(fixture.extended.slice(0, 2)).toEqual([5_000 + 29_000, 10_000 + 29_000]);
    expect(session.ttl).toBe(30_000);
  });

  test("counts from its sending, also if it or its proof is answered late", async () => {
    const { fixture, session } = await openSession();
    fixture.fates.renew = [fixture.delayAnswer(800)];
    fixture.fates.prove = [fixture.delayAnswer(700)];
    await fixture.clock.advance(3_499);
    expect(session.horizon).toBe(11_000);
    await fixture.clock.advance(1);
    expect(session.horizon).toBe(2_000 + 11_000);
    expect([fixture.sent.renew, fixture.sent.prove]).toEqual([[2_000], [2_800]]);
  });

  test("never moves the horizon back", async () => {
    const { fixture, session } = await openSession();
    fixture.stated.push(4);
    await fixture.clock.advance(2_000);
    expect([session.ttl, session.horizon]).toEqual([4_000, 11_000]);
  });

  test("whose proof fails counts for nothing, and is soon tried again", async () => {
    const { fixture, session } = await openSession();
    fixture.fates.prove = [fixture.loseRequest(300)];
    await fixture.clock.advance(2_300);
    expect([session.horizon, fixture.extended]).toEqual([11_000, []]);
    await fixture.clock.advance(500);
    expect(fixture.sent.renew).toEqual([2_000, 2_800]);
    expect(session.horizon).toBe(2_800 + 11_000);
  });

  test.each(["permission", "unauthenticated", "invalid"] as const)(
    "refused with `%s` is tried again, until the horizon",
    async (kind) => {
      const { fixture, session } = await openSession();
      fixture.always.renew = fixture.refuse(kind);
      await fixture.clock.advance(10_999);
      expect(getLossKind(session)).toBeUndefined();
      expect(fixture.sent.renew.length).toBeGreaterThan(10);
      expect(fixture.sent.renew.length).toBeLessThan(25);
      await fixture.clock.advance(1);
      expect(getLossKind(session)).toBe("horizon");
    },
  );
});

describe("the raft term of a grant", () => {
  test("is one that was stated before, however quick a transfer of leadership and the answer are", async () => {
    const fixture = new SessionFixture();
    fixture.fates.grant = [
      async (call) => {
        const answer = await call();
        fixture.etcd.electLeader();
        return { ...answer, raftTerm: fixture.etcd.raftTerm };
      },
    ];
    const session = await fixture.openSession(12);
    session.stopRenewing();
    expect(session.grantTerm).toBe(2n);
  });

  test("is one that was stated before the first of several attempts: any of them may be the one that counts", async () => {
    const fixture = new SessionFixture();
    const loseAndElect: Fate = async (call) => {
      await call();
      fixture.etcd.electLeader();
      return fixture.loseRequest()(call);
    };
    fixture.fates.grant = [loseAndElect];
    const opening = fixture.openSession(12);
    await fixture.clock.advance(2_500);
    const session = await opening;
    session.stopRenewing();
    expect([session.grantTerm, fixture.sent.grant.length]).toEqual([2n, 2]);
  });
});

describe("a raft term that changes", () => {
  test.each([
    ["before the renewal", "renew"],
    ["between the renewal and its proof", "prove"],
  ] as const)("%s: it is renewed again at once before it counts", async (_, name) => {
    const { fixture, session } = await openSession();
    fixture.fates[name] = [
      async (call) => {
        expect(fixture.extended).toEqual([]);
        return fixture.electLeaderFirst()(call);
      },
      async (call) => {
        expect([session.horizon, fixture.extended]).toEqual([11_000, []]);
        return call();
      },
    ];
    await fixture.clock.advance(2_000);
    expect(fixture.sent.renew).toEqual([2_000, 2_000]);
    expect(fixture.extended).toEqual([13_000]);
  });

  test("unseen since a grant that was repeated: it is renewed twice before it counts", async () => {
    const fixture = new SessionFixture();
    fixture.fates.grant = [fixture.loseAnswer(0)];
    const opening = fixture.openSession(12);
    await fixture.clock.advance(2_500);
    await opening;
    expect(fixture.sent.renew).toHaveLength(2);
    expect(fixture.extended).toEqual([(fixture.sent.renew[0] ?? 0) + 11_000]);
  });

  test("only in the renewal's answer, which a former leader gave: it is renewed again", async () => {
    const { fixture } = await openSession();
    fixture.terms.push(fixture.etcd.raftTerm - 1n);
    await fixture.clock.advance(2_000);
    expect([fixture.sent.renew, fixture.extended]).toEqual([[2_000, 2_000], [13_000]]);
  });

  test("without end: nothing counts, etcd is not hammered, and the session is lost at its horizon", async () => {
    const { fixture, session } = await openSession();
    fixture.always.prove = fixture.electLeaderFirst();
    await fixture.clock.advance(10_999);
    expect([session.horizon, fixture.extended, getLossKind(session)]).toEqual([11_000, [], undefined]);
    expect(fixture.sent.renew.length).toBeGreaterThan(30);
    expect(fixture.sent.renew.length).toBeLessThanOrEqual(3 * 91);
    await fixture.clock.advance(1);
    expect(getLossKind(session)).toBe("horizon");
  });
});
