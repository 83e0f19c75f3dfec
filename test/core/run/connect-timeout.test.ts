/** Maximum delay of a run that does not wait, if etcd answers late or not at all. */
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../../fixtures/manual-clock.ts";
import { createPorts, createRequest } from "../../../fixtures/protocol/situations.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import { StoreError } from "../../../src/core/etcd/store.ts";
import type { Txn } from "../../../src/core/protocol/txn.ts";
import { claimWithRetries } from "../../../src/core/run/claim.ts";
import type { ClaimRequest } from "../../../src/core/run/request.ts";

const CONNECT = 10_000;
/** A call and a look that are under way when the time is up get a second each, the end of the session two. */
const LATEST = CONNECT + 1_000 + 1_000 + 2_000;

const NEVER = Number.POSITIVE_INFINITY;
/** How late calls are answered, ms. */
interface Delays {
  grant: number;
  txn: number;
  revoke: number;
  /** Transactions that put something; default: as the others. */
  put?: number;
}

const SLOW: Delays = { grant: 1_500, txn: 1_500, revoke: 100 };
const QUICK: Delays = { grant: 100, txn: 100, revoke: 100 };

class SlowStore extends MemoryStore {
  sessions = 0;
  readonly #clock: ManualClock;
  readonly #delays: Delays;

  constructor(clock: ManualClock, delays: Delays) {
    super(MemoryStore.create(clock).etcd);
    this.#clock = clock;
    this.#delays = delays;
  }

  override async grant(...call: Parameters<MemoryStore["grant"]>) {
    this.sessions += 1;
    const answer = await super.grant(...call);
    await this.#late(this.#delays.grant, call[2]);
    return answer;
  }

  override async commitTxn(txn: Txn, signal?: AbortSignal) {
    const { txn: delay, put = delay } = this.#delays;
    const isPut = [...txn.success, ...txn.failure].some(({ op }) => op === "put");
    if (isPut && put === NEVER) await this.#late(put, signal); // it is not applied either
    const answer = await super.commitTxn(txn, signal);
    await this.#late(isPut ? put : delay, signal);
    return answer;
  }

  override async revoke(id: bigint, signal?: AbortSignal) {
    await this.#late(this.#delays.revoke, signal);
    await super.revoke(id, signal);
  }

  /** As a store does it, a call that has no answer in 6 s has failed. */
  async #late(ms: number, signal: AbortSignal | undefined) {
    await this.#clock.sleep(Math.min(ms, 6_000), signal);
    if (ms > 6_000) throw new StoreError("unavailable", "no answer");
  }
}

/** Makes a claim on such an etcd. @returns when it ended and with what */
async function claimOn(delays: Delays, more: Partial<ClaimRequest> = {}) {
  const clock = new ManualClock();
  const store = new SlowStore(clock, delays);
  const request = createRequest({
    locks: ["x"],
    terminationTimeout: 500,
    connectTimeout: CONNECT,
    ...more,
  });
  const end = { at: Number.NaN, error: undefined as unknown };
  const finish = (error?: unknown) => Object.assign(end, { at: clock.now(), error });
  const claimed = claimWithRetries(createPorts(clock, store), request, new AbortController().signal);
  void claimed.then(() => finish(), finish);
  await clock.advance(10 * CONNECT);
  return { ...end, store };
}

describe("a run without --wait leaves within its connect timeout", () => {
  test("though each of its sessions lapses before the claim is answered", async () => {
    const { at, error, store } = await claimOn(SLOW, { ttl: 2 });
    expect(error).toMatchObject({ kind: "unavailable" });
    expect(at).toBeGreaterThanOrEqual(CONNECT);
    expect(at).toBeLessThanOrEqual(LATEST);
    expect(store.sessions).toBeGreaterThan(1);
    const between = await claimOn(SLOW, { ttl: 2, connectTimeout: 8_400 }); // the fifth has just been ended
    expect(between.at).toBe(8_500);
    expect(between.error).toMatchObject({
      kind: "unavailable",
      message:
        "etcd answers too slowly: within the connect timeout of 8s400ms, each session of 2 s expired before its claim was answered",
    });
  });

  test.each([
    [
      "its session was granted shortly before it was over, and nothing was answered then",
      { grant: 5_900, txn: NEVER, revoke: NEVER },
    ],
    ["etcd answers its reads and renewals, and no write", { ...QUICK, put: NEVER }],
  ])("though %s", async (_, delays) => {
    const { at, error } = await claimOn(delays);
    expect(error).toMatchObject({ kind: "unavailable" });
    expect(at).toBeGreaterThanOrEqual(CONNECT);
    expect(at).toBeLessThanOrEqual(LATEST);
  });

  test("and is granted, where the answers come in time", async () => {
    const { at, error, store } = await claimOn({ grant: 900, txn: 900, revoke: 100 }, { ttl: 4 });
    expect([error, at, store.sessions]).toEqual([undefined, 1_800, 1]);
  });
});

test("a run that waits outlasts it", async () => {
  const { at, store } = await claimOn(SLOW, { ttl: 2, waitLimits: { queues: true } });
  expect(at).toBeNaN();
  expect(store.sessions).toBeGreaterThan(10);
});
