/** A machine that was paused by its hypervisor: its clocks were stopped, and only a jump of the wall clock shows it. */

import { describe, expect, test } from "vitest";
import {
  failOnUnhandledRejections,
  getLossKind,
  SessionFixture,
} from "../../../fixtures/etcd/session-fixture.ts";
import type { MonotonicTime } from "../../../src/core/base/clock.ts";

failOnUnhandledRejections();

const HOUR = 3_600_000;

/** TTL 60 s: renewals every 10 s, the horizon 58.8 s after the sending. Now is 500 ms after the first renewal. */
async function openSession() {
  const opened = await SessionFixture.open(60);
  const { fixture, session } = opened;
  await fixture.clock.advance(10_500);
  expect([fixture.sent.renew, session.horizon]).toEqual([[10_000], 68_800]);
  return opened;
}

describe("when the wall clock jumps forward", () => {
  test.each([1_500, 30_000, HOUR, 365 * 24 * HOUR])(
    "by %d ms because somebody set it, the session is renewed at once, and goes on",
    async (jump) => {
      const { fixture, session } = await openSession();
      fixture.clock.ahead = jump;
      await fixture.clock.advance(1_000);
      expect([session.horizon, session.isDoubted]).toEqual([69_800, false]);
      expect(fixture.sent.renew).toEqual([10_000, 11_000]);
      await fixture.clock.advance(10 * 60_000);
      expect(getLossKind(session)).toBeUndefined();
      expect(fixture.sent.renew.length).toBe(62);
    },
  );

  test("a little, as time services do it, or back, nothing happens", async () => {
    const { fixture, session } = await openSession();
    for (const ahead of [900, -HOUR]) {
      fixture.clock.ahead = ahead;
      await fixture.clock.advance(1_000);
    }
    expect(fixture.sent.renew).toEqual([10_000]);
    fixture.clock.ahead = 0; // forward, from where it was set back to
    await fixture.clock.advance(1_000);
    expect([fixture.sent.renew, session.horizon]).toEqual([[10_000, 13_000], 71_800]);
  });

  test("after a pause in which the session expired, it is lost at once", async () => {
    const { fixture, session } = await openSession();
    fixture.pauseMachine(61_000);
    await fixture.clock.advance(100);
    expect(getLossKind(session), "nothing tells yet").toBeUndefined();
    fixture.clock.ahead = 61_000;
    await fixture.clock.advance(900);
    expect([getLossKind(session), fixture.sent.renew]).toEqual(["expired", [10_000, 11_000]]);
  });

  test.each([20_000, 58_000])(
    "after a pause of %d ms that the session outlived, it goes on",
    async (pause) => {
      const { fixture, session } = await openSession();
      fixture.pauseMachine(pause);
      fixture.clock.ahead = pause;
      await fixture.clock.advance(1_000);
      expect([getLossKind(session), session.horizon]).toEqual([undefined, 69_800]);
    },
  );
});

describe("when the wall clock jumps forward while etcd does not answer", () => {
  test("by more than is left, the session is lost 5 s later: it may have expired", async () => {
    const { fixture, session } = await openSession();
    fixture.cutOff();
    fixture.clock.ahead = 61_000;
    await fixture.clock.advance(5_499);
    expect([getLossKind(session), session.isDoubted, fixture.extended.length]).toEqual([undefined, true, 1]);
    await fixture.clock.advance(1);
    expect(session.signal.reason).toMatchObject({
      kind: "horizon",
      message: "the session could not be renewed after a pause of the machine, 1m1s by the wall clock",
    });
    await fixture.clock.advance(60_000);
    expect(fixture.clock.pending).toBe(0);
  });

  test("by less, the horizon moves back by it, and forward again with the next renewal", async () => {
    const { fixture, session } = await openSession();
    fixture.cutOff();
    fixture.clock.ahead = 20_000;
    await fixture.clock.advance(5_500);
    expect([session.horizon, fixture.extended.at(-1)]).toEqual([48_800, 48_800]);
    expect(getLossKind(session)).toBeUndefined();
    fixture.always = {};
    await fixture.clock.advance(500);
    const last = fixture.sent.renew.at(-1) ?? 0;
    expect([session.horizon, fixture.extended.at(-1)]).toEqual([last + 58_800, last + 58_800]);
    expect(session.isDoubted).toBe(false);
  });

  test("twice, both jumps count", async () => {
    const { fixture, session } = await openSession();
    fixture.cutOff();
    fixture.clock.ahead = 20_000;
    await fixture.clock.advance(7_000);
    expect(session.horizon).toBe(48_800);
    fixture.clock.ahead = 30_000;
    await fixture.clock.advance(7_000);
    expect(session.horizon).toBe(38_800);
  });

  test("whoever waits for the horizon is woken when it moves back", async () => {
    const { fixture, session } = await openSession();
    let nearAt: MonotonicTime | undefined;
    const over = new AbortController();
    void session.waitUntilHorizonNear(10_000, over.signal).then(() => {
      nearAt = fixture.clock.now();
    });
    fixture.cutOff();
    fixture.clock.ahead = 40_000; // the horizon is at 28.8 s then
    await fixture.clock.advance(8_299);
    expect(nearAt).toBeUndefined();
    await fixture.clock.advance(1);
    expect(nearAt).toBe(18_800);
  });
});

describe("a renewal that is under way when the machine is paused", () => {
  test.each(["renew", "prove"] as const)(
    "counts for nothing, when its %s is answered after the jump",
    async (name) => {
      const { fixture, session } = await openSession();
      fixture.fates[name] = [fixture.delayAnswer(5_000)];
      await fixture.clock.advance(9_600); // the second renewal has been sent, at 20 s
      fixture.clock.ahead = 30_000;
      await fixture.clock.advance(900);
      expect(fixture.sent.renew).toEqual([10_000, 20_000, 21_000]);
      expect([session.horizon, fixture.extended]).toEqual([79_800, [68_800, 79_800]]);
      await fixture.clock.advance(8_000);
      expect(fixture.extended, "the late answer of the first").toEqual([68_800, 79_800]);
    },
  );

  test("counts for nothing, though its answer comes before the jump is looked for", async () => {
    const { fixture, session } = await openSession();
    fixture.fates.renew = [fixture.delayAnswer(300)];
    await fixture.clock.advance(9_600);
    fixture.clock.ahead = 30_000;
    await fixture.clock.advance(200);
    expect(fixture.sent.renew).toEqual([10_000, 20_000, 20_300]);
    expect(session.horizon).toBe(79_100);
  });
});
