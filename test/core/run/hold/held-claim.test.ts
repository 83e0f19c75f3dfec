/** A claim that is held without a command, with exact times. */

import { describe, expect, test } from "vitest";
import { ManualClock } from "../../../../fixtures/manual-clock.ts";
import { remove } from "../../../../fixtures/protocol/claim-fixture.ts";
import { keys } from "../../../../fixtures/protocol/samples.ts";
import { createPorts, createRequest } from "../../../../fixtures/protocol/situations.ts";
import { addMs, type MonotonicTime, toMonotonicTime } from "../../../../src/core/base/clock.ts";
import { MemoryStore } from "../../../../src/core/etcd/memory/memory-store.ts";
import { StoreError } from "../../../../src/core/etcd/store.ts";
import { parsePastRuns } from "../../../../src/core/protocol/history.ts";
import type { Op, Txn } from "../../../../src/core/protocol/txn.ts";
import { acquireClaim } from "../../../../src/core/run/held-claim.ts";
import type { ClaimRequest } from "../../../../src/core/run/request.ts";

const [TTL, HORIZON, TERMINATION] = [10_000, 9_000, 2_000];

class Line extends MemoryStore {
  isCut = false;
  proposals = 0;

  override async renew(...call: Parameters<MemoryStore["renew"]>) {
    this.#pass();
    return await super.renew(...call);
  }

  override async commitTxn(txn: Txn, signal?: AbortSignal) {
    this.#pass();
    if (txn.success.some(({ op }) => op !== "range")) this.proposals += 1;
    return await super.commitTxn(txn, signal);
  }

  #pass() {
    if (this.isCut) throw new StoreError("unavailable", "cut");
  }
}

/** Acquires a claim. `firedAt`: when its signal fired, ms; undefined: it has not. */
async function createScene(
  more: Partial<ClaimRequest> = {},
  clock = new ManualClock(),
  store = new Line(MemoryStore.create(clock).etcd),
) {
  const times = { ttl: TTL / 1000, terminationTimeout: TERMINATION };
  const request = createRequest({ locks: ["x"], ...times, ...more });
  const held = await acquireClaim(createPorts(clock, store), request, new AbortController().signal);
  let firedAt: MonotonicTime | undefined;
  held.signal.addEventListener("abort", () => {
    firedAt = clock.now();
  });
  return { clock, store, held, firedAt: () => firedAt };
}

describe("a claim without a command", () => {
  test("is renewed, and tells of it, for as long as it is held", async () => {
    const { clock, held, firedAt } = await createScene();
    const horizons: MonotonicTime[] = [];
    const stop = held.onExtended(() => horizons.push(held.getHorizon()));
    await clock.advance(10 * TTL);
    expect(firedAt()).toBeUndefined();
    expect(horizons.length).toBeGreaterThan(50);
    expect(held.getHorizon() > toMonotonicTime(10 * TTL)).toBe(true);
    stop();
    const before = horizons.length;
    await clock.advance(TTL);
    expect(horizons).toHaveLength(before);
  });

  test("fires a termination timeout before the horizon when it cannot be renewed", async () => {
    const { clock, store, held, firedAt } = await createScene();
    store.isCut = true;
    await clock.advance(HORIZON - TERMINATION - 1);
    expect(firedAt()).toBeUndefined();
    await clock.advance(1);
    expect([firedAt(), held.getHorizon()]).toEqual([HORIZON - TERMINATION, HORIZON]);
    expect(held.signal.reason).toMatchObject({ kind: "horizon", exitCode: 125 });
  });

  test("fires when the machine may have been paused and etcd is away: the horizon moves back by the jump", async () => {
    const { clock, store, held, firedAt } = await createScene();
    const horizons: MonotonicTime[] = [];
    held.onExtended(() => horizons.push(held.getHorizon()));
    store.isCut = true;
    clock.ahead = 2_000;
    await clock.advance(5_999); // looked at after 1 s, given 5 s to be proved; due at 7 s without the jump
    expect([firedAt(), horizons]).toEqual([undefined, []]);
    await clock.advance(1);
    expect([firedAt(), horizons]).toEqual([6_000, [HORIZON - 2_000]]);
    expect(held.signal.reason).toMatchObject({ kind: "horizon", exitCode: 125 });
  });

  test("does not fire when somebody sets the clock", async () => {
    const { clock, held, firedAt } = await createScene();
    for (const ahead of [3_600_000, 0, 7_200_000]) {
      clock.ahead = ahead;
      await clock.advance(TTL / 2);
    }
    expect(firedAt()).toBeUndefined();
    expect(held.getHorizon() > addMs(clock.now(), TTL / 2)).toBe(true);
  });

  test("fires at once when its ticket is taken, and does not wait for the next renewal", async () => {
    const { clock, store, held, firedAt } = await createScene();
    await clock.advance(100);
    remove(store.etcd, held.lockKey ?? "");
    await clock.advance(0);
    expect(firedAt()).toBe(100);
    expect(held.signal.reason).toMatchObject({ kind: "gone" });
  });

  test("fires when it has been held too long, and is kept until it is released", async () => {
    const { clock, store, held, firedAt } = await createScene({ maxHold: 60_000 });
    await clock.advance(3 * 60_000);
    expect(firedAt()).toBe(60_000);
    expect(held.signal.reason).toMatchObject({ kind: "overdue" });
    expect(store.etcd.range({ key: held.lockKey ?? "" }).count).toBe(1);
    await held.release();
    const [kv] = store.etcd.range({ key: keys.history("x") }).kvs;
    expect(parsePastRuns(kv?.value)).toMatchObject([
      { exit: 125, reason: expect.stringContaining("too long") },
    ]);
  });

  test("costs four proposals as a run does: session, claim, release, end", async () => {
    const { store, held } = await createScene();
    await held.release();
    await held.release();
    expect(store.proposals).toBe(2); // beside the session's two
    expect(held.signal.aborted).toBe(false);
    expect(store.etcd.range({ key: held.lockKey ?? "" }).count).toBe(0);
  });

  test("adds to the history that was read with its grant, of each lock", async () => {
    const { clock, store, held } = await createScene();
    await held.release();
    const readHistory = (lock: string) => store.etcd.range({ key: keys.history(lock) }).kvs[0]?.value ?? "";
    const readRuns = (lock: string) => parsePastRuns(readHistory(lock)).map(({ run }) => run);
    const value = readHistory("x");
    const other = value.replaceAll(held.run, "0ther0ther0ther0");
    const written: Op[] = [
      { op: "put", key: keys.history("x"), value },
      { op: "put", key: keys.history("y"), value: other },
    ];
    store.etcd.apply({ compare: [], success: written, failure: [] }); // as a release of both does: with one revision
    store.proposals = 0;
    const { held: next } = await createScene({ locks: ["x", "y"] }, clock, store);
    await next.release();
    expect(readRuns("x")).toEqual([next.run, held.run]);
    expect(readRuns("y")).toEqual([next.run, "0ther0ther0ther0"]);
    expect(store.proposals).toBe(2); // the histories are written with the release
  });
});
