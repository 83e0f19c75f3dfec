// Covers src/etcd/session/horizon.ts
/** A machine that was paused by its hypervisor: its clocks stood still, and only a jump of the wall clock tells. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Session } from "../../src/etcd/session/session.ts";
import { settled } from "./manual-clock.ts";
import { Bed, lossOf } from "./session-bed.ts";

const unhandled: unknown[] = [];
const keep = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => void process.on("unhandledRejection", keep));
afterEach(async () => {
  await settled();
  process.off("unhandledRejection", keep);
  expect(unhandled.splice(0)).toEqual([]);
});

const HOUR = 3_600_000;

/** TTL 60 s: renewals every 10 s, the horizon 58.8 s after the sending. Now is 500 ms after the first renewal. */
async function room(): Promise<{ bed: Bed; session: Session }> {
  const bed = new Bed();
  const session = await bed.kept(60);
  await bed.clock.advance(10_500);
  expect([bed.sent.renew, session.horizon]).toEqual([[10_000], 68_800]);
  return { bed, session };
}

describe("when the wall clock jumps forward", () => {
  test.each([1_500, 30_000, HOUR, 365 * 24 * HOUR])(
    "by %d ms because somebody set it, the session is renewed at once, and goes on",
    async (jump) => {
      const { bed, session } = await room();
      bed.clock.ahead = jump;
      await bed.clock.advance(1_000);
      expect([bed.sent.renew, session.horizon, session.isDoubted]).toEqual([[10_000, 11_000], 69_800, false]);
      await bed.clock.advance(10 * 60_000);
      expect(lossOf(session)).toBeUndefined();
      expect(bed.sent.renew.length).toBe(62);
    },
  );

  test("a little, as time services do it, or back, nothing happens", async () => {
    const { bed, session } = await room();
    for (const ahead of [900, -HOUR]) {
      bed.clock.ahead = ahead;
      await bed.clock.advance(1_000);
    }
    expect(bed.sent.renew).toEqual([10_000]);
    bed.clock.ahead = 0; // forward, from where it was set back to
    await bed.clock.advance(1_000);
    expect([bed.sent.renew, session.horizon]).toEqual([[10_000, 13_000], 71_800]);
  });

  test("after a pause in which the session expired, it is lost at once", async () => {
    const { bed, session } = await room();
    bed.pauseMachine(61_000);
    await bed.clock.advance(100);
    expect(lossOf(session), "nothing tells yet").toBeUndefined();
    bed.clock.ahead = 61_000;
    await bed.clock.advance(900);
    expect([lossOf(session), bed.sent.renew]).toEqual(["expired", [10_000, 11_000]]);
  });

  test.each([20_000, 58_000])(
    "after a pause of %d ms that the session outlived, it goes on",
    async (pause) => {
      const { bed, session } = await room();
      bed.pauseMachine(pause);
      bed.clock.ahead = pause;
      await bed.clock.advance(1_000);
      expect([lossOf(session), session.horizon]).toEqual([undefined, 69_800]);
    },
  );
});

describe("when the wall clock jumps forward while etcd does not answer", () => {
  test("by more than is left, the session is lost 5 s later: it may have expired", async () => {
    const { bed, session } = await room();
    bed.always = { renew: bed.unanswered(), prove: bed.unanswered() };
    bed.clock.ahead = 61_000;
    await bed.clock.advance(5_499);
    expect([lossOf(session), session.isDoubted, bed.extended.length]).toEqual([undefined, true, 1]);
    await bed.clock.advance(1);
    expect(session.signal.reason).toMatchObject({
      kind: "horizon",
      message: "the session could not be renewed after a pause of the machine, 1m1s by the wall clock",
    });
    await bed.clock.advance(60_000);
    expect(bed.clock.pending).toBe(0);
  });

  test("by less, the horizon moves back by it, and forward again with the next renewal", async () => {
    const { bed, session } = await room();
    bed.always = { renew: bed.unanswered(), prove: bed.unanswered() };
    bed.clock.ahead = 20_000;
    await bed.clock.advance(5_500);
    expect([session.horizon, bed.extended.at(-1), lossOf(session)]).toEqual([48_800, 48_800, undefined]);
    bed.always = {};
    await bed.clock.advance(500);
    const last = bed.sent.renew.at(-1) ?? 0;
    expect([session.horizon, bed.extended.at(-1)]).toEqual([last + 58_800, last + 58_800]);
    expect(session.isDoubted).toBe(false);
  });

  test("twice, both jumps count", async () => {
    const { bed, session } = await room();
    bed.always = { renew: bed.unanswered(), prove: bed.unanswered() };
    bed.clock.ahead = 20_000;
    await bed.clock.advance(7_000);
    expect(session.horizon).toBe(48_800);
    bed.clock.ahead = 30_000;
    await bed.clock.advance(7_000);
    expect(session.horizon).toBe(38_800);
  });

  test("whoever waits for the horizon is woken when it moves back", async () => {
    const { bed, session } = await room();
    let nearAt: number | undefined;
    const over = new AbortController();
    void session.waitUntilHorizonNear(10_000, over.signal).then(() => {
      nearAt = bed.clock.now();
    });
    bed.always = { renew: bed.unanswered(), prove: bed.unanswered() };
    bed.clock.ahead = 40_000; // the horizon is at 28.8 s then
    await bed.clock.advance(8_299);
    expect(nearAt).toBeUndefined();
    await bed.clock.advance(1);
    expect(nearAt).toBe(18_800);
  });
});

describe("a renewal that is under way when the machine is paused", () => {
  test.each(["renew", "prove"] as const)(
    "counts for nothing, when its %s is answered after the jump",
    async (name) => {
      const { bed, session } = await room();
      bed.fates[name] = [bed.slow(5_000)];
      await bed.clock.advance(9_600); // the second renewal has been sent, at 20 s
      bed.clock.ahead = 30_000;
      await bed.clock.advance(900);
      expect(bed.sent.renew).toEqual([10_000, 20_000, 21_000]);
      expect([session.horizon, bed.extended]).toEqual([79_800, [68_800, 79_800]]);
      await bed.clock.advance(8_000);
      expect(bed.extended, "the late answer of the first").toEqual([68_800, 79_800]);
    },
  );

  test("counts for nothing, though its answer comes before the jump is looked for", async () => {
    const { bed, session } = await room();
    bed.fates.renew = [bed.slow(300)];
    await bed.clock.advance(9_600);
    bed.clock.ahead = 30_000;
    await bed.clock.advance(200);
    expect(bed.sent.renew).toEqual([10_000, 20_000, 20_300]);
    expect(session.horizon).toBe(79_100);
  });
});
