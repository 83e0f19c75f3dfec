import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Session } from "../../src/etcd/session/session.ts";
import { waitForPending } from "./manual-clock.ts";
import { lossOf, SessionFixture } from "./session-fixture.ts";

const unhandled: unknown[] = [];
const keep = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => void process.on("unhandledRejection", keep));
afterEach(async () => {
  await waitForPending();
  process.off("unhandledRejection", keep);
  expect(unhandled.splice(0)).toEqual([]);
});

/** TTL 12 s: renewals every 2 s, the horizon 11 s after the sending. */
async function room(): Promise<{ bed: SessionFixture; session: Session }> {
  const bed = new SessionFixture();
  return { bed, session: await bed.openSession(12) };
}

describe("a session is lost", () => {
  test("at its horizon when etcd has gone, and nothing is sent any more", async () => {
    const { bed, session } = await room();
    await bed.clock.advance(4_000);
    bed.always = { renew: bed.unanswered(), prove: bed.unanswered() };
    await bed.clock.advance(10_999);
    expect(lossOf(session)).toBeUndefined();
    await bed.clock.advance(1);
    expect(lossOf(session)).toBe("horizon");
    const sent = bed.sent.renew.length;
    await bed.clock.advance(60_000);
    expect([bed.sent.renew.length, bed.clock.pending]).toEqual([sent, 0]);
  });

  test("as unfounded, when it is renewed but its ticket is gone", async () => {
    const { bed, session } = await room();
    await bed.clock.advance(3_000);
    bed.removeTicket();
    await bed.clock.advance(1_000);
    expect(session.signal.reason).toMatchObject({ kind: "unfounded", message: "the ticket is gone" });
    expect([session.horizon, bed.extended]).toEqual([13_000, [13_000]]);
  });

  test("as expired, when the server knows neither session nor ticket", async () => {
    const { bed, session } = await room();
    bed.etcd.revoke(session.id);
    await bed.clock.advance(2_000);
    expect(lossOf(session)).toBe("expired");
    expect(bed.clock.pending).toBe(0);
  });

  test("not yet, when a server knows the session no more but the ticket is there: that server may be behind", async () => {
    const { bed, session } = await room();
    bed.fates.renew = Array.from({ length: 5 }, () => bed.refused("noSession"));
    await bed.clock.advance(2_000);
    expect([lossOf(session), session.horizon, bed.sent.renew.length]).toEqual([undefined, 11_000, 3]);
    await bed.clock.advance(100);
    expect(bed.sent.renew).toEqual([2_000, 2_000, 2_000, 2_100, 2_100, 2_100]);
    expect(bed.extended).toEqual([13_100]);
  });

  test("though the answer is there, when the machine wakes after the horizon", async () => {
    const { bed, session } = await room();
    bed.fates.renew = [
      async (call) => {
        const answer = await call();
        bed.skipped = 9_000; // suspended from 2 s to 11 s: answers come first, timers later
        return answer;
      },
    ];
    await bed.clock.advance(2_000);
    expect([lossOf(session), bed.extended, session.horizon]).toEqual(["horizon", [], 11_000]);
  });

  test("at its horizon, while a renewal hangs, and its late answer changes nothing", async () => {
    const { bed, session } = await room();
    bed.fates.renew = [bed.slow(30_000)];
    await bed.clock.advance(11_000);
    expect(lossOf(session)).toBe("horizon");
    await bed.clock.advance(60_000);
    expect([session.horizon, bed.extended, bed.sent.renew]).toEqual([11_000, [], [2_000]]);
  });
});

describe("a keeper", () => {
  test("takes the place of an earlier one, and renewals go on as they were", async () => {
    const { bed, session } = await room();
    await bed.clock.advance(3_000);
    const later = { proofs: 0, told: 0 };
    session.keepAlive({
      prove: async () => {
        later.proofs += 1;
        return { raftTerm: bed.etcd.raftTerm, fault: undefined };
      },
      onHorizonMoved: () => {
        later.told += 1;
      },
    });
    await bed.clock.advance(5_000);
    expect(bed.sent.renew).toEqual([2_000, 4_000, 6_000, 8_000]);
    expect([bed.sent.prove, bed.extended, later]).toEqual([[2_000], [13_000], { proofs: 3, told: 3 }]);
  });

  test("who throws does not end the renewals", async () => {
    const { bed, session } = await room();
    let told = 0;
    session.keepAlive({
      prove: () => (told === 0 ? Promise.reject(new Error("no")) : bed.createKeeper(session).prove()),
      onHorizonMoved: () => {
        told += 1;
        throw new Error("never mind");
      },
    });
    told = 1;
    await bed.clock.advance(30_000);
    expect(lossOf(session)).toBeUndefined();
    expect(told).toBeGreaterThan(10);
  });

  test("of a session that rests or is lost is asked nothing, and no timer is left", async () => {
    for (const end of ["rest", "lose"] as const) {
      const { bed, session } = await room();
      await bed.clock.advance(3_000);
      if (end === "rest") session.stopRenewing();
      else bed.etcd.revoke(session.id);
      await bed.clock.advance(1_000);
      const sent = bed.sent.renew.length;
      session.keepAlive(bed.createKeeper(session));
      await bed.clock.advance(60_000);
      expect([bed.sent.renew.length, bed.clock.pending]).toEqual([sent, 0]);
    }
  });

  test.each(["renew", "prove"] as const)(
    "is not told, and nothing is lost, when the session rests during %s",
    async (name) => {
      const { bed, session } = await room();
      bed.fates[name] = [bed.slow(500)];
      await bed.clock.advance(2_100);
      session.stopRenewing();
      bed.removeTicket();
      await bed.clock.advance(60_000);
      expect([lossOf(session), session.horizon, bed.extended, bed.sent.renew]).toEqual([
        undefined,
        11_000,
        [],
        [2_000],
      ]);
    },
  );
});
