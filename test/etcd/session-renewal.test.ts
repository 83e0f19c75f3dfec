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

describe("a renewal", () => {
  test("is sent every sixth of the TTL, and each moves the horizon", async () => {
    const { bed, session } = await room();
    await bed.clock.advance(60_000);
    expect(bed.sent.renew).toEqual(Array.from({ length: 30 }, (_, i) => 2_000 * (i + 1)));
    expect(bed.extended).toEqual(bed.sent.renew.map((sent) => sent + 11_000));
    expect(lossOf(session)).toBeUndefined();
  });

  test("keeps to the TTL that the server states, at the grant and later", async () => {
    const bed = new SessionFixture({ minTtl: 30 });
    const session = await bed.openSession(5);
    bed.stated.push(60, 60);
    await bed.clock.advance(20_000);
    expect(bed.sent.renew.slice(0, 3)).toEqual([5_000, 10_000, 20_000]);
    expect(bed.extended.slice(0, 2)).toEqual([5_000 + 60_000 - 1_200, 10_000 + 60_000 - 1_200]);
    expect(session.ttl).toBe(30_000);
    expect(session.horizon).toBe(10_000 + 60_000 - 1_200);
  });

  test("counts from its sending, however late it or its proof is answered", async () => {
    const { bed, session } = await room();
    bed.fates.renew = [bed.slow(800)];
    bed.fates.prove = [bed.slow(700)];
    await bed.clock.advance(3_499);
    expect(session.horizon).toBe(11_000);
    await bed.clock.advance(1);
    expect(session.horizon).toBe(2_000 + 11_000);
    expect([bed.sent.renew, bed.sent.prove]).toEqual([[2_000], [2_800]]);
  });

  test("never moves the horizon back", async () => {
    const { bed, session } = await room();
    bed.stated.push(4);
    await bed.clock.advance(2_000);
    expect([session.ttl, session.horizon]).toEqual([4_000, 11_000]);
  });

  test("whose proof fails counts for nothing, and is soon tried again", async () => {
    const { bed, session } = await room();
    bed.fates.prove = [bed.unanswered(300)];
    await bed.clock.advance(2_300);
    expect([session.horizon, bed.extended]).toEqual([11_000, []]);
    await bed.clock.advance(500);
    expect(bed.sent.renew).toEqual([2_000, 2_800]);
    expect(session.horizon).toBe(2_800 + 11_000);
  });

  test.each(["permission", "unauthenticated", "invalid"] as const)(
    "refused with `%s` is tried again, until the horizon",
    async (kind) => {
      const { bed, session } = await room();
      bed.always.renew = bed.refused(kind);
      await bed.clock.advance(10_999);
      expect(lossOf(session)).toBeUndefined();
      expect(bed.sent.renew.length).toBeGreaterThan(10);
      expect(bed.sent.renew.length).toBeLessThan(25);
      await bed.clock.advance(1);
      expect(lossOf(session)).toBe("horizon");
    },
  );
});

describe("a raft term that changes", () => {
  test.each([
    ["before the renewal", "renew"],
    ["between the renewal and its proof", "prove"],
  ] as const)("%s: it is renewed again at once before it counts", async (_, name) => {
    const { bed, session } = await room();
    bed.fates[name] = [
      async (call) => {
        expect(bed.extended).toEqual([]);
        return bed.elects()(call);
      },
      async (call) => {
        expect([session.horizon, bed.extended]).toEqual([11_000, []]);
        return call();
      },
    ];
    await bed.clock.advance(2_000);
    expect(bed.sent.renew).toEqual([2_000, 2_000]);
    expect(bed.extended).toEqual([13_000]);
  });

  test("unseen since a grant that was repeated: it is renewed twice before it counts", async () => {
    const bed = new SessionFixture();
    bed.fates.grant = [bed.lost(0)];
    const opening = bed.openSession(12);
    await bed.clock.advance(2_500);
    await opening;
    expect(bed.sent.renew).toHaveLength(2);
    expect(bed.extended).toEqual([(bed.sent.renew[0] ?? 0) + 11_000]);
  });

  test("only in the renewal's answer, which a former leader gave: it is renewed again", async () => {
    const { bed } = await room();
    bed.terms.push(bed.etcd.raftTerm - 1n);
    await bed.clock.advance(2_000);
    expect([bed.sent.renew, bed.extended]).toEqual([[2_000, 2_000], [13_000]]);
  });

  test("without end: nothing counts, etcd is not hammered, and the session is lost at its horizon", async () => {
    const { bed, session } = await room();
    bed.always.prove = bed.elects();
    await bed.clock.advance(10_999);
    expect([session.horizon, bed.extended, lossOf(session)]).toEqual([11_000, [], undefined]);
    expect(bed.sent.renew.length).toBeGreaterThan(30);
    expect(bed.sent.renew.length).toBeLessThanOrEqual(3 * 91);
    await bed.clock.advance(1);
    expect(lossOf(session)).toBe("horizon");
  });
});
